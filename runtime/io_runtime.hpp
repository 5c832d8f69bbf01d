// The native context: a real Asio execution context whose loop waits for file operations (io_uring
// or threads), timers and posted work. No reactor: sockets in it work through Asio's own helper
// thread.
//
// Threads: run(), run_for(), poll() and sync_wait() by one thread at a time, a second one throws
// invalid_operation; stop(), the executor and everything posted through it by any. Several
// runtimes, one per core, is how to use more.
#pragma once

#include <sluice/completion/loop.hpp>
#include <sluice/runtime/handler_node.hpp>
#include <sluice/runtime/runtime_options.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace sluice {

struct root_registry;

class io_runtime : public boost::asio::execution_context {
public:
    class executor_type;

    /// Throws when options.backend names one that cannot be had; auto_ always finds one.
    explicit io_runtime(const runtime_options& options = {});
    /// Ends what is in flight: each operation is cancelled and waited for (reads and writes of
    /// files end with the disk), its continuation is destroyed and not run. Spawned tasks are
    /// destroyed; posted handlers too.
    ~io_runtime();
    io_runtime(const io_runtime&) = delete;
    io_runtime& operator=(const io_runtime&) = delete;

    /// Runs until there is no work left or stop(). Returns how many handlers and completions ran.
    /// What a handler throws leaves run(); what was completed already stays queued for the next
    /// run().
    std::size_t run();
    template <class Rep, class Period>
    std::size_t run_for(std::chrono::duration<Rep, Period> duration) {
        return run_until(completion::time_after(duration));
    }
    std::size_t run_until(std::chrono::steady_clock::time_point until);
    /// Runs what is ready, without waiting.
    std::size_t poll();
    void stop() noexcept { loop_->stop(); }
    bool stopped() const noexcept { return loop_->stopped(); }
    void restart() noexcept { loop_->restart(); }

    executor_type get_executor() noexcept;
    completion::loop& loop() const noexcept { return *loop_; }
    root_registry& roots() const noexcept { return *roots_; }

private:
    completion::loop* loop_;
    root_registry* roots_;
    std::function<void(const lost_report&)> on_lost_;
};

/// The executor of an io_runtime: cheap to copy, equal when of one runtime, usable as
/// any_io_executor.
class io_runtime::executor_type {
public:
    io_runtime& context() const noexcept { return *runtime_; }
    completion::loop& queue() const noexcept { return runtime_->loop(); }
    bool running_in_this_thread() const noexcept { return queue().running_here(); }

    executor_type(const executor_type& other) noexcept
        : runtime_(other.runtime_), never_blocks_(other.never_blocks_),
          tracks_work_(other.tracks_work_) {
        if (tracks_work_)
            queue().work_started();
    }
    /// Takes the work along: Asio does not always destroy what it has moved from.
    executor_type(executor_type&& other) noexcept
        : runtime_(other.runtime_), never_blocks_(other.never_blocks_),
          tracks_work_(std::exchange(other.tracks_work_, false)) {}
    executor_type& operator=(executor_type other) noexcept {
        std::swap(runtime_, other.runtime_);
        std::swap(never_blocks_, other.never_blocks_);
        std::swap(tracks_work_, other.tracks_work_);
        return *this;
    }
    ~executor_type() {
        if (tracks_work_)
            queue().work_finished();
    }

    template <class Function>
    void execute(Function&& function) const {
        if (!never_blocks_ && running_in_this_thread()) {
            std::decay_t<Function> now(std::forward<Function>(function));
            now();
            return;
        }
        queue().post(*handler_node<std::decay_t<Function>>::make(std::forward<Function>(function)));
    }

    // Properties, see Asio's documentation of execution.
    using blocking_t = boost::asio::execution::blocking_t;
    using relationship_t = boost::asio::execution::relationship_t;
    using outstanding_work_t = boost::asio::execution::outstanding_work_t;

    io_runtime& query(boost::asio::execution::context_t) const noexcept { return *runtime_; }
    static constexpr boost::asio::execution::mapping_t
    query(boost::asio::execution::mapping_t) noexcept {
        return boost::asio::execution::mapping.thread;
    }
    blocking_t query(blocking_t) const noexcept {
        return never_blocks_ ? blocking_t(blocking_t::never) : blocking_t(blocking_t::possibly);
    }
    static constexpr relationship_t query(relationship_t) noexcept { return relationship_t::fork; }
    outstanding_work_t query(outstanding_work_t) const noexcept {
        return tracks_work_ ? outstanding_work_t(outstanding_work_t::tracked)
                            : outstanding_work_t(outstanding_work_t::untracked);
    }
    executor_type require(blocking_t::possibly_t) const noexcept {
        return {*runtime_, false, tracks_work_};
    }
    executor_type require(blocking_t::never_t) const noexcept {
        return {*runtime_, true, tracks_work_};
    }
    executor_type require(relationship_t::fork_t) const noexcept { return *this; }
    executor_type require(relationship_t::continuation_t) const noexcept { return *this; }
    executor_type require(outstanding_work_t::tracked_t) const noexcept {
        return {*runtime_, never_blocks_, true};
    }
    executor_type require(outstanding_work_t::untracked_t) const noexcept {
        return {*runtime_, never_blocks_, false};
    }

    friend bool operator==(const executor_type& a, const executor_type& b) noexcept {
        return a.runtime_ == b.runtime_ && a.never_blocks_ == b.never_blocks_ &&
               a.tracks_work_ == b.tracks_work_;
    }
    friend bool operator!=(const executor_type& a, const executor_type& b) noexcept {
        return !(a == b);
    }

private:
    friend class io_runtime;
    executor_type(io_runtime& runtime, bool never_blocks, bool tracks_work) noexcept
        : runtime_(&runtime), never_blocks_(never_blocks), tracks_work_(tracks_work) {
        if (tracks_work_)
            queue().work_started();
    }

    io_runtime* runtime_;
    bool never_blocks_;
    bool tracks_work_;
};

inline io_runtime::executor_type io_runtime::get_executor() noexcept {
    return {*this, false, false};
}

/// Which backend a context uses, and why not the ring. Any thread; the first question of a process
/// may try a small ring.
backend_info backend(const boost::asio::execution_context& context);
inline backend_info backend(const io_runtime& runtime) {
    return runtime.loop().backend().capabilities();
}
/// Any thread; what runs meanwhile may be counted in part.
runtime_statistics statistics(const boost::asio::execution_context& context);
inline runtime_statistics statistics(const io_runtime& runtime) {
    return runtime.loop().statistics();
}
/// What this build and this machine have.
std::vector<backend_availability> available_backends();

} // namespace sluice
