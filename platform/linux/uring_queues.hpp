// The memory that a ring shares with the kernel: submission queue, completion queue, entries.
//
// Mapped here and not by liburing, whose own system calls ThreadSanitizer does not see: it would
// take a ring at the address of one that another thread had closed for a race.
#pragma once

#include <sluice/platform/linux/uring_config.hpp>

#include <cstddef>

namespace sluice::platform::uring {

struct queues {
    unsigned* submit_head = nullptr; ///< the kernel's
    unsigned* submit_tail = nullptr; ///< ours
    unsigned* submit_flags = nullptr;
    unsigned submit_mask = 0;
    io_uring_sqe* entries = nullptr;

    unsigned* complete_head = nullptr; ///< ours
    unsigned* complete_tail = nullptr; ///< the kernel's
    unsigned complete_mask = 0;
    io_uring_cqe* completions = nullptr;

    /// Maps those of a new ring. 0 or -errno; nothing stays mapped then.
    long map(int descriptor, const io_uring_params& made) noexcept;
    void unmap() noexcept;
    /// Whether they are those of the ring that this descriptor names now. While nothing enters it.
    bool are_of(int descriptor) const noexcept;

private:
    void find_parts(const io_uring_params& made) noexcept;

    void* rings_ = nullptr;
    std::size_t rings_size_ = 0;
    std::size_t entries_size_ = 0;
};

} // namespace sluice::platform::uring
