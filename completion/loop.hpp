// The loop of one context: its backend, the nodes that are ready to run, timers, and the pool of
// I/O sources.
//
// Threads: run* by one thread at a time (a second one throws); post, stop, work and the queries by
// any; the rest by the thread that runs the loop, or by any while nobody runs it and nothing is in
// flight.
#pragma once

#include <sluice/completion/io_source.hpp>
#include <sluice/completion/resume_queue.hpp>
#include <sluice/completion/statistics.hpp>
#include <sluice/completion/timer_heap.hpp>
#include <sluice/platform/backend.hpp>
#include <sluice/platform/fork_mutex.hpp>
#include <sluice/platform/tick_clock.hpp>

#include <atomic>
#include <memory>
#include <optional>

namespace boost::asio {
class execution_context;
}

namespace sluice::completion {

struct loop_options {
    platform::backend_options backend;
    resume_mode resume = resume_mode::inline_;
    inline_budget_limits budget;
    /// How long a call that cannot say "not now" may take to be made inline again; 0: none is.
    std::chrono::nanoseconds blocking_time = std::chrono::microseconds(50);
    bool may_block_inline() const noexcept { return blocking_time.count() > 0; }
};

/// What was lost without anybody to tell: called on the thread that loses it.
struct loss {
    const char* operation;
    const std::string* path; ///< null: unknown
    error_code code;
    std::size_t bytes;
};

class loop final : public resume_queue {
public:
    /// Kept in the pool; more go back to the process.
    static constexpr std::size_t most_idle_sources = 4096;

    explicit loop(const loop_options& options);

    // --- running ---
    /// See platform::backend::acquire.
    enum class waiting_rule : std::uint8_t { exclusive, shared };
    /// Runs until `until`, until stopped, until out of work, or until *done. Returns how many nodes
    /// and completions ran.
    std::size_t run_until(time_point until, waiting_rule rule, const bool* done = nullptr);
    /// Runs what is ready and returns.
    std::size_t poll() { return run_until(time_point::min(), waiting_rule::shared); }
    /// The right to run the loop, for longer than one run_until: one thread has it, a second one
    /// throws.
    class run_scope;
    std::size_t run_until(const run_scope&, time_point until, const bool* done);
    /// Takes back a node that was posted and not run. Within a run_scope of this thread.
    void withdraw(ready_node& node) noexcept;
    void stop() noexcept;
    bool stopped() const noexcept { return stopped_.load(std::memory_order_acquire); }
    void restart() noexcept { stopped_.store(false, std::memory_order_release); }

    void work_started() noexcept override { outside_work_.fetch_add(1, std::memory_order_relaxed); }
    void work_finished() noexcept override;

    /// Ends everything in flight, delivers nothing any more. Called once, by the context's
    /// destructor, in two steps: after end_operations() no buffer is in use; drop_posted() lets go
    /// of what waits to be run.
    void end_operations() noexcept;
    void drop_posted() noexcept;
    bool shut_down() const noexcept { return shut_down_.load(std::memory_order_acquire); }

    // --- for operations ---
    platform::backend& backend() noexcept { return *backend_; }
    const loop_options& options() const noexcept { return options_; }
    /// A fresh source with this mode, or the loop's own. Any thread.
    io_source& rent(resume_mode mode) {
        if (running_here() && has_idle_source()) [[likely]]
            return rent_idle(mode);
        io_source& source = rent_carefully();
        source.own_mode(mode);
        return source;
    }
    /// The same where it cannot fail: the loop's thread, and there is one in the pool.
    bool has_idle_source() const noexcept { return idle_ != nullptr; }
    io_source& rent_idle(resume_mode mode) noexcept {
        io_source& source = *idle_;
        idle_ = source.link;
        idle_count_ = idle_count_ - 1;
        source.own_mode(mode);
        return source;
    }
    io_source& rent() { return rent(options_.resume); }
    source_core* rent_core() override { return &rent(); }
    void give_back(io_source& source) noexcept;
    /// The source is admitted: it counts as work until it is completed. The loop's thread.
    void admit(io_source& source) noexcept {
        admitted_ = admitted_ + 1;
        source.admitted = true;
    }
    /// Hands the source's operation to the backend; operation.complete is called when it is over.
    void submit(io_source& source) noexcept {
        source.operation.started = clock_is_fresh_ ? turn_clock_ : read_clock();
        source.submitted = true;
        backend_->submit(source.operation);
    }
    /// Runs a node after the completions that were found together with this one. The loop's thread.
    void run_after_batch(ready_node& node) noexcept;
    void completed(io_source& source) noexcept {
        if (!source.admitted)
            return;
        source.admitted = false;
        admitted_ = admitted_ - 1;
    }
    /// Finishes an admitted source with its `word` in the next turn.
    void post_completion(io_source& source) noexcept;

    void arm(timer_node& timer, time_point when) override;
    void disarm(timer_node& timer) noexcept override { timers_.disarm(timer); }
    bool has_timers() const noexcept override { return true; }

    void retain() noexcept override { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept override;

    /// The context that this is the loop of; null once that is gone.
    boost::asio::execution_context* context() const noexcept {
        return context_.load(std::memory_order_acquire);
    }
    void context(boost::asio::execution_context* owner) noexcept {
        context_.store(owner, std::memory_order_release);
    }

    loop_counters counters;
    void count(operation_path path, std::size_t bytes) noexcept {
        counters.finished(path, bytes, running_here());
    }
    runtime_statistics statistics() const;
    void lost(const loss& what) noexcept;
    void on_lost(void (*handler)(void*, const loss&), void* context) noexcept;

    // --- fork ---
    /// Whether this process is a child that forked after the loop was made and did not say
    /// notify_fork.
    bool forked() const noexcept {
        return fork_generation_ != platform::fork_generation.load(std::memory_order_relaxed);
    }
    void after_fork_in_child() noexcept;

private:
    ~loop();

    void post_from_elsewhere(ready_node& node) noexcept override;
    bool take_posted() noexcept;
    std::size_t run_batch();
    std::size_t run_ready();
    std::size_t run_finished();
    std::size_t fire_timers();
    platform::tick_clock::ticks read_clock() noexcept {
        clock_is_fresh_ = true;
        return turn_clock_ = platform::tick_clock::now();
    }
    bool out_of_work() const noexcept;
    bool timer_is_due() const noexcept;
    std::size_t turn(time_point until, const bool* done);
    static void let_go_of(ready_node* first) noexcept;
    void drop_late_posts() noexcept;
    io_source& rent_carefully();
    void count_rented_elsewhere() noexcept;
    void take_over_idle() noexcept;
    void cancel_admitted() noexcept;

    loop_options options_;
    std::unique_ptr<platform::backend> backend_;
    platform::operation_list finished_; // reaped, not yet completed
    ready_node* batch_head_ = nullptr;  // continuations of the batch being completed
    ready_node* batch_tail_ = nullptr;
    timer_heap timers_;
    platform::relaxed<std::size_t> admitted_ = 0; // sources in flight
    platform::tick_clock::ticks turn_clock_ = 0;  // one reading for what a turn does together
    bool clock_is_fresh_ = false;
    io_source* idle_ = nullptr; // the pool of the thread that runs the loop
    platform::relaxed<std::size_t> idle_count_ = 0;
    std::size_t most_idle_ = most_idle_sources; // written with the mutex held
    platform::relaxed<std::size_t> kept_here_ = 0; // by that thread: idle, or rented by it

    std::atomic<ready_node*> posted_{nullptr}; // from other threads, last first
    std::atomic<long> outside_work_{0};
    std::atomic<bool> stopped_{false};
    std::atomic<bool> running_{false};
    std::atomic<bool> shut_down_{false};
    // The context is gone; each source that is still out holds a reference.
    std::atomic<bool> orphaned_{false};
    std::atomic<boost::asio::execution_context*> context_{nullptr};
    std::atomic<int> references_{1};
    unsigned fork_generation_ = platform::fork_generation.load(std::memory_order_relaxed);

    mutable platform::fork_mutex other_threads_; // guards what follows
    io_source* idle_for_others_ = nullptr;
    std::size_t idle_for_others_count_ = 0;
    platform::intrusive_list<io_source::list_entry> sources_; // all, idle or out
    std::size_t rented_elsewhere_ = 0;
    void (*on_lost_)(void*, const loss&) = nullptr;
    void* on_lost_context_ = nullptr;
};

class loop::run_scope {
public:
    run_scope(loop& running, waiting_rule rule);
    ~run_scope();
    run_scope(const run_scope&) = delete;
    run_scope& operator=(const run_scope&) = delete;

private:
    loop& loop_;
    bool exclusive_;
    std::optional<running_scope> scope_;
};

} // namespace sluice::completion
