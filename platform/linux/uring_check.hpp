// Whether this process can use a ring at all, found by trying, once: a small ring, the opcodes that
// the kernel names, a no-op and a read of an open file within a second. Any thread.
#pragma once

#include <sluice/platform/linux/uring_setup.hpp>

namespace sluice::platform::uring {

struct check_outcome : ring_outcome {
    bool can_sync = true; ///< IORING_OP_FSYNC is there; workers do it otherwise
};

/// Tries at the first call. A shortage that may pass (memory, descriptors) is tried again at the
/// next call, and a child of a fork tries for itself: it may have been put into a sandbox.
check_outcome check() noexcept;
/// The next check() tries again.
void forget_check() noexcept;

} // namespace sluice::platform::uring
