#include <sluice/platform/linux/uring_ring.hpp>

#include <sluice/platform/fault_seam.hpp>

#include <cassert>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace sluice::platform::uring {

long ring::open(unsigned entries, unsigned completions, unsigned flags) noexcept {
    assert(!is_open());
    io_uring_params made{};
    made.flags = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP | flags;
    made.cq_entries = completions;
    const long answer =
        pass({raw_call::ring_setup, -1, entries, made.flags}, [&](std::size_t size) -> long {
            return io_uring_setup(static_cast<unsigned>(size), &made);
        });
    if (answer < 0)
        return answer;
    return map(static_cast<int>(answer), made);
}

long ring::map(int descriptor, const io_uring_params& made) noexcept {
    if (const long answer = queues_.map(descriptor, made); answer < 0) {
        ::close(descriptor);
        return answer;
    }
    features_ = made.features;
    completions_ = made.cq_entries;
    closes_ = true;
    descriptor_ = descriptor;
    entries_ = made.sq_entries;
    flags_ = made.flags;
    head_ = tail_ = *queues_.submit_head;
    return 0;
}

void ring::close() noexcept {
    queues_.unmap();
    if (is_open() && closes_)
        ::close(descriptor_);
    if (end_descriptor_ >= 0)
        ::close(end_descriptor_);
    descriptor_ = end_descriptor_ = -1;
    head_ = tail_ = entries_ = flags_ = completions_ = features_ = 0;
}

long ring::watch_end() noexcept {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    const long answer = control(IORING_REGISTER_FILES, &ends[1], 1);
    ::close(ends[1]);
    if (answer < 0) {
        ::close(ends[0]);
        return answer;
    }
    end_descriptor_ = ends[0];
    return 0;
}

int ring::take_end_descriptor() noexcept { return std::exchange(end_descriptor_, -1); }

long ring::control(unsigned code, const void* argument, unsigned count) noexcept {
    return pass({raw_call::ring_register, descriptor_, count, code}, [&](std::size_t size) -> long {
        return io_uring_register(static_cast<unsigned>(descriptor_), code, argument,
                                 static_cast<unsigned>(size));
    });
}

} // namespace sluice::platform::uring
