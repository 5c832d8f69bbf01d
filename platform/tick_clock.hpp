// The cheapest clock there is, for what is asked on a hot path: was this call surely fast, and how
// long did an operation take? Where the processor has a constant counter a reading costs a few
// nanoseconds; the system's clock costs four times that, and several pages of the process that are
// cold after a system call. Any thread.
#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace sluice::platform {

class tick_clock {
public:
    using ticks = std::uint64_t;

#if defined(__x86_64__)
    static ticks now() noexcept { return __rdtsc(); }
    static constexpr unsigned most_ns_per_tick = 2; // counters run at half a gigahertz at least
#else
    static ticks now() noexcept {
        return static_cast<ticks>(std::chrono::steady_clock::now().time_since_epoch().count());
    }
    static constexpr unsigned most_ns_per_tick = 1;
#endif

    /// Fewer ticks than this are less than `duration`, whatever the counter's frequency.
    static constexpr ticks surely_within(std::chrono::nanoseconds duration) noexcept {
        return static_cast<ticks>(duration.count()) / most_ns_per_tick;
    }
    /// How long `count` ticks are. What a tick is was measured against the system's clock, over the
    /// first hundredth of a second of the program or more. A static initialiser that asks too early
    /// is told one nanosecond a tick.
    static std::chrono::nanoseconds duration_of(ticks count) noexcept;
};

} // namespace sluice::platform
