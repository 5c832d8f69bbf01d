#include <sluice/runtime/root_registry.hpp>

#include <mutex>

namespace sluice {

void root_registry::add(root_node& root) noexcept {
    const std::lock_guard lock(mutex_);
    root.previous = nullptr;
    root.next = first_;
    if (first_ != nullptr)
        first_->previous = &root;
    first_ = &root;
}

void root_registry::remove(root_node& root) noexcept {
    const std::lock_guard lock(mutex_);
    (root.previous != nullptr ? root.previous->next : first_) = root.next;
    if (root.next != nullptr)
        root.next->previous = root.previous;
    root.next = root.previous = nullptr;
}

// One at a time, and not nested: what a frame's destruction does may remove others.
void root_registry::destroy_all() noexcept {
    for (;;) {
        std::coroutine_handle<> frame;
        {
            const std::lock_guard lock(mutex_);
            if (first_ == nullptr)
                return;
            frame = first_->frame;
        }
        frame.destroy(); // the promise removes itself
    }
}

} // namespace sluice
