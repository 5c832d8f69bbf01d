// preadv2(RWF_NOWAIT) and pwrite: what the operation costs when nothing is asynchronous.
#include "contenders.hpp"
#include "file_descriptor.hpp"

#include <sys/uio.h>

#include <vector>

namespace bench {
namespace {

class plain_calls_contender final : public contender {
public:
    explicit plain_calls_contender(const file_work& work)
        : work_(work), file_(work.path), buffer_(work.size), walk_(work) {}

    void prepare() override {
        if (!work_.extends())
            return;
        file_.truncate();
        walk_.restart();
    }

    std::chrono::nanoseconds run(std::size_t count) override {
        const stopwatch watch;
        if (work_.reads())
            read(count);
        else
            write(count);
        return watch.elapsed();
    }

private:
    void read(std::size_t count) {
        for (std::size_t done = 0; done < count; ++done) {
            const iovec target{buffer_.data(), buffer_.size()};
            const auto offset = static_cast<off_t>(walk_.offset());
            expect(preadv2(file_.number(), &target, 1, offset, RWF_NOWAIT), work_.size, "preadv2");
            walk_.advance();
        }
    }

    void write(std::size_t count) {
        for (std::size_t done = 0; done < count; ++done) {
            const auto offset = static_cast<off_t>(walk_.offset());
            expect(pwrite(file_.number(), buffer_.data(), buffer_.size(), offset), work_.size,
                   "pwrite");
            walk_.advance();
        }
    }

    file_work work_;
    file_descriptor file_;
    std::vector<std::byte> buffer_;
    file_walk walk_;
};

} // namespace

std::unique_ptr<contender> plain_calls(const file_work& work) {
    return std::make_unique<plain_calls_contender>(work);
}

} // namespace bench
