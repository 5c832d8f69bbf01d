// One timer, embedded in what it belongs to; the heap that orders them is timer_heap.hpp.
#pragma once

#include <chrono>
#include <cstdint>

namespace sluice::completion {

using time_point = std::chrono::steady_clock::time_point;

/// So long from now: now when it is negative, the end of time when it does not fit.
template <class Rep, class Period>
time_point time_after(std::chrono::duration<Rep, Period> wait) {
    using seconds = std::chrono::duration<double>; // every duration fits in it
    const time_point now = std::chrono::steady_clock::now();
    if (wait <= wait.zero())
        return now;
    if (seconds(wait) >= seconds(time_point::max() - now) - seconds(1))
        return time_point::max();
    return now + std::chrono::ceil<time_point::duration>(wait);
}

struct timer_node {
    static constexpr std::uint32_t not_armed = ~std::uint32_t{0};

    time_point when{};
    std::uint32_t index = not_armed; ///< place in the heap
    /// `invoke` false: the queue is shutting down; let go of what the timer holds.
    void (*expired)(timer_node& self, bool invoke) = nullptr;

    bool armed() const noexcept { return index != not_armed; }
};

} // namespace sluice::completion
