// liburing as anybody would use it first: a default ring, a batch of reads or writes, one call that
// submits all and waits for all.
#include "contenders.hpp"
#include "file_descriptor.hpp"

#include <liburing.h>

#include <vector>

namespace bench {
namespace {

class default_ring {
public:
    explicit default_ring(unsigned entries) {
        const int result = io_uring_queue_init(entries, &ring_, 0);
        if (result < 0)
            throw std::system_error(-result, std::generic_category(), "io_uring_queue_init");
    }
    default_ring(const default_ring&) = delete;
    default_ring& operator=(const default_ring&) = delete;
    ~default_ring() { io_uring_queue_exit(&ring_); }

    io_uring* get() { return &ring_; }

private:
    io_uring ring_{};
};

class raw_uring_contender final : public contender {
public:
    explicit raw_uring_contender(const file_work& work)
        : work_(work), file_(work.path), buffers_(work.size * work.at_once), walk_(work),
          ring_(static_cast<unsigned>(work.at_once)) {}

    std::size_t granularity() const override { return work_.at_once; }

    void prepare() override {
        if (!work_.extends())
            return;
        file_.truncate();
        walk_.restart();
    }

    std::chrono::nanoseconds run(std::size_t count) override {
        const stopwatch watch;
        for (std::size_t done = 0; done < count; done += work_.at_once) {
            for (std::size_t slot = 0; slot < work_.at_once; ++slot)
                queue(buffers_.data() + slot * work_.size);
            expect(io_uring_submit_and_wait(ring_.get(), static_cast<unsigned>(work_.at_once)),
                   work_.at_once, "io_uring_submit_and_wait");
            reap();
        }
        return watch.elapsed();
    }

private:
    void queue(std::byte* buffer) {
        io_uring_sqe* const entry = io_uring_get_sqe(ring_.get());
        const auto size = static_cast<unsigned>(work_.size);
        if (work_.reads())
            io_uring_prep_read(entry, file_.number(), buffer, size, walk_.offset());
        else
            io_uring_prep_write(entry, file_.number(), buffer, size, walk_.offset());
        walk_.advance();
    }

    void reap() {
        unsigned head = 0;
        unsigned reaped = 0;
        io_uring_cqe* completion = nullptr;
        io_uring_for_each_cqe(ring_.get(), head, completion) {
            expect(completion->res, work_.size, "io_uring");
            ++reaped;
        }
        io_uring_cq_advance(ring_.get(), reaped);
        expect(reaped, work_.at_once, "io_uring completions");
    }

    file_work work_;
    file_descriptor file_;
    std::vector<std::byte> buffers_;
    file_walk walk_;
    default_ring ring_;
};

} // namespace

std::vector<file_contender> raw_uring_contenders() {
    return {{"raw_uring", [](const file_work& work) {
                 return std::make_unique<raw_uring_contender>(work);
             }}};
}

} // namespace bench
