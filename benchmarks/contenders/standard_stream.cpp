// fread_unlocked and fwrite_unlocked with a buffer of the same size: what buffering costs at least.
#include "contenders.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <vector>

namespace bench {
namespace {

class standard_stream_contender final : public contender {
public:
    explicit standard_stream_contender(const file_work& work)
        : work_(work), stream_buffer_(work.buffer_size), buffer_(work.size), walk_(work),
          stream_(std::fopen(work.path.c_str(), "r+")) {
        if (stream_ == nullptr)
            throw std::system_error(errno, std::generic_category(), "fopen");
        std::setvbuf(stream_, stream_buffer_.data(), _IOFBF, stream_buffer_.size());
    }
    ~standard_stream_contender() override { std::fclose(stream_); }

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
            expect(fread_unlocked(buffer_.data(), 1, work_.size, stream_), work_.size, "fread");
            if (walk_.advance())
                std::rewind(stream_);
        }
    }

    void write(std::size_t count) {
        for (std::size_t done = 0; done < count; ++done) {
            expect(fwrite_unlocked(buffer_.data(), 1, work_.size, stream_), work_.size, "fwrite");
            if (walk_.advance())
                std::rewind(stream_);
        }
    }

    file_work work_;
    std::vector<char> stream_buffer_;
    std::vector<std::byte> buffer_;
    file_walk walk_;
    std::FILE* stream_;
};

} // namespace

std::unique_ptr<contender> standard_stream(const file_work& work) {
    return std::make_unique<standard_stream_contender>(work);
}

} // namespace bench
