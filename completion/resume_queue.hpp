// The executor as completion sees it: a place where continuations run, the budget of what may run
// there without going through its queue, and its timers.
//
// Threads: post() by any; spend() and the budget only where running_here() is true. Several threads
// may run the queue of a foreign executor at once, only one at a time that of a loop.
#pragma once

#include <sluice/completion/queue_place.hpp>
#include <sluice/completion/timer_node.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sluice::completion {

/// Something that waits in a queue. Intrusive: posting allocates nothing.
struct ready_node {
    ready_node* next = nullptr;
    /// `invoke` false: the queue is shutting down; let go of what the node holds and do not run
    /// user code.
    void (*run)(ready_node& self, bool invoke) = nullptr;
};

class source_core;

struct inline_budget_limits {
    /// In a row, before one is posted; 0: everything goes through the backend.
    std::int32_t completions = 64;
    /// Copied in a row, before one is posted.
    std::int64_t bytes = 1024 * 1024;
};

class resume_queue {
public:
    enum class runners : std::uint8_t { one, several };

    /// `at_once`: how many threads may run it at the same time.
    explicit resume_queue(runners at_once)
        : runs_alone_(at_once == runners::one), place_(queue_place::take(*this)),
          generation_(place_.generation) {}
    resume_queue(const resume_queue&) = delete;
    resume_queue& operator=(const resume_queue&) = delete;

    /// Whether this thread is running this queue at the moment.
    bool running_here() const noexcept { return current_ == this; }
    /// The same, and no other thread can be running it.
    bool alone_here() const noexcept { return alone_here(this); }
    static bool alone_here(const resume_queue* queue) noexcept { return alone_ == queue; }
    /// Whether it is run by one thread at a time: running_here() and alone_here() are the same.
    bool runs_alone() const noexcept { return runs_alone_; }

    /// Runs the node later, on the thread that runs this queue. Any thread.
    void post(ready_node& node) noexcept {
        if (alone_here())
            post_here(node);
        else
            post_from_elsewhere(node);
    }
    /// The same behind what other threads have posted, also where alone_here().
    void post_behind(ready_node& node) noexcept { post_from_elsewhere(node); }
    /// The same as post() where alone_here().
    void post_here(ready_node& node) noexcept {
        node.next = nullptr;
        (ready_head_ != nullptr ? ready_tail_->next : ready_head_) = &node;
        ready_tail_ = &node;
    }

    /// Where it is for as long as it lives, and as the how-manieth.
    queue_place& place() const noexcept { return place_; }
    std::uint32_t generation() const noexcept { return generation_; }

    /// Counts one synchronous or inline completion of `bytes`. False: this one has to be posted,
    /// and the counter starts again; so a stream that is always ready starves nobody, and the stack
    /// stays bounded.
    bool spend(std::size_t bytes) noexcept {
        const std::int64_t left = load(bytes_left_) - static_cast<std::int64_t>(bytes);
        const std::int32_t completions = load(completions_left_) - 1;
        store(bytes_left_, left);
        store(completions_left_, completions);
        if (completions > 0 && left > 0) [[likely]]
            return true;
        refill();
        return false;
    }
    /// The same for one that copied nothing.
    bool spend_one() noexcept {
        const std::int32_t completions = load(completions_left_) - 1;
        store(completions_left_, completions);
        if (completions > 0) [[likely]]
            return true;
        refill();
        return false;
    }
    /// The same where alone_here().
    bool spend_one_alone() noexcept {
        if (--completions_left_ > 0) [[likely]]
            return true;
        refill();
        return false;
    }
    /// How much one inline attempt may copy now.
    std::size_t bytes_left() const noexcept {
        const std::int64_t left = load(bytes_left_);
        return left > 0 ? static_cast<std::size_t>(left) : 0;
    }
    bool inline_allowed() const noexcept { return limits_.completions > 0; }

    /// Fires timer.expired on this queue at `when`. Only where running_here(), as disarm.
    virtual void arm(timer_node& timer, time_point when) = 0;
    virtual void disarm(timer_node& timer) noexcept = 0;
    virtual bool has_timers() const noexcept = 0;

    /// Work that is not an operation: run() goes on while there is some. Any thread.
    virtual void work_started() noexcept {}
    virtual void work_finished() noexcept {}

    /// A core for a result that is known already; null: this queue has none to rent.
    virtual source_core* rent_core() { return nullptr; }

    /// A queue that lives on the heap for the operations that use it (executors other than the
    /// native ones).
    virtual void retain() noexcept {}
    virtual void release() noexcept {}

protected:
    ~resume_queue() { place_.leave(); }
    virtual void post_from_elsewhere(ready_node& node) noexcept = 0;

    void set_budget(inline_budget_limits limits) noexcept {
        limits_ = limits;
        refill();
    }
    void refill() noexcept {
        store(completions_left_, limits_.completions);
        store(bytes_left_, limits_.bytes);
    }

    /// Makes this thread one that runs the queue, for as long as the object lives.
    class running_scope {
    public:
        explicit running_scope(resume_queue& queue) noexcept
            : previous_(current_), previous_alone_(alone_) {
            current_ = &queue;
            if (queue.runs_alone())
                alone_ = &queue;
            else
                alone_ = &nobody_;
        }
        ~running_scope() {
            current_ = previous_;
            alone_ = previous_alone_;
        }
        running_scope(const running_scope&) = delete;
        running_scope& operator=(const running_scope&) = delete;

    private:
        resume_queue* previous_;
        const void* previous_alone_;
    };
    /// A reference for the time of a call that may run what holds the last one.
    class keep_alive {
    public:
        explicit keep_alive(resume_queue& queue) noexcept : queue_(queue) { queue.retain(); }
        ~keep_alive() { queue_.release(); }
        keep_alive(const keep_alive&) = delete;
        keep_alive& operator=(const keep_alive&) = delete;

    private:
        resume_queue& queue_;
    };

    ready_node* ready_head_ = nullptr;
    ready_node* ready_tail_ = nullptr;

private:
    static inline thread_local constinit resume_queue* current_ = nullptr;
    static constexpr char nobody_ = 0; ///< differs from every queue and from null
    static inline thread_local constinit const void* alone_ = &nobody_;

    const bool runs_alone_;
    queue_place& place_;
    const std::uint32_t generation_;

    // Several threads may run the queue of a thread pool's executor, and count together: relaxed.
    // One that is alone needs no atomic access, which compilers do not merge with an addition.
    template <class T>
    static T load(T& counter) noexcept {
        return std::atomic_ref<T>(counter).load(std::memory_order_relaxed);
    }
    template <class T>
    static void store(T& counter, T value) noexcept {
        std::atomic_ref<T>(counter).store(value, std::memory_order_relaxed);
    }
    mutable std::int32_t completions_left_ = 64;
    mutable std::int64_t bytes_left_ = 1024 * 1024;
    inline_budget_limits limits_;
};

} // namespace sluice::completion
