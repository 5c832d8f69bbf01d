// Boost.Asio's stream_file (one operation at a time, in a coroutine) and random_access_file (many
// at once, by callback). BOOST_ASIO_HAS_IO_URING and BOOST_ASIO_DISABLE_EPOLL change the layout of
// Asio's classes under the same names, so one program holds one setting only. To measure both in
// one run, and sluice beside them with neither, each setting is compiled into a shared object of
// its own that exports one function (asio_export.map) and keeps all of Asio to itself. The file
// that includes this one defines the setting.
#pragma once

#include "../harness/contender.hpp"
#include "../harness/file_work.hpp"

#include <boost/asio.hpp>

#include <exception>
#include <memory>
#include <vector>

namespace bench {
namespace {

namespace asio = boost::asio;

const auto open_flags = asio::file_base::read_write | asio::file_base::create;

class asio_stream final : public contender {
public:
    explicit asio_stream(const file_work& work)
        : work_(work), file_(context_, work.path.string(), open_flags), buffer_(work.size),
          walk_(work) {}

    void prepare() override {
        if (!work_.extends())
            return;
        file_.resize(0);
        rewind();
        walk_.restart();
    }

    std::chrono::nanoseconds run(std::size_t count) override {
        std::chrono::nanoseconds elapsed{};
        std::exception_ptr failure;
        asio::co_spawn(context_, work_.reads() ? read(count, elapsed) : write(count, elapsed),
                       [&](std::exception_ptr error) { failure = error; });
        context_.restart();
        context_.run();
        if (failure)
            std::rethrow_exception(failure);
        return elapsed;
    }

private:
    asio::awaitable<void> read(std::size_t count, std::chrono::nanoseconds& elapsed) {
        const stopwatch watch;
        for (std::size_t done = 0; done < count; ++done) {
            const std::size_t size =
                co_await file_.async_read_some(asio::buffer(buffer_), asio::use_awaitable);
            expect(size, work_.size, "async_read_some");
            if (walk_.advance())
                rewind();
        }
        elapsed = watch.elapsed();
    }

    asio::awaitable<void> write(std::size_t count, std::chrono::nanoseconds& elapsed) {
        const stopwatch watch;
        for (std::size_t done = 0; done < count; ++done) {
            const std::size_t size =
                co_await file_.async_write_some(asio::buffer(buffer_), asio::use_awaitable);
            expect(size, work_.size, "async_write_some");
            if (walk_.advance())
                rewind();
        }
        elapsed = watch.elapsed();
    }

    void rewind() { file_.seek(0, asio::file_base::seek_set); }

    file_work work_;
    asio::io_context context_{1};
    asio::stream_file file_;
    std::vector<std::byte> buffer_;
    file_walk walk_;
};

class asio_batch final : public contender {
public:
    explicit asio_batch(const file_work& work)
        : work_(work), file_(context_, work.path.string(), open_flags),
          buffers_(work.size * work.at_once), walk_(work) {}

    std::size_t granularity() const override { return work_.at_once; }

    std::chrono::nanoseconds run(std::size_t count) override {
        const stopwatch watch;
        remaining_ = count;
        start_batch();
        context_.restart();
        context_.run();
        return watch.elapsed();
    }

private:
    void start_batch() {
        remaining_ -= work_.at_once;
        in_flight_ = work_.at_once;
        for (std::size_t slot = 0; slot < work_.at_once; ++slot) {
            const auto target = asio::buffer(buffers_.data() + slot * work_.size, work_.size);
            file_.async_read_some_at(walk_.offset(), target,
                                     [this](boost::system::error_code, std::size_t size) {
                                         expect(size, work_.size, "async_read_some_at");
                                         if (--in_flight_ == 0 && remaining_ > 0)
                                             start_batch();
                                     });
            walk_.advance();
        }
    }

    file_work work_;
    asio::io_context context_{1};
    asio::random_access_file file_;
    std::vector<std::byte> buffers_;
    file_walk walk_;
    std::size_t remaining_ = 0;
    std::size_t in_flight_ = 0;
};

} // namespace

inline std::unique_ptr<contender> make_asio_contender(const file_work& work) {
    if (work.at_once == 1)
        return std::make_unique<asio_stream>(work);
    return std::make_unique<asio_batch>(work);
}

} // namespace bench
