#include <sluice/strategies/operation_gate.hpp>

namespace sluice::strategies {

bool operation_gate::enter(completion::io_source& source, bool shares) noexcept {
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

void operation_gate::leave(completion::io_source& source, bool shares, bool waiting) noexcept {
    (source.back_link != nullptr ? source.back_link->link : head_) = source.link;
    (source.link != nullptr ? source.link->back_link : tail_) = source.back_link;
    source.link = source.back_link = nullptr;
    if (!shares)
        --exclusive_;
    if (waiting)
        --waiting_;
}

void operation_gate::forked() noexcept {
    for (completion::io_source* s = head_; s != nullptr; s = s->link)
        s->reason = completion::cancel_reason::forked;
}

} // namespace sluice::strategies
