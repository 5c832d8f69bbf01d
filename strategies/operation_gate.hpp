// The order of the calls on one stream: first come, first served; those that share run beside each
// other, an exclusive one alone. Belongs to the thread that runs the loop.
#pragma once

#include <sluice/completion/io_source.hpp>

#include <cstdint>

namespace sluice::strategies {

class operation_gate {
public:
    bool empty() const noexcept { return head_ == nullptr; }
    /// Whether a call would run at once.
    bool open_for(bool shares) const noexcept {
        return shares ? exclusive_ == 0 : head_ == nullptr;
    }

    /// Joins the line. True: it is this call's turn; else next_turn will say so.
    bool enter(completion::io_source& source, bool shares) noexcept {
        const bool at_once = open_for(shares);
        source.link = nullptr;
        source.back_link = tail_;
        (tail_ != nullptr ? tail_->link : head_) = &source;
        tail_ = &source;
        if (!shares)
            ++exclusive_;
        if (!at_once)
            ++waiting_;
        return at_once;
    }
    /// Leaves the line; `waiting`: before its turn came.
    void leave(completion::io_source& source, bool shares, bool waiting) noexcept {
        (source.back_link != nullptr ? source.back_link->link : head_) = source.link;
        (source.link != nullptr ? source.link->back_link : tail_) = source.back_link;
        source.link = source.back_link = nullptr;
        if (!shares)
            --exclusive_;
        if (waiting)
            --waiting_;
    }
    /// The next call whose turn has come, which then counts as started; null: none.
    template <class Waits, class Shares>
    completion::io_source* next_turn(Waits waits, Shares shares) noexcept {
        if (waiting_ == 0)
            return nullptr;
        for (completion::io_source* s = head_; s != nullptr; s = s->link) {
            const bool alone = !shares(*s);
            if (waits(*s) && (!alone || s == head_)) {
                --waiting_;
                return s;
            }
            if (alone)
                return nullptr;
        }
        return nullptr;
    }
    bool has_waiting() const noexcept { return waiting_ != 0; }
    completion::io_source* first() const noexcept { return head_; }
    /// What waits is the parent's too, and not done a second time.
    void forked() noexcept {
        for (completion::io_source* s = head_; s != nullptr; s = s->link)
            s->reason = completion::cancel_reason::forked;
    }

private:
    completion::io_source* head_ = nullptr;
    completion::io_source* tail_ = nullptr;
    std::uint32_t exclusive_ = 0; // in the line
    std::uint32_t waiting_ = 0;   // in the line, and not started
};

} // namespace sluice::strategies
