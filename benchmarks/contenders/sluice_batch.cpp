// Many reads started before the first is awaited. The inline budget is zero, so none of them may be
// answered from the page cache on the spot: all go through the ring, as the baseline's do.
#include "sluice_contenders.hpp"

#include <sluice/sluice.hpp>

#include <vector>

namespace bench {
namespace {

sluice::runtime_options ring_only() {
    sluice::runtime_options options;
    options.backend = sluice::backend_choice::uring;
    options.inline_budget.completions = 0;
    return options;
}

sluice::open_options unbuffered() {
    sluice::open_options options;
    options.buffer_size = 0;
    return options;
}

class sluice_batch_contender final : public contender {
public:
    explicit sluice_batch_contender(const file_work& work)
        : work_(work), buffers_(work.size * work.at_once), walk_(work), runtime_(ring_only()),
          stream_(sluice::file_stream::open(runtime_.get_executor(), work.path, unbuffered())) {
        pending_.reserve(work.at_once);
    }

    std::size_t granularity() const override { return work_.at_once; }

    std::chrono::nanoseconds run(std::size_t count) override {
        sluice::sync_wait(runtime_, read(count));
        return elapsed_;
    }

private:
    sluice::task<void> read(std::size_t count) {
        const stopwatch watch;
        for (std::size_t done = 0; done < count; done += work_.at_once) {
            start_all();
            for (auto& one : pending_)
                expect(co_await std::move(one), work_.size, "read_async");
            pending_.clear();
        }
        elapsed_ = watch.elapsed();
    }

    void start_all() {
        for (std::size_t slot = 0; slot < work_.at_once; ++slot) {
            const std::span<std::byte> all(buffers_);
            pending_.push_back(stream_.read_async(all.subspan(slot * work_.size, work_.size)));
            if (walk_.advance())
                stream_.position(0);
        }
    }

    file_work work_;
    std::vector<std::byte> buffers_;
    file_walk walk_;
    std::chrono::nanoseconds elapsed_{};
    sluice::io_runtime runtime_;
    sluice::file_stream stream_;
    std::vector<sluice::value_task<std::size_t>> pending_;
};

} // namespace

std::unique_ptr<contender> sluice_batch(const file_work& work) {
    return std::make_unique<sluice_batch_contender>(work);
}

} // namespace bench
