// The order of the calls on one stream: first come, first served; those that share run beside each
// other, an exclusive one alone. Belongs to the thread that runs the loop.
#pragma once

#include <sluice/completion/io_source.hpp>

#include <cstdint>

namespace sluice::strategies {

class operation_gate {
public:
    bool empty() const noexcept { return line_.empty(); }
    /// Whether a call would run at once.
    bool open_for(bool shares) const noexcept { return shares ? exclusive_ == 0 : line_.empty(); }

    /// Joins the line. True: it is this call's turn; else next_turn will say so.
    bool enter(completion::io_source& source, bool shares) noexcept {
        const bool at_once = open_for(shares);
        join(source);
        if (!shares)
            ++exclusive_;
        if (!at_once)
            ++waiting_;
        return at_once;
    }
    /// The same for a call that shares, when open_for(true).
    void join(completion::io_source& source) noexcept { line_.push_back(source.in_line); }
    /// Leaves the line; `waiting`: before its turn came.
    void leave(completion::io_source& source, bool shares, bool waiting) noexcept {
        line_.erase(source.in_line);
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
        for (completion::io_source* s = first(); s != nullptr; s = after(*s)) {
            const bool alone = !shares(*s);
            if (waits(*s) && (!alone || s == first())) {
                --waiting_;
                return s;
            }
            if (alone)
                return nullptr;
        }
        return nullptr;
    }
    bool has_waiting() const noexcept { return waiting_ != 0; }
    completion::io_source* first() const noexcept { return source_at(line_.front()); }
    completion::io_source* after(const completion::io_source& source) const noexcept {
        return source_at(line_.after(source.in_line));
    }
    /// What waits is the parent's too, and not done a second time.
    void forked() noexcept {
        for (completion::io_source* s = first(); s != nullptr; s = after(*s))
            s->reason = completion::cancel_reason::forked;
    }

private:
    using entry = completion::io_source::list_entry;
    static completion::io_source* source_at(entry* at) noexcept {
        return at != nullptr ? &at->source : nullptr;
    }

    platform::intrusive_list<entry> line_;
    std::uint32_t exclusive_ = 0; // in the line
    std::uint32_t waiting_ = 0;   // in the line, and not started
};

} // namespace sluice::strategies
