// The life of one operation after submission: one state word, the result, the continuation. Value
// tasks are tickets on a core; completion sources and the I/O sources of a loop own one.
//
// Threads: one party completes, one party holds the ticket, on any threads; the state word decides
// between them, see core_state.hpp.
#pragma once

#include <sluice/completion/core_state.hpp>

#include <coroutine>
#include <cstring>
#include <type_traits>
#include <utility>

namespace sluice::completion {

/// What a value task holds. `registered`: a ticket whose continuation is registered.
enum class holding : std::uint8_t { nothing, value, ticket, registered };

class source_core : public core_state {
public:
    explicit source_core(const verbs& kind) noexcept : core_state(kind) {
        run = &run_posted;
        control_.run = &run_control;
        control_.core = this;
        timer_.expired = &deadline_expired;
        timer_.core = this;
    }
    source_core(const source_core&) = delete;
    source_core& operator=(const source_core&) = delete;

    // --- the ticket's side ---

    bool is_done(std::uint32_t version) const { return (checked(version) & done) != 0; }

    /// False: already done. Throws invalid_operation on stale and second use. `held`, a ticket, is
    /// `registered` before another thread can resume, and a ticket again when this returns false.
    /// `queue`: where the continuation runs, unless the ticket was told otherwise; null for the
    /// home queue. No reference is taken.
    bool register_coroutine(std::uint32_t version, std::coroutine_handle<> awaiting,
                            resume_queue* queue, holding& held) {
        const std::uint64_t fresh = std::uint64_t{version} << 32;
        const std::uint64_t seen = state_.load(std::memory_order_acquire);
        if (seen == fresh && local_.load(std::memory_order_relaxed) == 0 && queue == local_queue_ &&
            resume_queue::alone_here(queue)) [[likely]] {
            local_.store(reinterpret_cast<std::uintptr_t>(awaiting.address()),
                         std::memory_order_relaxed);
            held = holding::registered;
            return true;
        }
        if (seen == (fresh | done)) // see is_plainly_done
            return false;
        return register_waiter(version, &resume_coroutine, awaiting.address(), queue, held);
    }
    /// Whether the result of this version is there, of a core whose completer claims nothing (an
    /// unowned one), and nobody waits for it. False says nothing.
    bool is_plainly_done(std::uint32_t version) const noexcept {
        return state_.load(std::memory_order_acquire) == ((std::uint64_t{version} << 32) | done);
    }
    /// What register_coroutine does, for any continuation, in the word.
    [[gnu::noinline]] bool register_waiter(std::uint32_t version, waiter_function waiter,
                                           void* address, resume_queue* queue, holding& held);

    /// Throws unless the result of this version is there and may be taken: not yet taken, and not
    /// on its way to a continuation, unless that is the one that asks.
    void check_takeable(std::uint32_t version, bool by_continuation) const {
        const std::uint64_t seen = checked(version);
        const std::uint64_t mask =
            by_continuation ? done | consumed : done | consumed | waiting | taking;
        if ((seen & mask) != done) [[unlikely]]
            not_takeable(seen);
    }
    /// The same for a ticket that registered no continuation; then it has the result alone.
    void begin_taking(std::uint32_t version) {
        const bool one_ticket = has_one_ticket();
        if (!(one_ticket && is_plainly_done(version))) [[unlikely]]
            check_takeable(version, false);
        if (!one_ticket && !take_alone(version, taking)) [[unlikely]]
            second_use();
    }
    /// Of a continuation that was resumed: whether it was a local one. The result is there then,
    /// and no failure.
    bool delivered_here() const noexcept { return local_.load(std::memory_order_relaxed) != 0; }
    /// The consume() of that.
    void consume_here() noexcept { local_.store(taken, std::memory_order_release); }

    /// The result was moved out, or the failure read: recycles, or leaves it to the owner.
    void consume() noexcept {
        if ((marks() & unowned) != 0 ||
            (state_.fetch_or(consumed, std::memory_order_acq_rel) & owner_gone) != 0)
            kind_->give_back(*this);
    }
    /// Takes the failure out, consumes, throws.
    [[noreturn]] void consume_and_raise();
    /// Takes the code out (failures of public sources with an exception: errc::exception),
    /// consumes.
    error_code consume_code() noexcept;

    /// The ticket goes away without having taken the result. `registered`: a continuation of it was
    /// registered and must not run any more; the operation is asked to end.
    void abandon(std::uint32_t version, bool registered) noexcept;

    /// Asks the operation of this version to end. Any thread; nothing happens when it is over.
    void cancel(std::uint32_t version, cancel_reason reason) noexcept;
    /// The same at a time, with reason deadline.
    void arm_deadline(std::uint32_t version, time_point when);
    void override_mode(std::uint32_t version, resume_mode mode) {
        check_awaitable(version);
        mode_ = mode;
        touch();
    }
    void override_target(std::uint32_t version, resume_queue& queue) {
        check_awaitable(version);
        set_target(queue);
    }

    /// Throws unless a continuation may be registered for this version.
    void check_awaitable(std::uint32_t version) const {
        if ((checked(version) & (waiting | consumed | detached | taking)) != 0) [[unlikely]]
            second_use();
    }
    /// Posts the continuation that register_waiter came too late for. False: another ticket has
    /// the result.
    bool post_done(std::uint32_t version);

    // --- the completer's side ---

    enum class claim : std::uint8_t { refused, alone, with_waiter, local };

    /// Wins the right to write the result, where several may try.
    claim try_claim() noexcept {
        // What waits here is looked for before, because a locked instruction holds up the loads
        // behind it. One bit is asked for, because that is one instruction without a loop; the look
        // at the word may be late: publishing finds what is registered meanwhile.
        const bool here = has_local() && resume_queue::alone_here(local_queue_);
        if ((state_.fetch_or(claimed, std::memory_order_acq_rel) & claimed) != 0) [[unlikely]]
            return claim::refused;
        if (here) [[likely]]
            return claim::local;
        return (state_.load(std::memory_order_acquire) & waiting) != 0 ? claim::with_waiter
                                                                       : claim::alone;
    }

    /// The same for a completer that is not within a call of the owner, and may come too late: for
    /// this version alone.
    bool try_claim_version(std::uint32_t version) noexcept;
    /// Before the owner renews a core that was not consumed: nobody completes this version any
    /// more, and who was about to has ended.
    void end_claims() noexcept;

    void fail(failure why) noexcept {
        failure_ = std::move(why);
        failed_ = true;
        touch();
    }

    /// The result is written; `won` is what try_claim said. Within a call of the owner. `at_once`:
    /// it is no failure, and nothing of the user ran since.
    void publish(claim won, bool at_once) {
        if (won == claim::local && (at_once || (has_local() && !failed_))) [[likely]]
            deliver_local();
        else
            publish_in_word(won);
    }
    /// The same on the home queue's thread, not within a call of the owner, who may be letting go
    /// of the core meanwhile.
    void publish_from_outside() { publish_in_word(claim::alone); }

    /// The result is written, and there is no ticket yet.
    void complete_sole() noexcept {
        state_.store((std::uint64_t{version()} << 32) | done, std::memory_order_release);
    }

    /// The same from a loop: a continuation that may run inline on this very queue is handed to
    /// `after_batch`, so that every completion found together is done before the first continuation
    /// runs.
    template <class AfterBatch>
    void complete_in_batch(AfterBatch after_batch) noexcept {
        if (has_local()) [[likely]] {
            local_to_waiter();
            state_.store((std::uint64_t{version()} << 32) | waiting | done,
                         std::memory_order_release);
        } else {
            const std::uint64_t before = state_.fetch_add(done, std::memory_order_acq_rel);
            if ((before & waiting) == 0) {
                if ((before & detached) != 0)
                    discard_unclaimed();
                return;
            }
        }
        if (mode_ == resume_mode::inline_ && target_ == home_)
            after_batch(*this);
        else
            target_->post(*this);
    }

    // --- the owner's side ---

    /// A new operation: a new version, every setting of the old one forgotten. The caller owns the
    /// core.
    void renew() noexcept {
        if ((marks() & touched) != 0) [[unlikely]]
            restore_settings();
        renew_plainly();
    }
    /// Whether its result was taken here, with nothing to restore, and it goes to the own list of
    /// its pool. The renew() of that.
    bool ended_plainly() const noexcept {
        return local_.load(std::memory_order_acquire) == taken && marks() == 0;
    }
    void renew_plainly() noexcept {
        local_.store(0, std::memory_order_relaxed);
        state_.store(std::uint64_t{version() + 1} << 32, std::memory_order_release);
    }
    /// The owner hands out a ticket on this version.
    std::uint32_t issue() noexcept {
        const std::uint32_t now = version();
        issued_ = now;
        return now;
    }
    /// Whether there is a ticket that has not taken its result. The owner asks.
    bool ticket_is_out() const noexcept { return issued_ == version() && !was_consumed(); }
    bool was_consumed() const noexcept { return (look() & consumed) != 0; }
    /// Whether somebody waits, or what is there is on its way to him.
    bool has_waiter() const noexcept { return (look() & (waiting | consumed)) == waiting; }
    bool was_detached() const noexcept { return (look() & detached) != 0; }
    /// The owner of a completed core goes away; false: the ticket is used up, recycle at once.
    bool leave_to_consumer() noexcept;

    void disarm_deadline() noexcept {
        if ((marks() & touched) != 0 && timer_.armed()) [[unlikely]] {
            home_->disarm(timer_);
            timer_.in_use.store(false, std::memory_order_release);
        }
    }
    /// Whether the home queue still has something of this core, from a deadline or a request of its
    /// last operation. A tied core must not move to another queue. Any thread, while nobody has the
    /// core.
    bool tied() const noexcept {
        return control_.wanted.load(std::memory_order_acquire) != 0 ||
               timer_.in_use.load(std::memory_order_acquire);
    }
    /// After `run` was borrowed for something else.
    void run_as_continuation() noexcept { run = &run_posted; }

private:
    std::uint64_t checked(std::uint32_t version) const {
        const std::uint64_t seen = look();
        if (static_cast<std::uint32_t>(seen >> 32) != version) [[unlikely]]
            stale_use();
        return seen;
    }
    void settle(std::uint64_t before) {
        if ((before & waiting) != 0)
            deliver();
        else if ((before & detached) != 0) [[unlikely]]
            discard_alone(static_cast<std::uint32_t>(before >> 32));
    }
    void deliver() {
        resume_queue* queue = target_;
        if (mode_ == resume_mode::inline_ &&
            (queue == nullptr || (queue->running_here() && queue->spend_one()))) {
            if (dropped_) [[unlikely]] // by what the result's constructor ran
                discard_unclaimed();
            else
                waiter_(*this, true);
        } else {
            queue->post(*this);
        }
    }
    void deliver_local() {
        const std::uintptr_t local = local_.load(std::memory_order_relaxed);
        if (mode_ == resume_mode::inline_ && local_queue_->spend_one_alone()) [[likely]] {
            coroutine_at(local).resume();
        } else {
            local_.store(local | on_its_way, std::memory_order_relaxed);
            local_queue_->post_here(*this);
        }
    }
    /// Where nothing can have been taken yet.
    bool has_local() const noexcept { return local_.load(std::memory_order_relaxed) != 0; }
    static std::coroutine_handle<> coroutine_at(std::uintptr_t local) noexcept {
        return std::coroutine_handle<>::from_address(reinterpret_cast<void*>(local));
    }
    void local_to_waiter() noexcept {
        waiter_ = &resume_coroutine;
        address_ = reinterpret_cast<void*>(local_.load(std::memory_order_relaxed) & ~on_its_way);
        local_.store(0, std::memory_order_relaxed);
    }
    std::uint64_t move_to_word(std::uint64_t bits) noexcept;
    void publish_in_word(claim won);
    void give_up_delivery() noexcept;
    void drop_posted() noexcept;
    void owner_left() noexcept;
    void answer_for_waiter(bool invoke);
    static void resume_coroutine(source_core& self, bool invoke);
    static void run_posted(ready_node& self, bool invoke);
    static void run_control(ready_node& self, bool invoke);
    static void deadline_expired(timer_node& timer, bool invoke);
    void ask_home(std::uint32_t version, std::uint64_t what) noexcept;
    void answer(std::uint64_t asked, bool invoke);
    void start_timer(std::uint32_t version, time_point when);
    bool take_alone(std::uint32_t version, std::uint64_t how) noexcept;
    void discard_unclaimed() noexcept;
    void discard_alone(std::uint32_t version) noexcept;
    void restore_settings() noexcept;
    void set_target(resume_queue& queue) noexcept;
    void drop_target() noexcept;
    [[noreturn]] static void stale_use();
    [[noreturn]] static void second_use();
    [[noreturn]] static void not_takeable(std::uint64_t seen);
};

/// How a result of type T travels in a core: in `word` when it fits there, else in the typed core.
template <class T>
inline constexpr bool travels_in_word =
    std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> && sizeof(T) <= 8;
template <>
inline constexpr bool travels_in_word<void> = true;

} // namespace sluice::completion
