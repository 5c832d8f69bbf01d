// An intrusive, doubly linked first-in first-out list of operations. Not thread-safe.
#pragma once

#include <sluice/platform/operation.hpp>

namespace sluice::platform {

class operation_list {
public:
    bool empty() const noexcept { return head_ == nullptr; }
    operation* front() const noexcept { return head_; }

    void push_back(operation& op) noexcept {
        op.next = nullptr;
        op.previous = tail_;
        (tail_ != nullptr ? tail_->next : head_) = &op;
        tail_ = &op;
    }

    operation& pop_front() noexcept {
        operation& op = *head_;
        head_ = op.next;
        (head_ != nullptr ? head_->previous : tail_) = nullptr;
        op.next = nullptr;
        return op;
    }

    void erase(operation& op) noexcept {
        (op.previous != nullptr ? op.previous->next : head_) = op.next;
        (op.next != nullptr ? op.next->previous : tail_) = op.previous;
        op.next = op.previous = nullptr;
    }

    void append(operation_list& other) noexcept {
        if (other.head_ == nullptr)
            return;
        other.head_->previous = tail_;
        (tail_ != nullptr ? tail_->next : head_) = other.head_;
        tail_ = other.tail_;
        other.head_ = other.tail_ = nullptr;
    }

private:
    operation* head_ = nullptr;
    operation* tail_ = nullptr;
};

} // namespace sluice::platform
