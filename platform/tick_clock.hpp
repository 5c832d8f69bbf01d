// The cheapest clock there is, for the only question asked on a hot path: was this call surely
// fast? Where the processor has a constant counter a reading costs a few nanoseconds, a quarter of
// the system's clock.
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
    /// How long `count` ticks that end now are; not for a hot path.
    static std::chrono::nanoseconds duration_of(ticks count) noexcept;
};

} // namespace sluice::platform
