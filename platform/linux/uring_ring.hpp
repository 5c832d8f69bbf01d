// One io_uring: the two mapped queues and the system call between them. It knows nothing of
// operations.
//
// Threads: one at a time. A ring that is bound (SINGLE_ISSUER, DEFER_TASKRUN or COOP_TASKRUN) may
// be entered by the thread that opened it alone. Every result is a count or -errno; errno is never
// looked at.
#pragma once

#include <sluice/platform/fault_seam.hpp>
#include <sluice/platform/linux/raw_ring_enter.hpp>
#include <sluice/platform/linux/uring_queues.hpp>

#include <csignal>
#include <cstdint>

namespace sluice::platform::uring {

inline constexpr unsigned binding_flags =
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_COOP_TASKRUN;

class ring {
public:
    ring() = default;
    ring(const ring&) = delete;
    ring& operator=(const ring&) = delete;
    ~ring() { close(); }

    /// Makes the ring with CQSIZE, CLAMP and `flags`. 0 or -errno.
    long open(unsigned entries, unsigned completions, unsigned flags) noexcept;
    /// Unmaps and closes. What the kernel still has of it ends some time later.
    void close() noexcept;

    /// Somebody else may have closed the descriptor, and its number may be another file's by now:
    /// then it is not ours to close any more. Precondition: is_open().
    void look_at_descriptor() noexcept { closes_ = queues_.are_of(descriptor_); }
    bool has_descriptor() const noexcept { return is_open() && closes_; }

    bool is_open() const noexcept { return descriptor_ >= 0; }
    int descriptor() const noexcept { return descriptor_; }
    unsigned entries() const noexcept { return entries_; }
    unsigned completions() const noexcept { return completions_; }
    unsigned features() const noexcept { return features_; }
    unsigned flags() const noexcept { return flags_; }
    bool is_bound() const noexcept { return (flags_ & binding_flags) != 0; }

    /// Lets the kernel hold the write end of a pipe until it is done with every request of this
    /// ring; that is how one learns, after close(), that no buffer is touched any more. 0 or
    /// -errno.
    long watch_end() noexcept;
    /// The read end: hangs up once the closed ring is gone. -1 without watch_end(). The caller
    /// closes it.
    int take_end_descriptor() noexcept;
    bool has_end_descriptor() const noexcept { return end_descriptor_ >= 0; }

    bool has_room() const noexcept { return tail_ - head_ < entries_; }
    /// A zeroed entry. Precondition: has_room().
    io_uring_sqe& next_entry() noexcept;
    /// Entries that the kernel has not taken yet.
    unsigned pending() const noexcept { return tail_ - head_; }
    /// Gives the `index`th pending entry, oldest first.
    const io_uring_sqe& pending_entry(unsigned index) const noexcept {
        return queues_.entries[(head_ + index) & queues_.submit_mask];
    }
    /// Forgets the pending entries: the kernel has never seen them.
    void drop_pending() noexcept { tail_ = head_; }

    /// io_uring_enter for all pending entries. With `fewest` > 0 waits for that many completions,
    /// at most `limit`.
    long enter(unsigned fewest, unsigned flags, const __kernel_timespec* limit) noexcept;
    /// io_uring_register. 0, a count, or -errno.
    long control(unsigned code, const void* argument, unsigned count) noexcept;

    bool has_completions() const noexcept {
        return *queues_.complete_head != io_uring_smp_load_acquire(queues_.complete_tail);
    }
    /// Completions exist that only a system call makes visible.
    bool must_enter() const noexcept {
        return (__atomic_load_n(queues_.submit_flags, __ATOMIC_RELAXED) &
                (IORING_SQ_CQ_OVERFLOW | IORING_SQ_TASKRUN)) != 0;
    }

    /// Calls `take(user_data, result)` for each completion that is there; gives the places back at
    /// once.
    template <class Take>
    void take_completions(Take take) noexcept {
        const unsigned end = io_uring_smp_load_acquire(queues_.complete_tail);
        unsigned at = *queues_.complete_head;
        if (at == end)
            return;
        take_from_kernel();
        for (; at != end; ++at) {
            const io_uring_cqe& seen = queues_.completions[at & queues_.complete_mask];
            take(seen.user_data, seen.res);
        }
        io_uring_smp_store_release(queues_.complete_head, end);
    }

private:
    long map(int descriptor, const io_uring_params& made) noexcept;

    queues queues_;
    unsigned head_ = 0; // of the submission queue, as the kernel last left it
    unsigned tail_ = 0; // of the submission queue, not yet shown to the kernel
    unsigned entries_ = 0;
    unsigned flags_ = 0;
    unsigned completions_ = 0;
    unsigned features_ = 0;
    int descriptor_ = -1;
    bool closes_ = true; // the descriptor is ours still
    int end_descriptor_ = -1;
};

inline io_uring_sqe& ring::next_entry() noexcept {
    io_uring_sqe& entry = queues_.entries[tail_++ & queues_.submit_mask];
    entry = io_uring_sqe{};
    return entry;
}

// Inline, with its callers and the system call itself: whatever returns after that is mispredicted.
[[gnu::always_inline]] inline long ring::enter(unsigned fewest, unsigned flags,
                                               const __kernel_timespec* limit) noexcept {
    const unsigned count = pending();
    io_uring_smp_store_release(queues_.submit_tail, tail_);
    hand_to_kernel();
    io_uring_getevents_arg argument{};
    argument.ts = reinterpret_cast<std::uintptr_t>(limit);
    const raw_call_site site{raw_call::ring_enter, descriptor_, count, fewest};
    const long answer = pass(site, [&](std::size_t size) -> long {
        // Like the kernel: who submits less than he was told does not wait.
        const unsigned wanted = size < count ? 0 : fewest;
        const auto submitted = static_cast<unsigned>(size);
        if (wanted == 0 || limit == nullptr)
            return raw_ring_enter(descriptor_, submitted, wanted, flags, nullptr, NSIG / 8);
        return raw_ring_enter(descriptor_, submitted, wanted, flags | IORING_ENTER_EXT_ARG,
                              &argument, sizeof argument);
    });
    head_ = io_uring_smp_load_acquire(queues_.submit_head);
    return answer;
}

} // namespace sluice::platform::uring
