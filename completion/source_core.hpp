// The life of one operation after submission: one state word, the result, the continuation. Value
// tasks are tickets on a core; completion sources and the I/O sources of a loop own one.
//
// Threads: one party completes, one party holds the ticket, on any threads; the state word decides
// between them. Memory: cores are type-stable (never returned to the system), so that a stale
// ticket meets a newer version and not freed memory.
#pragma once

#include <sluice/completion/cancel_reason.hpp>
#include <sluice/completion/failure.hpp>
#include <sluice/completion/resume_mode.hpp>
#include <sluice/completion/resume_queue.hpp>

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace sluice::completion {

class source_core : public ready_node {
public:
    /// What differs between kinds of cores; each returns at once.
    struct verbs {
        void (*give_back)(source_core&) noexcept; ///< the result was consumed: recycle. Any thread
        void (*cancel)(source_core&,
                       cancel_reason) noexcept; ///< ask the operation to end. Home queue only
        void (*discard)(source_core&) noexcept; ///< destroy a result that nobody takes. Any thread
    };

    // RACE: the state word. Bits below, the version in the upper half. `register` is the ticket's
    // side, `complete` the completer's side.
    //  - register, then complete: register sets `waiting`; complete sees it and delivers.
    //  - complete, then register: complete sets `done` and never touches the core again; register
    //  fails on `done`
    //    and the awaiting side goes on without suspending.
    //  - register between claim and publish: register adds `waiting` to `claimed`; publishing sees
    //  it and delivers. Whoever comes second acts, exactly one does.
    //  - detach (ticket dropped) is one more thing that can be registered: complete sees it and
    //  recycles.
    // Completing adds `done` and takes no bit away: `waiting` goes on saying that a continuation
    // was registered, so that neither a second ticket nor the owner takes what is on its way to it.
    // After its addition a completer touches the core only when it delivers, and then the consumer
    // cannot have it yet.
    static constexpr std::uint64_t waiting = 1;   ///< a continuation is registered
    static constexpr std::uint64_t claimed = 2;   ///< a completer is writing the result
    static constexpr std::uint64_t done = 4;      ///< the result is there
    static constexpr std::uint64_t detached = 8;  ///< the ticket is gone
    static constexpr std::uint64_t consumed = 16; ///< the result was taken
    static constexpr std::uint64_t owner_gone =
        32; ///< the completion_source is gone, the consumer recycles
    static constexpr std::uint64_t version_step = std::uint64_t{1} << 32;

    using waiter_function = void (*)(source_core& self, bool invoke);
    static constexpr std::size_t handler_space = 64;

    explicit source_core(const verbs& kind) noexcept : kind_(&kind) {
        run = &run_posted;
        control_.run = &run_control;
        control_.core = this;
        timer_.expired = &deadline_expired;
        timer_.core = this;
    }
    source_core(const source_core&) = delete;
    source_core& operator=(const source_core&) = delete;

    std::uint32_t version() const noexcept {
        return static_cast<std::uint32_t>(state_.load(std::memory_order_relaxed) >> 32);
    }

    // --- the ticket's side ---

    bool is_done(std::uint32_t version) const {
        return (checked(version, std::memory_order_acquire) & done) != 0;
    }

    /// False: already done. Throws invalid_operation on stale and second use. `registered` is true
    /// before another thread can resume, and false again when this returns false or throws.
    bool register_waiter(std::uint32_t version, waiter_function waiter, void* address,
                         bool& registered) {
        std::uint64_t seen = checked(version, std::memory_order_acquire);
        if ((seen & (waiting | consumed | detached)) != 0) [[unlikely]]
            second_use();
        waiter_ = waiter;
        address_ = address;
        registered = true;
        while ((seen & done) == 0)
            if (state_.compare_exchange_weak(seen, seen | waiting, std::memory_order_acq_rel,
                                             std::memory_order_acquire))
                return true;
        registered = false;
        return false;
    }

    /// Throws unless the result of this version is there and may be taken: not yet taken, and not
    /// on its way to a continuation, unless that is the one that asks.
    void check_takeable(std::uint32_t version, bool by_continuation) const {
        const std::uint64_t seen = checked(version, std::memory_order_acquire);
        const std::uint64_t mask = by_continuation ? done | consumed : done | consumed | waiting;
        if ((seen & mask) != done) [[unlikely]]
            not_takeable(seen);
    }
    bool failed() const noexcept { return failed_; }
    const failure& why() const noexcept { return failure_; }

    /// The result was moved out, or the failure read: recycles, or leaves it to the owner.
    void consume() noexcept {
        if (!owned_) {
            kind_->give_back(*this);
        } else if (delivered_inline_) {
            // The owner is inside the call that delivers: nobody else looks at the word.
            state_.store(state_.load(std::memory_order_relaxed) | consumed,
                         std::memory_order_release);
        } else if ((state_.fetch_or(consumed, std::memory_order_acq_rel) & owner_gone) != 0) {
            kind_->give_back(*this);
        }
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
        checked(version, std::memory_order_relaxed);
        mode_ = mode;
    }
    void override_target(std::uint32_t version, resume_queue& queue) {
        checked(version, std::memory_order_relaxed);
        set_target(queue);
    }
    /// For the awaiting coroutine that brings its own queue along; takes no reference.
    void redirect(resume_queue* queue) noexcept {
        if (!target_retained_)
            target_ = queue;
    }

    /// Throws unless a continuation may be registered for this version.
    void check_awaitable(std::uint32_t version) const {
        if ((checked(version, std::memory_order_relaxed) & (waiting | consumed | detached)) != 0)
            [[unlikely]]
            second_use();
    }
    /// Posts the continuation that register_waiter came too late for.
    void post_done();

    void* handler_storage() noexcept { return handler_; }

    // --- the completer's side ---

    enum class claim : std::uint8_t { refused, alone, with_waiter };

    /// Wins the right to write the result, where several may try.
    claim try_claim() noexcept {
        std::uint64_t seen = state_.load(std::memory_order_relaxed);
        while ((seen & (claimed | done)) == 0)
            if (state_.compare_exchange_weak(seen, seen | claimed, std::memory_order_acq_rel,
                                             std::memory_order_relaxed))
                return (seen & waiting) != 0 ? claim::with_waiter : claim::alone;
        return claim::refused;
    }

    void fail(failure why) noexcept {
        failure_ = std::move(why);
        failed_ = true;
    }

    /// The result is written; `won` is what try_claim said.
    void publish(claim won) {
        if (won == claim::with_waiter) {
            // A core that waits and is claimed changes no more: a plain store does.
            state_.store(state_.load(std::memory_order_relaxed) | done, std::memory_order_release);
            deliver(true);
        } else {
            settle(state_.fetch_add(done, std::memory_order_acq_rel), true);
        }
    }
    /// The same, not within a call of the owner, who may be letting go of the core meanwhile.
    void publish_from_outside() {
        settle(state_.fetch_add(done, std::memory_order_acq_rel), false);
    }

    /// The result is written and nobody else can complete any more. An addition, because it is the
    /// one read-modify-write that sets a bit and tells the others without a loop.
    void complete_sole() { settle(state_.fetch_add(done, std::memory_order_acq_rel), false); }

    /// The same from a loop: a continuation that may run inline on this very queue is handed to
    /// `after_batch`, so that every completion found together is done before the first continuation
    /// runs.
    template <class AfterBatch>
    void complete_in_batch(AfterBatch after_batch) noexcept {
        const std::uint64_t before = state_.fetch_add(done, std::memory_order_acq_rel);
        if ((before & waiting) == 0) {
            if ((before & detached) != 0) [[unlikely]]
                discard_unclaimed();
        } else if (mode_ == resume_mode::inline_ && target_ == home_) {
            after_batch(*this);
        } else {
            target_->post(*this);
        }
    }

    // --- the owner's side ---

    /// A new operation: a new version, every setting of the old one forgotten. The caller owns the
    /// core.
    void renew() noexcept {
        const std::uint64_t next_version =
            (state_.load(std::memory_order_relaxed) & ~(version_step - 1)) + version_step;
        if (failed_) [[unlikely]]
            forget_failure();
        if (target_retained_) [[unlikely]]
            drop_target();
        target_ = home_;
        mode_ = own_mode_;
        delivered_inline_ = false;
        dropped_ = false;
        issued_ = false;
        state_.store(next_version, std::memory_order_release);
    }
    std::uint64_t state() const noexcept { return state_.load(std::memory_order_acquire); }
    /// The owner hands out a ticket on this version.
    void issue() noexcept { issued_ = true; }
    /// Whether there is a ticket that has not taken its result. The owner asks.
    bool ticket_is_out() const noexcept { return issued_ && (state() & consumed) == 0; }
    /// The owner of a completed core goes away; false: the ticket is used up, recycle at once.
    bool leave_to_consumer() noexcept;

    void disarm_deadline() noexcept {
        if (timer_.armed()) [[unlikely]] {
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

    resume_mode own_mode() const noexcept { return own_mode_; }
    void own_mode(resume_mode mode) noexcept { own_mode_ = mode_ = mode; }
    bool was_detached() const noexcept { return (state() & detached) != 0; }
    resume_queue* home() const noexcept { return home_; }
    resume_queue* target() const noexcept { return target_; }
    void set_home(resume_queue* queue) noexcept { home_ = target_ = queue; }
    void run_as_continuation() noexcept {
        run = &run_posted;
    } ///< after `run` was borrowed for something else
    void become(const verbs& kind) noexcept {
        kind_ = &kind;
    } ///< a core out of a slab that several kinds share
    void set_owned(bool owned) noexcept { owned_ = owned; }

    std::uint64_t word = 0; ///< the result of types that fit in it; see result_traits

private:
    std::uint64_t checked(std::uint32_t version, std::memory_order order) const {
        const std::uint64_t seen = state_.load(order);
        if (static_cast<std::uint32_t>(seen >> 32) != version) [[unlikely]]
            stale_use();
        return seen;
    }
    void settle(std::uint64_t before, bool by_owner) {
        if ((before & waiting) != 0)
            deliver(by_owner);
        else if ((before & detached) != 0) [[unlikely]]
            discard_unclaimed();
    }
    void deliver(bool by_owner) {
        resume_queue* queue = target_;
        if (mode_ == resume_mode::inline_ &&
            (queue == nullptr || (queue->running_here() && queue->spend(0)))) {
            delivered_inline_ = by_owner;
            waiter_(*this, true);
        } else {
            queue->post(*this);
        }
    }
    static void run_posted(ready_node& self, bool invoke);
    static void run_control(ready_node& self, bool invoke);
    static void deadline_expired(timer_node& timer, bool invoke);
    void ask_home(std::uint32_t version, std::uint64_t what) noexcept;
    void answer(std::uint64_t asked);
    void start_timer(std::uint32_t version, time_point when);
    void discard_unclaimed() noexcept;
    void forget_failure() noexcept;
    void set_target(resume_queue& queue) noexcept;
    void drop_target() noexcept;
    [[noreturn]] static void stale_use();
    [[noreturn]] static void second_use();
    [[noreturn]] static void not_takeable(std::uint64_t seen);

    std::atomic<std::uint64_t> state_{version_step};
    const verbs* kind_;
    waiter_function waiter_ = nullptr;
    void* address_ = nullptr;
    resume_queue* home_ = nullptr;
    resume_queue* target_ = nullptr;
    resume_mode own_mode_ = resume_mode::inline_;
    resume_mode mode_ = resume_mode::inline_;
    bool owned_ = false;            ///< a completion_source holds it
    bool issued_ = false;           ///< the completion_source made a ticket
    bool delivered_inline_ = false; ///< the consumer runs inside the owner's call that completes
    bool dropped_ = false;          ///< posted, and its ticket went away since
    bool failed_ = false;
    bool target_retained_ = false;

    // What another thread asks of the home queue: the version and what; 0 when there is nothing to
    // be answered and the node is not queued.
    struct control_node : ready_node {
        source_core* core = nullptr;
        std::atomic<std::uint64_t> wanted{0};
        std::atomic<std::int64_t> deadline{0};
    };
    control_node control_;
    struct deadline_timer : timer_node {
        source_core* core = nullptr;
        std::uint32_t version = 0;
        std::atomic<bool> in_use{false}; ///< armed, or its expiry is being handled
    };
    deadline_timer timer_;

    failure failure_;
    alignas(std::max_align_t) std::byte handler_[handler_space];

    friend void resume_coroutine(source_core& self, bool invoke);
};

/// The waiter function of a suspended coroutine. One that is not resumed any more takes its result
/// along when it is destroyed.
inline void resume_coroutine(source_core& self, bool invoke) {
    if (invoke)
        std::coroutine_handle<>::from_address(self.address_).resume();
    else
        self.state_.fetch_and(~source_core::waiting, std::memory_order_acq_rel);
}

/// How a result of type T travels in a core: in `word` when it fits there, else in the typed core.
template <class T>
inline constexpr bool travels_in_word =
    std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> && sizeof(T) <= 8;
template <>
inline constexpr bool travels_in_word<void> = true;

} // namespace sluice::completion
