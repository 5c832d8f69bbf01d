// co_await on a file_stream. The clock runs inside the coroutine: what starting a loop costs is not
// what an operation costs.
#include "sluice_contenders.hpp"

#include <sluice/sluice.hpp>

#include <vector>

namespace bench {
namespace {

sluice::open_options options_for(const file_work& work) {
    sluice::open_options options;
    options.mode = sluice::file_mode::open_or_create;
    options.access = sluice::file_access::read_write;
    options.buffer_size = work.buffer_size;
    return options;
}

class sluice_stream_contender final : public contender {
public:
    explicit sluice_stream_contender(const file_work& work)
        : work_(work), buffer_(work.size), walk_(work),
          stream_(sluice::file_stream::open(runtime_.get_executor(), work.path,
                                            options_for(work))) {}

    void prepare() override {
        if (!work_.extends())
            return;
        stream_.set_length(0);
        stream_.position(0);
        walk_.restart();
    }

    std::chrono::nanoseconds run(std::size_t count) override {
        sluice::sync_wait(runtime_, work_.reads() ? read(count) : write(count));
        return elapsed_;
    }

private:
    sluice::task<void> read(std::size_t count) {
        const stopwatch watch;
        for (std::size_t done = 0; done < count; ++done) {
            const std::size_t size = co_await stream_.read_async(std::span<std::byte>(buffer_));
            expect(size, work_.size, "read_async");
            if (walk_.advance())
                stream_.position(0);
        }
        elapsed_ = watch.elapsed();
    }

    sluice::task<void> write(std::size_t count) {
        const stopwatch watch;
        for (std::size_t done = 0; done < count; ++done) {
            co_await stream_.write_async(std::span<const std::byte>(buffer_));
            if (walk_.advance())
                stream_.position(0);
        }
        elapsed_ = watch.elapsed();
    }

    file_work work_;
    std::vector<std::byte> buffer_;
    file_walk walk_;
    std::chrono::nanoseconds elapsed_{};
    sluice::io_runtime runtime_;
    sluice::file_stream stream_;
};

} // namespace

std::unique_ptr<contender> sluice_stream(const file_work& work) {
    return std::make_unique<sluice_stream_contender>(work);
}

} // namespace bench
