// libuv: every operation visits its thread pool and comes back as a callback.
#include "contenders.hpp"

#include <uv.h>

#include <vector>

namespace bench {
namespace {

void check(int result, const char* call) {
    if (result < 0)
        throw std::runtime_error(std::string(call) + ": " + uv_strerror(result));
}

class libuv_contender final : public contender {
public:
    explicit libuv_contender(const file_work& work)
        : work_(work), slots_(work.at_once), walk_(work) {
        check(uv_loop_init(&loop_), "uv_loop_init");
        uv_fs_t request;
        file_ = uv_fs_open(nullptr, &request, work.path.c_str(), UV_FS_O_RDWR | UV_FS_O_CREAT, 0600,
                           nullptr);
        uv_fs_req_cleanup(&request);
        check(file_, "uv_fs_open");
        for (auto& slot : slots_) {
            slot.buffer.resize(work.size);
            slot.request.data = this;
        }
    }

    ~libuv_contender() override {
        uv_fs_t request;
        uv_fs_close(nullptr, &request, file_, nullptr);
        uv_fs_req_cleanup(&request);
        uv_loop_close(&loop_);
    }

    std::size_t granularity() const override { return work_.at_once; }

    void prepare() override {
        if (!work_.extends())
            return;
        uv_fs_t request;
        check(uv_fs_ftruncate(nullptr, &request, file_, 0, nullptr), "uv_fs_ftruncate");
        uv_fs_req_cleanup(&request);
        walk_.restart();
    }

    std::chrono::nanoseconds run(std::size_t count) override {
        const stopwatch watch;
        remaining_ = count;
        start_batch();
        check(uv_run(&loop_, UV_RUN_DEFAULT), "uv_run");
        expect(failed_, 0, "libuv callbacks: errors");
        return watch.elapsed();
    }

private:
    struct request_slot {
        uv_fs_t request{};
        std::vector<char> buffer;
    };

    void start_batch() {
        remaining_ -= work_.at_once;
        in_flight_ = work_.at_once;
        for (auto& slot : slots_)
            start(slot);
    }

    void start(request_slot& slot) {
        const uv_buf_t buffer =
            uv_buf_init(slot.buffer.data(), static_cast<unsigned>(slot.buffer.size()));
        const auto call = work_.reads() ? uv_fs_read : uv_fs_write;
        const auto offset = static_cast<std::int64_t>(walk_.offset());
        const int started = call(&loop_, &slot.request, file_, &buffer, 1, offset, finished);
        walk_.advance();
        if (started < 0)
            end_one(started);
    }

    static void finished(uv_fs_t* request) {
        const auto result = request->result;
        uv_fs_req_cleanup(request);
        static_cast<libuv_contender*>(request->data)->end_one(result);
    }

    // Errors are counted, because an exception must not pass through libuv. The first ends the run.
    void end_one(ssize_t result) {
        if (result != static_cast<ssize_t>(work_.size)) {
            ++failed_;
            remaining_ = 0;
        }
        if (--in_flight_ == 0 && remaining_ > 0)
            start_batch();
    }

    file_work work_;
    std::vector<request_slot> slots_;
    file_walk walk_;
    uv_loop_t loop_{};
    int file_ = -1;
    std::size_t remaining_ = 0;
    std::size_t in_flight_ = 0;
    int failed_ = 0;
};

} // namespace

std::vector<file_contender> libuv_contenders() {
    return {{"libuv", [](const file_work& work) {
                 return std::make_unique<libuv_contender>(work);
             }}};
}

} // namespace bench
