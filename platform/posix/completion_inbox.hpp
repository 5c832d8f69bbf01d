// Finished operations on their way from workers and pollers to the one thread that reaps.
// Lock-free, without allocation: the list is linked through operation::next. Any thread pushes, one
// thread drains.
#pragma once

#include <sluice/platform/operation_list.hpp>

#include <atomic>
#include <cstddef>

namespace sluice::platform {

class completion_inbox {
public:
    /// `wake(owner)` is called on the pushing thread when an empty inbox got something. It makes
    /// the owner look; it must not touch the operation.
    using wake_function = void (*)(void* owner) noexcept;

    completion_inbox(wake_function wake, void* owner) noexcept : wake_(wake), owner_(owner) {}
    completion_inbox(const completion_inbox&) = delete;
    completion_inbox& operator=(const completion_inbox&) = delete;

    /// Hands over: the operation belongs to the owner from here on, and may be gone when this
    /// returns.
    void push(operation& op) noexcept {
        operation* head = head_.load(std::memory_order_relaxed);
        do
            op.next = head;
        while (!head_.compare_exchange_weak(head, &op, std::memory_order_seq_cst,
                                            std::memory_order_relaxed));
        if (head == nullptr)
            wake_(owner_);
    }

    bool empty() const noexcept { return head_.load(std::memory_order_seq_cst) == nullptr; }

    /// Moves everything to `finished`, in order of completion. How many there were.
    std::size_t drain(operation_list& finished) noexcept {
        operation* newest = head_.exchange(nullptr, std::memory_order_acquire);
        operation* oldest = nullptr;
        while (newest != nullptr) {
            auto* const older = static_cast<operation*>(newest->next);
            newest->next = oldest;
            oldest = newest;
            newest = older;
        }
        std::size_t count = 0;
        for (; oldest != nullptr; ++count) {
            operation& op = *oldest;
            oldest = static_cast<operation*>(op.next);
            finished.push_back(op);
        }
        return count;
    }

private:
    // Sequentially consistent where it is published and asked for: the owner's sleeping flag is the
    // other half.
    std::atomic<operation*> head_{nullptr};
    wake_function wake_;
    void* owner_;
};

} // namespace sluice::platform
