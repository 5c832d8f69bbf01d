// Two threads complete, two await, one cancels, on a pool of four sources: every operation is seen
// once, with its own value, however the completer and the next user of its source overlap.
#include "support/seed.hpp"

#include <sluice/completion/completion_pool.hpp>
#include <sluice/runtime/io_runtime.hpp>
#include <sluice/runtime/spawn.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

namespace sluice::test {

namespace {

struct value_of_operation {
    std::uint64_t number = 0;
    std::uint64_t inverse = 0; // torn or foreign values show
    std::shared_ptr<int> witness;
};
using stress_pool = completion_pool<value_of_operation>;

// One operation at a time: its awaiter offers it, one completer takes it, the canceller may
// interfere.
struct slot {
    enum state : int { idle, offered, taken, lost };
    std::atomic<int> now{idle};
    std::atomic<int> cancelling{0};
    std::optional<stress_pool::pooled_source> source;
    std::uint64_t number = 0;
};

class stress {
public:
    stress()
        : pool_(runtimes_[0].get_executor(), resume_mode::inline_, 4),
          witness_(std::make_shared<int>(0)) {}

    void run(std::chrono::steady_clock::time_point until) {
        until_ = until;
        for (std::size_t i = 0; i < slots_.size(); ++i)
            spawn(runtimes_[i % 2].get_executor(), await_all(slots_[i], i));
        std::array threads{std::thread([this] { complete(0); }),
                           std::thread([this] { complete(1); }), std::thread([this] { cancel(); }),
                           std::thread([this] { runtimes_[1].run(); })};
        runtimes_[0].run();
        threads[3].join();
        ended_ = true;
        for (int i = 0; i < 3; ++i)
            threads[static_cast<std::size_t>(i)].join();
    }
    std::uint64_t completed() const { return completed_; }
    std::uint64_t cancelled() const { return cancelled_; }
    std::uint64_t wrong() const { return wrong_; }
    long witnesses() const { return witness_.use_count(); }
    completion_pool_statistics statistics() const { return pool_.statistics(); }

private:
    task<> await_all(slot& mine, std::uint64_t first) {
        for (std::uint64_t number = first; std::chrono::steady_clock::now() < until_;
             number += slots_.size()) {
            mine.source.emplace(pool_.rent());
            mine.number = number;
            if (number % 8 < 4)
                mine.source->mode(resume_mode::queued);
            auto ticket = mine.source->task();
            mine.now.store(slot::offered, std::memory_order_release);
            const auto outcome = co_await std::move(ticket).as_result();
            if (outcome) {
                wrong_ += outcome->number != number || outcome->inverse != ~number ? 1 : 0;
                ++completed_;
                withdraw(mine, false);
            } else {
                wrong_ += outcome.error() == error() ? 0 : 1;
                ++cancelled_;
                withdraw(mine, true);
            }
            mine.source.reset();
        }
    }
    // A completer that won is not waited for: it may still be inside set_result.
    static void withdraw(slot& mine, bool by_canceller) {
        int expected = slot::offered;
        if (by_canceller && !mine.now.compare_exchange_strong(expected, slot::idle))
            while (mine.now.load(std::memory_order_acquire) != slot::lost)
                std::this_thread::yield();
        mine.now.store(slot::idle);
        while (mine.cancelling.load() != 0)
            std::this_thread::yield();
    }
    void complete(std::size_t turn) {
        while (!ended_.load(std::memory_order_relaxed)) {
            slot& at = slots_[turn++ % slots_.size()];
            int expected = slot::offered;
            if (!at.now.compare_exchange_strong(expected, slot::taken)) {
                std::this_thread::yield();
                continue;
            }
            const std::uint64_t number = at.number;
            if (!at.source->try_set_result(value_of_operation{number, ~number, witness_}))
                at.now.store(slot::lost, std::memory_order_release);
        }
    }
    void cancel() {
        for (std::size_t turn = 0; !ended_.load(std::memory_order_relaxed); ++turn) {
            slot& at = slots_[turn * 3 % slots_.size()];
            at.cancelling.fetch_add(1);
            if (const int now = at.now.load(); now == slot::offered || now == slot::taken)
                (void)at.source->try_set_error(error());
            at.cancelling.fetch_sub(1);
            std::this_thread::yield();
        }
    }
    static error_code error() { return {ECANCELED, boost::system::system_category()}; }

    std::array<io_runtime, 2> runtimes_;
    stress_pool pool_;
    std::shared_ptr<int> witness_;
    std::array<slot, 4> slots_;
    std::chrono::steady_clock::time_point until_;
    std::atomic<bool> ended_{false};
    std::atomic<std::uint64_t> completed_{0};
    std::atomic<std::uint64_t> cancelled_{0};
    std::atomic<std::uint64_t> wrong_{0};
};

} // namespace

BOOST_AUTO_TEST_SUITE(pool_stress_test)

BOOST_AUTO_TEST_CASE(every_operation_is_seen_once_with_its_own_value) {
    stress all;
    all.run(std::chrono::steady_clock::now() + std::chrono::seconds(3));
    BOOST_TEST_MESSAGE(all.completed() << " completed, " << all.cancelled() << " cancelled");
    BOOST_TEST(all.wrong() == 0u);
    BOOST_TEST(all.completed() > 0u);
    BOOST_TEST(all.witnesses() == 1); // nothing of a user is kept in the pool
    const completion_pool_statistics end = all.statistics();
    BOOST_TEST(end.rented == 0u);
    BOOST_TEST(end.idle <= 8u); // four for the runtime's thread, four for the others
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
