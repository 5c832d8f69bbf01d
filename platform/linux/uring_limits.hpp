// Every number that the ring's code was given, in one place.
#pragma once

#include <chrono>
#include <cstddef>

namespace sluice::platform::uring {

/// A cached copy above this holds the submitting thread for too long: it carries IOSQE_ASYNC.
inline constexpr std::size_t largest_inline_copy = 256 * 1024;
/// What one system call may copy before it returns; the rest goes with the next one, after the loop
/// has seen its other events. One copy of the largest size always fits.
inline constexpr std::size_t largest_batch = 1024 * 1024;

inline constexpr unsigned fewest_entries = 4;
inline constexpr unsigned most_entries = 32768; // the kernel's own limit

/// The part of the completion queue that is kept for the wake event and for cancellations: an
/// eighth, so that the queue can never overflow.
constexpr unsigned spare_completions(unsigned completions) noexcept {
    return completions < 16 ? 2 : completions / 8;
}

/// Where ENOMEM at set-up stops to halve the ring and starts to wait: closed rings give their
/// memory back late.
inline constexpr unsigned smallest_ring = 8;
inline constexpr int most_set_up_retries = 5;
inline constexpr std::chrono::milliseconds first_set_up_pause{1}; // doubles

inline constexpr std::chrono::seconds self_test_limit{1};

/// How often a context may change between run() and poll() with a ring remade for it; then it keeps
/// an unbound one.
inline constexpr unsigned most_rebinds = 8;

/// How long a given-up ring is waited for at once; longer, and it is looked at from time to time.
inline constexpr std::chrono::seconds abandon_pause{1};
inline constexpr std::chrono::milliseconds stranded_pause{1};

/// How often in a row the kernel may refuse to take entries for want of memory before threads take
/// over.
inline constexpr int most_enter_retries = 64;
inline constexpr std::chrono::milliseconds refused_pause{1};

/// Workers of the kernel that a ring may start, for files and for everything else.
inline constexpr unsigned most_kernel_workers = 16;

} // namespace sluice::platform::uring
