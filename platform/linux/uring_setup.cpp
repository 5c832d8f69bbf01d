#include <sluice/platform/linux/uring_setup.hpp>

#include <sluice/platform/linux/uring_limits.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <thread>

namespace sluice::platform::uring {

namespace {

// Without these a wait has no limit, an offset of -1 is not the file's own, and completions can be
// lost (5.11).
constexpr unsigned needed_features =
    IORING_FEAT_EXT_ARG | IORING_FEAT_NODROP | IORING_FEAT_RW_CUR_POS;

// Newest first: dropping them in this order finds what any kernel has.
constexpr std::array<unsigned, 5> optional_flags = {
    IORING_SETUP_DEFER_TASKRUN, IORING_SETUP_SINGLE_ISSUER, IORING_SETUP_TASKRUN_FLAG,
    IORING_SETUP_COOP_TASKRUN,  IORING_SETUP_SUBMIT_ALL,
};

constexpr unsigned exclusive_flags = IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SINGLE_ISSUER |
                                     IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_COOP_TASKRUN |
                                     IORING_SETUP_SUBMIT_ALL;
constexpr unsigned shared_flags = IORING_SETUP_SUBMIT_ALL;

// Flags that need another one go with it.
constexpr unsigned without(unsigned flags, unsigned dropped) noexcept {
    flags &= ~dropped;
    if ((flags & IORING_SETUP_SINGLE_ISSUER) == 0)
        flags &= ~unsigned{IORING_SETUP_DEFER_TASKRUN};
    if ((flags & (IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_COOP_TASKRUN)) == 0)
        flags &= ~unsigned{IORING_SETUP_TASKRUN_FLAG};
    return flags;
}

// EINVAL does not tell which flag the kernel does not know: all of them, each one alone left out,
// then more and more.
long open_with_flags(ring& made, unsigned entries, unsigned completions, unsigned flags) noexcept {
    long answer = made.open(entries, completions, flags);
    for (const unsigned dropped : optional_flags) {
        if (answer != -EINVAL)
            return answer;
        if ((flags & dropped) != 0)
            answer = made.open(entries, completions, without(flags, dropped));
    }
    for (const unsigned dropped : optional_flags) {
        if (answer != -EINVAL || flags == 0)
            return answer;
        flags = without(flags, dropped);
        answer = made.open(entries, completions, flags);
    }
    return answer;
}

// RACE: a closed ring gives its memory back from a kernel thread, after close(2) returned. A
// process that closes one and makes the next meets ENOMEM for a moment, although nothing is in use
// (axboe/liburing#157).
long open_with_memory(ring& made, const ring_wish& wish, unsigned flags) noexcept {
    unsigned entries = wanted_entries(wish.entries);
    unsigned completions = std::max(std::bit_ceil(wish.completions), 2 * entries);
    long answer = open_with_flags(made, entries, completions, flags);
    while (answer == -ENOMEM && entries > smallest_ring) {
        entries /= 2;
        completions = std::max(completions / 2, 2 * entries);
        answer = open_with_flags(made, entries, completions, flags);
    }
    auto pause = first_set_up_pause;
    for (int i = 0; answer == -ENOMEM && i < most_set_up_retries; ++i, pause *= 2) {
        std::this_thread::sleep_for(pause);
        answer = open_with_flags(made, entries, 2 * entries, flags);
    }
    return answer;
}

// Not every kernel can be told; those that can then never start a worker per request.
void bound_kernel_workers(ring& made) noexcept {
    unsigned most[2] = {most_kernel_workers, most_kernel_workers};
    static_cast<void>(made.control(IORING_REGISTER_IOWQ_MAX_WORKERS, most, 2));
}

} // namespace

unsigned wanted_entries(unsigned queue_depth) noexcept {
    return std::bit_ceil(std::clamp(queue_depth, fewest_entries, most_entries));
}

ring_outcome make_ring(ring& made, const ring_wish& wish) noexcept {
    long answer = open_with_memory(made, wish, wish.exclusive ? exclusive_flags : shared_flags);
    if (answer < 0)
        return {answer};
    if ((made.features() & needed_features) != needed_features) {
        made.close();
        return {-ENOSYS, "io_uring features"};
    }
    // A deferring ring shows its completions to one thread only. When that thread may no longer
    // enter it, the end of the ring is the only news of its buffers: without that news a ring must
    // not defer.
    if (made.watch_end() < 0 && made.is_bound()) {
        made.close();
        answer = open_with_memory(made, wish, shared_flags);
        if (answer < 0)
            return {answer};
    }
    bound_kernel_workers(made);
    return {};
}

} // namespace sluice::platform::uring
