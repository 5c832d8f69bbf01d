// The timers of one loop, ordered by time: a binary heap of pointers. Not thread-safe.
#pragma once

#include <sluice/completion/timer_node.hpp>

#include <vector>

namespace sluice::completion {

class timer_heap {
public:
    bool empty() const noexcept { return heap_.empty(); }
    time_point earliest() const noexcept { return heap_.front()->when; }
    std::size_t size() const noexcept { return heap_.size(); }

    void arm(timer_node& timer, time_point when);
    void disarm(timer_node& timer) noexcept;
    /// Takes out the earliest timer.
    timer_node& pop() noexcept;

private:
    void place(std::uint32_t index, timer_node* timer) noexcept;
    void sift_up(std::uint32_t index) noexcept;
    void sift_down(std::uint32_t index) noexcept;

    std::vector<timer_node*> heap_;
};

} // namespace sluice::completion
