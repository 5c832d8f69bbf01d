// What a source core consists of: the state word, the local waiter, the result, the settings.
//
// Threads: see the RACE blocks. Memory: cores are type-stable (never returned to the system), so
// that a stale ticket meets a newer version and not freed memory.
#pragma once

#include <sluice/completion/cancel_reason.hpp>
#include <sluice/completion/failure.hpp>
#include <sluice/completion/resume_mode.hpp>
#include <sluice/completion/resume_queue.hpp>
#include <sluice/platform/relaxed.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sluice::completion {

class alignas(64) core_state : public ready_node {
public:
    /// What differs between kinds of cores; each returns at once.
    struct verbs {
        /// The result was consumed: recycle. Any thread.
        void (*give_back)(source_core&) noexcept;
        /// Ask the operation of this version to end. Home queue only.
        void (*cancel)(source_core&, std::uint32_t version, cancel_reason) noexcept;
        /// Destroy a result that nobody takes. Any thread.
        void (*discard)(source_core&) noexcept;
    };

    // RACE: the state word. Bits below, the version in the upper half. `register` is the ticket's
    // side, `complete` the completer's side.
    //  - register, then complete: register sets `waiting`; complete sees it and delivers.
    //  - complete, then register: complete sets `done` and never touches the core again; register
    //    fails on `done` and the awaiting side goes on without suspending.
    //  - register between claim and publish: register adds `waiting` to `claimed`; publishing sees
    //    it and delivers. Whoever comes second acts, exactly one does.
    //  - detach (ticket dropped) is one more thing that can be registered: complete sees it and
    //    recycles.
    // Completing adds `done` and takes no bit away: `waiting` goes on saying that a continuation
    // was registered, so that neither a second ticket nor the owner takes what is on its way to it.
    // After its addition a completer touches the core only when it delivers, and then the consumer
    // cannot have it yet.
    //
    // RACE: two tickets of one version, which only the owner of a public source can make.
    //  - both find the result there, read or dropped, on any threads: the first that adds `taking`
    //    has it. It says the version too, as the first may have recycled the core meanwhile.
    //  - one is registered, by `waiting`: that one has it, and the other finds `waiting`. A
    //    callback for a result that is there already adds `waiting` as the others add `taking`.
    //  - dropped before the result is there: `detached`, for all of them; the completer adds
    //    `taking` before it discards.
    // An unowned core has one ticket, and none of this.
    //
    // RACE: the local waiter. A coroutine that awaits on the thread that alone runs the home queue
    // registers in `local_` and not in the word: no atomic operation. Only that thread writes
    // `local_` while the operation is on.
    //  - the completer is on that thread: it wins the claim in the word, finds the waiter and
    //    delivers. The word stays `claimed`, without `done`, and nobody else changes it from there
    //    on; the continuation takes the result and says so by `taken`.
    //  - the completer is on another thread: it asks the home queue for what is registered there
    //    (`ask_for_waiter`) before it publishes. The home queue moves a local waiter into the word,
    //    and from there on it is as above: moved before the addition of `done`, the completer
    //    delivers; after it, the home queue does.
    //  - registered after another thread's claim became visible: in the word. Before: the request
    //    comes to the home queue after the registration, because the claim comes before the
    //    request.
    //  - anything out of the ordinary (a failure, an owner or a ticket that goes away while the
    //    result is on its way) moves the waiter into the word first; see move_to_word.
    //  - the owner, on any thread, finds `taken` (it is released, and acquired by look()): the
    //    consumer has let go of the core.
    static constexpr std::uint64_t waiting = 1;   ///< a continuation is registered
    static constexpr std::uint64_t claimed = 2;   ///< a completer is writing the result
    static constexpr std::uint64_t done = 4;      ///< the result is there
    static constexpr std::uint64_t detached = 8;  ///< the ticket is gone
    static constexpr std::uint64_t consumed = 16; ///< the result was taken
    /// The completion_source is gone, the consumer recycles.
    static constexpr std::uint64_t owner_gone = 32;
    /// A ticket of several takes the result, or gives it up; then no other one does.
    static constexpr std::uint64_t taking = 64;
    static constexpr std::uint64_t version_step = std::uint64_t{1} << 32;

    using waiter_function = void (*)(source_core& self, bool invoke);
    static constexpr std::size_t handler_space = 64;

    /// The upper half of the word.
    std::uint32_t version() const noexcept {
        return static_cast<std::uint32_t>(state_.load(std::memory_order_relaxed) >> 32);
    }
    /// The word as if everything was registered and taken through it.
    std::uint64_t look() const noexcept {
        const std::uint64_t seen = state_.load(std::memory_order_acquire);
        const std::uintptr_t local = local_.load(std::memory_order_acquire);
        if (local == 0)
            return seen;
        return seen | (local == taken ? done | consumed : waiting);
    }
    bool failed() const noexcept { return (marks() & touched) != 0 && failed_; }
    const failure& why() const noexcept { return failure_; }
    resume_mode own_mode() const noexcept { return own_mode_; }
    void own_mode(resume_mode mode) noexcept { own_mode_ = mode_ = mode; }
    resume_queue* home() const noexcept { return home_; }
    resume_queue* target() const noexcept { return target_; }
    void set_home(resume_queue* queue) noexcept { home_ = target_ = local_queue_ = queue; }
    /// A core out of a slab that several kinds share.
    void become(const verbs& kind) noexcept { kind_ = &kind; }
    void set_owned(bool owned) noexcept {
        unmark(unowned);
        if (!owned)
            mark(unowned);
    }
    /// Whether this version has one ticket at most. To be asked before the version is looked at.
    bool has_one_ticket() const noexcept {
        return (marks_.load(std::memory_order_acquire) & unowned) != 0;
    }
    void* handler_storage() noexcept { return handler_; }

    /// Where a core goes when it is given back: a list of its pool, or the slab.
    enum class place : std::uint8_t { slab, own, shared };
    place goes_to() const noexcept { return goes_to_; }
    void goes_to(place where) noexcept {
        goes_to_ = where;
        unmark(elsewhere);
        if (where != place::own)
            mark(elsewhere);
    }
    /// The owner's choice; a pool has its own for the next one.
    void choose_mode(resume_mode mode) noexcept {
        own_mode(mode);
        mark(mode_chosen);
    }
    void forget_choice(resume_mode mode) noexcept {
        own_mode(mode);
        unmark(mode_chosen);
    }

protected:
    explicit core_state(const verbs& kind) noexcept : kind_(&kind) {}
    ~core_state() = default;

    // `local_`: the address of the coroutine, or one of these.
    static constexpr std::uintptr_t on_its_way = 1; ///< added: in the queue, its result is there
    static constexpr std::uintptr_t taken = 2;      ///< it has taken the result
    // `marks_`
    static constexpr std::uint8_t touched = 1;   ///< renew() has something to restore
    static constexpr std::uint8_t elsewhere = 2; ///< does not go to the own list of a pool
    static constexpr std::uint8_t mode_chosen = 4;
    static constexpr std::uint8_t unowned = 8; ///< no completion_source holds it
    // The side that registers and the side that fails may mark at once.
    void mark(std::uint8_t what) noexcept { marks_.fetch_or(what, std::memory_order_release); }
    void unmark(std::uint8_t what) noexcept {
        marks_.fetch_and(static_cast<std::uint8_t>(~what), std::memory_order_relaxed);
    }
    std::uint8_t marks() const noexcept { return marks_.load(std::memory_order_relaxed); }
    void touch() noexcept {
        if ((marks() & touched) == 0)
            mark(touched);
    }

    // What every completion touches is in one cache line, the rest of what many do in the next.
public:
    std::uint64_t word = 0; ///< the result of types that fit in it; see result_traits

protected:
    std::atomic<std::uint64_t> state_{version_step};
    std::atomic<std::uintptr_t> local_{0};
    resume_queue* local_queue_ = nullptr; ///< the home queue, when continuations run there
    const verbs* kind_;
    platform::relaxed<std::uint32_t> issued_ = 0; ///< the last version that has a ticket
    resume_mode mode_ = resume_mode::inline_;
    resume_mode own_mode_ = resume_mode::inline_;
    std::atomic<std::uint8_t> marks_{elsewhere | unowned};
    place goes_to_ = place::slab;

    resume_queue* home_ = nullptr;
    resume_queue* target_ = nullptr;
    bool failed_ = false;
    bool dropped_ = false; ///< posted, and its ticket went away since
    bool target_retained_ = false;
    waiter_function waiter_ = nullptr;
    void* address_ = nullptr;

public:
    void* keeper = nullptr; ///< the pool that it was made for

protected:
    // What a control node asks for.
    static constexpr std::uint64_t ask_to_cancel = 1;
    static constexpr std::uint64_t ask_for_deadline = 2;
    static constexpr std::uint64_t ask_for_waiter = 4;
    static constexpr std::uint64_t owner_leaves = 8;
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
};

} // namespace sluice::completion
