// One timer, embedded in what it belongs to; the heap that orders them is timer_heap.hpp.
#pragma once

#include <chrono>
#include <cstdint>

namespace sluice::completion {

using time_point = std::chrono::steady_clock::time_point;

struct timer_node {
    static constexpr std::uint32_t not_armed = ~std::uint32_t{0};

    time_point when{};
    std::uint32_t index = not_armed; ///< place in the heap
    void (*expired)(timer_node& self) = nullptr;

    bool armed() const noexcept { return index != not_armed; }
};

} // namespace sluice::completion
