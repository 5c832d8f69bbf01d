// The road of one completion without any system call: waiters rent a source each and await it, one
// driver completes them. Inline there is one waiter, resumed inside set_result. Queued there are
// many for one driver, so that the driver's own turn through the queue hardly counts.
#include "sluice_contenders.hpp"

#include <sluice/sluice.hpp>

#include <boost/asio/post.hpp>

#include <coroutine>
#include <limits>
#include <vector>

namespace bench {
namespace {

using pool = sluice::completion_pool<std::size_t>;
using rented_source = pool::pooled_source;

// Without a budget every completion is inline, which is what the inline case measures.
sluice::runtime_options unlimited() {
    sluice::runtime_options options;
    options.inline_budget.completions =
        std::numeric_limits<decltype(options.inline_budget.completions)>::max();
    return options;
}

class sluice_completion_contender final : public contender {
public:
    explicit sluice_completion_contender(resumption mode)
        : runtime_(unlimited()),
          pool_(runtime_.get_executor(), mode == resumption::queued ? sluice::resume_mode::queued
                                                                    : sluice::resume_mode::inline_),
          waiting_(mode == resumption::queued ? 64 : 1) {}

    std::size_t granularity() const override { return waiting_.size(); }

    std::chrono::nanoseconds run(std::size_t count) override {
        sluice::sync_wait(runtime_, drive(count));
        return elapsed_;
    }

private:
    // Puts the driver behind everything that is queued now.
    struct next_turn {
        sluice::io_runtime& runtime;
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> driver) const {
            boost::asio::post(runtime.get_executor(), [driver] { driver.resume(); });
        }
        void await_resume() const noexcept {}
    };

    sluice::task<void> wait(rented_source*& waiting, std::size_t count) {
        for (std::size_t done = 0; done < count; ++done) {
            auto rented = pool_.rent();
            waiting = &rented;
            differences_ |= co_await rented.task() ^ done;
        }
        waiting = nullptr;
        ++finished_;
    }

    // No coroutine: its variables stay in registers.
    void complete_all(std::size_t value) {
        for (rented_source* const& waiting : waiting_)
            waiting->set_result(value);
    }

    sluice::task<void> drive(std::size_t count) {
        finished_ = 0;
        const std::size_t each = count / waiting_.size();
        for (auto& waiting : waiting_)
            sluice::spawn(runtime_.get_executor(), wait(waiting, each));
        co_await next_turn{runtime_};
        const stopwatch watch;
        for (std::size_t done = 0; done < each; ++done) {
            complete_all(done);
            if (waiting_.size() > 1)
                co_await next_turn{runtime_};
        }
        elapsed_ = watch.elapsed();
        expect(differences_, 0, "completion_source");
        expect(finished_, waiting_.size(), "waiters");
    }

    std::chrono::nanoseconds elapsed_{};
    sluice::io_runtime runtime_;
    pool pool_;
    std::vector<rented_source*> waiting_;
    std::size_t finished_ = 0;
    std::size_t differences_ = 0; // between what was set and what came out
};

} // namespace

std::unique_ptr<contender> sluice_completion(resumption mode) {
    return std::make_unique<sluice_completion_contender>(mode);
}

} // namespace bench
