#include <sluice/platform/posix/thread_backend.hpp>

#include <sluice/platform/linux/no_wait.hpp>
#include <sluice/platform/posix/file_handle.hpp>
#include <sluice/platform/posix/poller.hpp>
#include <sluice/platform/posix/wake_event.hpp>
#include <sluice/platform/posix/worker_pool.hpp>
#include <sluice/platform/transfer.hpp>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <utility>

namespace sluice::platform {

namespace {

// operation::home.
constexpr std::uint8_t held_back = 1;
constexpr std::uint8_t at_workers = 2;
constexpr std::uint8_t at_poller = 3;
constexpr std::uint8_t over = 4;

bool transfers(const operation& op) noexcept {
    return op.code == opcode::read || op.code == opcode::write;
}

/// May never answer: watched by the poller, and not counted as in the system's hands.
bool may_never_answer(const operation& op) noexcept {
    return transfers(op) && !op.file->seekable;
}

class thread_backend final : public backend {
public:
    thread_backend(const backend_options& options, backend_info info)
        : info_(std::move(info)), most_running_(std::max(options.max_in_flight, 1u)),
          inbox_(&thread_backend::wake_up, this), workers_(options.worker_threads) {
        info_.kind = backend_kind::threads;
    }
    /// Part of another backend, which is woken instead.
    thread_backend(const backend_options& options, backend_info info,
                   completion_inbox::wake_function wake_owner, void* owner)
        : info_(std::move(info)), most_running_(std::max(options.max_in_flight, 1u)),
          inbox_(wake_owner, owner), workers_(options.worker_threads) {
        info_.kind = backend_kind::threads;
    }
    ~thread_backend() override { assert(in_flight_ == 0); }

    void submit(operation& op) noexcept override;
    bool try_now(request& r, inline_limits limits) noexcept override;
    void cancel(operation& op) noexcept override;
    void flush() noexcept override;
    void reap(operation_list& finished) noexcept override;
    void wait(clock::time_point until) noexcept override;
    void wake() noexcept override;
    int wait_handle() noexcept override;
    backend_info capabilities() const override { return info_; }
    void acquire(bool) noexcept override {} // any thread may submit and reap
    void release() noexcept override {}
    void forget_after_fork() noexcept override;

private:
    static void wake_up(void* self) noexcept {
        static_cast<thread_backend*>(self)->event_.notify();
    }

    void finish_here(operation& op, long raw_result) noexcept;

    backend_info info_;
    std::size_t most_running_;
    std::size_t running_ = 0; ///< with the workers
    operation_list held_;     ///< not handed over yet
    std::atomic<bool> woken_{false};
    wake_event event_;
    completion_inbox inbox_;
    // Last, so that their threads are gone before anything that they use.
    worker_pool workers_;
    poller poller_;
};

void thread_backend::submit(operation& op) noexcept {
    ++in_flight_;
    op.cancel_requested = false;
    if (transfers(op) && op.done >= op.size) {
        finish_here(op, 0);
        return;
    }
    op.path = path_taken::worker;
    // Where there is no way to watch a file it takes a worker, for as long as it likes.
    if (may_never_answer(op) && poller_.submit(op, inbox_) == 0) {
        op.home = at_poller;
        return;
    }
    op.home = held_back;
    held_.push_back(op);
}

bool thread_backend::try_now(request& r, inline_limits limits) noexcept {
    return try_request_now(r, limits);
}

void thread_backend::cancel(operation& op) noexcept {
    if (op.cancel_requested)
        return;
    op.cancel_requested = true;
    switch (op.home) {
    case held_back:
        held_.erase(op);
        finish_here(op, -ECANCELED);
        return;
    case at_poller: poller_.cancel(op); return;
    case at_workers: workers_.cancel(op); return;
    default: return;
    }
}

void thread_backend::flush() noexcept {
    operation_list batch;
    for (; !held_.empty() && running_ < most_running_; ++running_) {
        operation& op = held_.pop_front();
        op.home = at_workers;
        batch.push_back(op);
    }
    if (!batch.empty())
        workers_.submit(batch, inbox_);
}

void thread_backend::reap(operation_list& finished) noexcept {
    event_.clear_watched();
    operation_list arrived;
    in_flight_ -= inbox_.drain(arrived);
    for (const operation* op = arrived.front(); op != nullptr; op = arrived.after(*op))
        if (op->home == at_workers)
            --running_;
    finished.append(arrived);
    flush(); // there is room now
}

void thread_backend::wait(clock::time_point until) noexcept {
    flush();
    event_.sleep(until, [this]() noexcept {
        return !inbox_.empty() || woken_.load(std::memory_order_seq_cst);
    });
    woken_.store(false, std::memory_order_seq_cst);
}

void thread_backend::wake() noexcept {
    woken_.store(true, std::memory_order_seq_cst);
    event_.notify();
}

int thread_backend::wait_handle() noexcept {
    return event_.watch();
}

void thread_backend::forget_after_fork() noexcept {
    workers_.forget_after_fork();
    poller_.forget_after_fork();
    event_.forget_after_fork();
    operation_list parents;
    inbox_.drain(parents);
    held_.clear();
    in_flight_ = running_ = 0;
    woken_ = false;
}

/// Ends an operation that nobody else has, on the way that all take: wait() and the watcher notice
/// it.
void thread_backend::finish_here(operation& op, long raw_result) noexcept {
    advance(op, raw_result, true);
    op.home = over;
    inbox_.push(op);
}

} // namespace

std::unique_ptr<backend> make_thread_backend(const backend_options& options, backend_info why) {
    return std::make_unique<thread_backend>(options, std::move(why));
}

std::unique_ptr<backend> make_thread_backend(const backend_options& options, backend_info why,
                                             completion_inbox::wake_function wake, void* owner) {
    return std::make_unique<thread_backend>(options, std::move(why), wake, owner);
}

} // namespace sluice::platform
