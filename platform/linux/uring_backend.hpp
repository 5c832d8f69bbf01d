// The ring's backend: everything of a loop turn goes to the kernel in one system call, completions
// come back from mapped memory. What the ring cannot do, and everything once it fails, goes to
// threads.
//
// Threads: as backend.hpp says. Ownership: an operation is in exactly one place, named by its stage
// while its path is `ring`; with any other path the threads have it.
#pragma once

#include <sluice/platform/backend.hpp>
#include <sluice/platform/fork_mutex.hpp>
#include <sluice/platform/linux/uring_setup.hpp>
#include <sluice/platform/linux/uring_tag.hpp>
#include <sluice/platform/linux/uring_wake_event.hpp>

#include <atomic>
#include <mutex>

namespace sluice::platform {

class uring_backend final : public backend {
public:
    explicit uring_backend(const backend_options& options);
    ~uring_backend() override;

    void submit(operation& op) noexcept override;
    bool try_now(request& r, inline_limits limits) noexcept override;
    void cancel(operation& op) noexcept override;
    void flush() noexcept override;
    void reap(operation_list& finished) noexcept override;
    void wait(clock::time_point until) noexcept override;
    void wake() noexcept override { wake_.wake(); }
    int wait_handle() noexcept override;
    backend_info capabilities() const override;

    void acquire(bool exclusive) noexcept override;
    void release() noexcept override;
    void forget_after_fork() noexcept override;

private:
    // uring_queue.cpp: from the lists into the ring, and wait()
    bool admits(std::size_t copied) const noexcept;
    void start(operation& op) noexcept;
    void start_aside(operation& op) noexcept;
    void issue(operation& op, std::size_t copied) noexcept;
    void count_issued(operation& op, std::size_t copied) noexcept;
    void issue_watched(operation& op) noexcept;
    void fill_ring() noexcept;
    void fill_cancels() noexcept;
    void fill_watched() noexcept;
    void arm_wake() noexcept;
    void take_back_pending() noexcept;
    bool enter_here(unsigned fewest, const __kernel_timespec* limit) noexcept;
    bool wait_ended(long answer, unsigned flags) noexcept;
    bool enter(unsigned fewest, const __kernel_timespec* limit) noexcept;
    bool wants_turn() const noexcept;

    // uring_completion.cpp: from the ring into the lists
    void reap_ring(operation_list& finished) noexcept;
    void take(std::uint64_t tag, int result, operation_list& finished) noexcept;
    operation& take_operation(std::uint64_t tag) noexcept;
    void leave_kernel(operation& op) noexcept;
    bool takes_detour(operation& op, long result) noexcept;
    void end_attempt(operation& op, long result, operation_list& finished) noexcept;
    void end_readiness(operation& op, int result, operation_list& finished) noexcept;
    void end_cancel(int result) noexcept;
    void finish(operation& op, operation_list& finished) noexcept;
    void finish_cancelled(operation& op, operation_list& finished) noexcept;

    // uring_ownership.cpp: which thread may enter the ring; acquire() to forget_after_fork()
    bool ready_ring() noexcept;
    void open_ring() noexcept;
    void close_ring() noexcept;
    void set_limits() noexcept;
    void recall_watched() noexcept;
    void register_handle() noexcept;

    // uring_fallback.cpp: life without a ring
    void fall_back(const uring::ring_outcome& failed) noexcept;
    void abandon_ring() noexcept;
    void restart_polls() noexcept;
    void strand() noexcept;
    void look_after_abandoned() noexcept;
    void revive_stranded() noexcept;
    void send_to_threads(operation& op, path_taken path) noexcept;
    void flush_threads() noexcept;
    void reap_threads(operation_list& finished) noexcept;
    void sleep_without_ring(clock::time_point until) noexcept;
    static void threads_finished(void* self) noexcept;
    void signal_handle() noexcept;

    const backend_options options_;
    uring::ring ring_;
    bool takes_entries_ = false; // the ring is open and this thread may fill it
    bool recalling_ = false;     // release() is taking operations back
    bool failed_ = false;        // threads do everything from now on
    bool draining_ = false;      // the ring is given up; what it finishes is still visible
    bool wake_armed_ = false;
    std::size_t batch_bytes_ = 0;    // copies of this turn so far
    unsigned disk_in_kernel_ = 0;    // operations that the device ends
    unsigned watched_in_kernel_ = 0; // operations on unseekable files: nobody knows when they end
    unsigned cancels_in_kernel_ = 0;
    unsigned disk_limit_ = 0;
    unsigned watched_limit_ = 0;
    unsigned cancel_limit_ = 0;

    operation_list waiting_;         // for room: disk
    operation_list waiting_watched_; // for room: unseekable files
    operation_list in_kernel_;
    operation_list to_cancel_; // in the kernel, their cancellation still without an entry
    operation_list finished_;  // without the ring's help; the next reap() takes them
    operation_list stranded_;  // in the hands of a ring that was given up
    int stranded_end_ = -1;    // hangs up when that ring has let go of them

    std::size_t ended_ = 0; // finished, and in_flight_ does not know yet

    bool exclusive_ = false;      // between acquire(true) and release()
    bool ring_exclusive_ = false; // the ring was made for that
    bool can_sync_ = true;
    int refusals_ = 0; // of io_uring_enter in a row
    unsigned rebinds_ = 0;
    std::uint64_t owner_ = 0; // the thread that a bound ring belongs to

    uring::wake_event wake_;
    std::atomic<int> handle_{-1}; // the eventfd of wait_handle()
    std::unique_ptr<backend> threads_;

    mutable fork_mutex info_guard_;
    bool info_known_ = false;
    backend_info info_;
};

} // namespace sluice::platform
