#include <sluice/completion/source_core.hpp>

#include <thread>
#include <utility>

namespace sluice::completion {

void failure::raise() const {
    if (exception)
        std::rethrow_exception(exception);
    if (operation == nullptr)
        throw boost::system::system_error(code);
    throw file_error(code, operation, path, transferred);
}

void source_core::consume_and_raise() {
    const failure why = std::move(failure_);
    failure_ = failure{};
    consume();
    why.raise();
}

error_code source_core::consume_code() noexcept {
    const error_code code = failure_.exception ? make_error_code(errc::exception) : failure_.code;
    consume();
    return code;
}

bool source_core::register_waiter(std::uint32_t version, waiter_function waiter, void* address,
                                  resume_queue* queue, holding& held) {
    check_awaitable(version);
    std::uint64_t seen = state_.load(std::memory_order_acquire);
    // Another runtime may end before the completer posts to it.
    if (queue != nullptr && queue != target_ && !target_retained_)
        set_target(*queue);
    waiter_ = waiter;
    address_ = address;
    held = holding::registered;
    while ((seen & done) == 0 && static_cast<std::uint32_t>(seen >> 32) == version)
        if (state_.compare_exchange_weak(seen, seen | waiting, std::memory_order_acq_rel,
                                         std::memory_order_acquire))
            return true;
    held = holding::ticket;
    if (static_cast<std::uint32_t>(seen >> 32) != version) [[unlikely]]
        stale_use(); // its owner has reset it meanwhile
    return false;
}

void source_core::publish_in_word(claim won) {
    if (won == claim::with_waiter) {
        // A core that waits and is claimed changes no more: a plain store does.
        state_.store(state_.load(std::memory_order_relaxed) | done, std::memory_order_release);
        return deliver();
    }
    if (resume_queue::alone_here(home_)) {
        if (has_local())
            move_to_word(waiting);
    } else if (home_ != nullptr && home_->runs_alone() &&
               (state_.load(std::memory_order_relaxed) & (waiting | detached)) == 0) {
        // A local waiter that this thread may not look at; it registered before it saw the claim.
        ask_home(version(), ask_for_waiter);
    }
    settle(state_.fetch_add(done, std::memory_order_acq_rel));
}

// The local waiter becomes one of the word, as if it had registered there: on the home queue's
// thread. Returns the word before.
std::uint64_t source_core::move_to_word(std::uint64_t bits) noexcept {
    local_to_waiter();
    return state_.fetch_or(bits, std::memory_order_acq_rel);
}

// Another thread completes, or is about to.
void source_core::answer_for_waiter(bool invoke) {
    if (!has_local() || (move_to_word(waiting) & done) == 0)
        return; // the completer delivers
    if (invoke)
        deliver();
    else
        run_posted(*this, false);
}

// The waiter function of a suspended coroutine. One that is not resumed any more takes its result
// along when it is destroyed.
void source_core::resume_coroutine(source_core& self, bool invoke) {
    if (invoke)
        std::coroutine_handle<>::from_address(self.address_).resume();
    else
        self.give_up_delivery();
}

// RACE: abandon against the completer, on another thread or on this one.
//  - not done, nobody claimed: `detached` is set; the completer sees it and recycles.
//  - claimed, not done: the same; publishing sees it.
//  - a continuation is registered, and not by this ticket: it is another ticket's result.
//  - a local waiter of this ticket: it is taken back, and nothing is registered any more; with its
//    result on the way it is moved into the word, and is as the last one.
//  - done, no continuation was registered: this side owns the core and recycles it.
//  - done, with a continuation: the node is in its queue (an inline delivery runs the continuation,
//    which takes the result before anything can abandon the ticket). The queue's thread is the one
//    that destroys coroutines, so `dropped_` needs no atomic: the posted run sees it and recycles.
void source_core::abandon(std::uint32_t version, bool registered) noexcept {
    const bool one_ticket = has_one_ticket();
    std::uint64_t seen = state_.load(std::memory_order_acquire);
    if (static_cast<std::uint32_t>(seen >> 32) != version)
        return;
    if (const std::uintptr_t local = local_.load(std::memory_order_relaxed); local != 0) {
        if (!registered || local == taken)
            return;
        if ((local & on_its_way) != 0) {
            move_to_word(waiting | done);
            return drop_posted();
        }
        local_.store(0, std::memory_order_relaxed);
    }
    for (;;) {
        if (static_cast<std::uint32_t>(seen >> 32) != version ||
            (seen & (consumed | detached)) != 0 || (!registered && (seen & waiting) != 0))
            return;
        if ((seen & done) != 0)
            break;
        if ((seen & (waiting | claimed)) == (waiting | claimed))
            return drop_posted(); // about to be posted
        const std::uint64_t let_go = (seen & ~waiting) | detached;
        if (state_.compare_exchange_weak(seen, let_go, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
            if (registered)
                cancel(version, cancel_reason::requested);
            return;
        }
    }
    if ((seen & waiting) != 0)
        drop_posted();
    else if (one_ticket)
        discard_unclaimed();
    else
        discard_alone(version);
}

void source_core::drop_posted() noexcept {
    dropped_ = true;
    touch();
}

void source_core::run_posted(ready_node& self, bool invoke) {
    auto& core = static_cast<source_core&>(self);
    const std::uintptr_t local = core.local_.load(std::memory_order_relaxed);
    if (local != 0 && invoke) [[likely]]
        coroutine_at(local - on_its_way).resume();
    else if (local != 0)
        core.give_up_delivery();
    else if (core.dropped_)
        core.discard_unclaimed();
    else
        core.waiter_(core, invoke);
}

void source_core::give_up_delivery() noexcept {
    local_.store(0, std::memory_order_relaxed);
    state_.fetch_or(done, std::memory_order_acq_rel);
    state_.fetch_and(~waiting, std::memory_order_acq_rel);
}

bool source_core::post_done(std::uint32_t version) {
    // An owner that goes away now leaves the core to us.
    if (has_one_ticket())
        state_.fetch_or(waiting, std::memory_order_relaxed);
    else if (!take_alone(version, waiting)) [[unlikely]]
        return false;
    if (target_ != nullptr)
        target_->post(*this);
    else
        waiter_(*this, true);
    return true;
}

// Before any other ticket of this version.
bool source_core::take_alone(std::uint32_t version, std::uint64_t how) noexcept {
    std::uint64_t seen = state_.load(std::memory_order_relaxed);
    do {
        if (static_cast<std::uint32_t>(seen >> 32) != version ||
            (seen & (taking | waiting | consumed)) != 0)
            return false;
    } while (!state_.compare_exchange_weak(seen, seen | how, std::memory_order_acq_rel,
                                           std::memory_order_relaxed));
    return true;
}

bool source_core::try_claim_version(std::uint32_t version) noexcept {
    std::uint64_t seen = state_.load(std::memory_order_relaxed);
    do {
        if (static_cast<std::uint32_t>(seen >> 32) != version || (seen & (claimed | done)) != 0)
            return false;
    } while (!state_.compare_exchange_weak(seen, seen | claimed, std::memory_order_acq_rel,
                                           std::memory_order_relaxed));
    return true;
}

// RACE: the owner, who renews, against a deadline on the home queue's thread.
//  - the owner claims | the deadline: refused, by the claim or by the version.
//  - the deadline claims | the owner: waits until the result is there, and where the ticket is gone
//    until it was discarded; after that the completer does not touch the core.
void source_core::end_claims() noexcept {
    if ((state_.fetch_or(claimed, std::memory_order_acq_rel) & claimed) == 0)
        return;
    for (;;) {
        const std::uint64_t seen = look();
        if ((seen & done) != 0 && ((seen & detached) == 0 || (seen & consumed) != 0))
            return;
        std::this_thread::yield();
    }
}

void source_core::discard_alone(std::uint32_t version) noexcept {
    if (take_alone(version, taking))
        discard_unclaimed();
}

void source_core::discard_unclaimed() noexcept {
    if (!failed_)
        kind_->discard(*this);
    consume();
}

// RACE: the owner that goes away against the consumer that takes the result.
//  - a consumer of the word: both are one read-modify-write, the second one recycles.
//  - a local consumer uses no read-modify-write. It runs on the home queue's thread; so does the
//    leaving of the owner, who asks the home queue for it when he is elsewhere. What is on its way
//    is moved into the word there. `taken` seen before: the consumer has let go, the owner
//    recycles.
// Returns false when the result was consumed: the owner recycles.
bool source_core::leave_to_consumer() noexcept {
    if (was_consumed())
        return false;
    home_->retain(); // released by give_back; the owner's own reference ends with it
    if (home_->runs_alone() && !home_->running_here())
        ask_home(version(), owner_leaves);
    else
        owner_left();
    return true;
}

void source_core::owner_left() noexcept {
    const std::uintptr_t local = local_.load(std::memory_order_relaxed);
    if (local == taken)
        return kind_->give_back(*this);
    // With `done` in the word another thread completed it, and its request moves the waiter.
    if (local != 0 && (state_.load(std::memory_order_relaxed) & done) == 0)
        move_to_word(waiting | done);
    if ((state_.fetch_or(owner_gone, std::memory_order_acq_rel) & consumed) != 0)
        kind_->give_back(*this);
}

void source_core::restore_settings() noexcept {
    if (failed_)
        failure_ = failure{};
    if (target_retained_)
        drop_target();
    target_ = local_queue_ = home_;
    mode_ = own_mode_;
    failed_ = dropped_ = false;
    unmark(touched);
}

void source_core::set_target(resume_queue& queue) noexcept {
    if (target_retained_)
        drop_target();
    queue.retain();
    target_ = &queue;
    local_queue_ = nullptr;
    target_retained_ = true;
    touch();
}

void source_core::drop_target() noexcept {
    target_->release();
    target_ = home_;
    target_retained_ = false;
}

void source_core::stale_use() {
    throw invalid_operation(
        "value task used after its operation was consumed or its source was reset");
}
void source_core::second_use() { throw invalid_operation("value task awaited a second time"); }
void source_core::not_takeable(std::uint64_t seen) {
    if ((seen & (consumed | taking)) != 0)
        throw invalid_operation("value task consumed a second time");
    if ((seen & waiting) != 0)
        second_use();
    throw invalid_operation("result of a value task taken before its completion");
}

} // namespace sluice::completion
