#include <sluice/completion/timer_heap.hpp>

#include <utility>

namespace sluice::completion {

void timer_heap::arm(timer_node& timer, time_point when) {
    if (timer.armed())
        disarm(timer);
    heap_.push_back(&timer);
    timer.when = when;
    place(static_cast<std::uint32_t>(heap_.size() - 1), &timer);
    sift_up(timer.index);
}

void timer_heap::disarm(timer_node& timer) noexcept {
    if (!timer.armed())
        return;
    const std::uint32_t hole = timer.index;
    timer_node* last = heap_.back();
    heap_.pop_back();
    timer.index = timer_node::not_armed;
    if (last == &timer)
        return;
    place(hole, last);
    sift_up(hole);
    sift_down(last->index);
}

timer_node& timer_heap::pop() noexcept {
    timer_node& first = *heap_.front();
    disarm(first);
    return first;
}

void timer_heap::place(std::uint32_t index, timer_node* timer) noexcept {
    heap_[index] = timer;
    timer->index = index;
}

void timer_heap::sift_up(std::uint32_t index) noexcept {
    timer_node* moving = heap_[index];
    while (index > 0) {
        const std::uint32_t parent = (index - 1) / 2;
        if (heap_[parent]->when <= moving->when)
            break;
        place(index, heap_[parent]);
        index = parent;
    }
    place(index, moving);
}

void timer_heap::sift_down(std::uint32_t index) noexcept {
    timer_node* moving = heap_[index];
    const auto count = static_cast<std::uint32_t>(heap_.size());
    for (;;) {
        std::uint32_t child = index * 2 + 1;
        if (child >= count)
            break;
        if (child + 1 < count && heap_[child + 1]->when < heap_[child]->when)
            ++child;
        if (moving->when <= heap_[child]->when)
            break;
        place(index, heap_[child]);
        index = child;
    }
    place(index, moving);
}

} // namespace sluice::completion
