#include <sluice/platform/posix/worker_pool.hpp>

#include <sluice/platform/posix/file_handle.hpp>
#include <sluice/platform/posix/helper_thread.hpp>
#include <sluice/platform/transfer.hpp>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace sluice::platform {

namespace {

// operation::stage while the pool has the operation; guarded by the pool's mutex.
constexpr std::uint8_t queued = 1;
constexpr std::uint8_t running = 2;

unsigned limit_for(unsigned wanted) noexcept {
    return wanted != 0 ? wanted : std::clamp(std::thread::hardware_concurrency(), 2u, 16u);
}

completion_inbox& inbox_of(const operation& op) noexcept {
    return *reinterpret_cast<completion_inbox*>(static_cast<std::uintptr_t>(op.tag));
}

/// The operation may be gone when this returns.
void perform_and_push(operation& op) noexcept {
    completion_inbox& inbox = inbox_of(op);
    if (op.code == opcode::call)
        op.call(op);
    else
        perform_blocking(op);
    inbox.push(op);
}

} // namespace

struct worker_pool::state {
    std::mutex mutex;
    std::condition_variable arrived;
    operation_list queue;
    std::size_t queue_length = 0;
    std::size_t idle = 0; ///< threads without an operation, those that are just starting too
    bool stopping = false;
    std::vector<std::thread> threads;

    void enqueue(operation& op, completion_inbox& inbox) noexcept {
        op.tag = reinterpret_cast<std::uintptr_t>(&inbox);
        op.stage = queued;
        queue.push_back(op);
        ++queue_length;
    }

    operation& dequeue() noexcept {
        operation& op = queue.pop_front();
        --queue_length;
        op.stage = running;
        return op;
    }

    /// With the mutex held: as many threads as there are operations without one, while any can be
    /// started.
    void start_needed(unsigned limit) noexcept {
        std::size_t missing = queue_length > idle ? queue_length - idle : 0;
        for (; missing > 0 && threads.size() < limit; --missing) {
            std::thread worker;
            const auto body = [](void* self) noexcept { static_cast<state*>(self)->work(); };
            if (start_thread(worker, "sluice-worker", body, this) < 0)
                return;
            threads.push_back(std::move(worker)); // within the capacity
            ++idle;
        }
    }

    void work() noexcept {
        std::unique_lock lock(mutex);
        for (;; ++idle) { // counted as idle by who started it
            arrived.wait(lock, [this] { return !queue.empty() || stopping; });
            --idle;
            if (queue.empty())
                return;
            operation& op = dequeue();
            lock.unlock();
            perform_and_push(op);
            lock.lock();
        }
    }

    void hand_over(std::unique_lock<std::mutex>& lock, std::size_t count, unsigned limit) noexcept {
        start_needed(limit);
        if (threads.empty()) {
            // No thread at all could be started: late is better than never. The next submission
            // tries again.
            while (!queue.empty()) {
                operation& op = dequeue();
                lock.unlock();
                perform_and_push(op);
                lock.lock();
            }
            return;
        }
        const std::size_t sleepers = std::min(count, idle);
        lock.unlock();
        for (std::size_t i = 0; i < sleepers; ++i)
            arrived.notify_one();
    }
};

worker_pool::worker_pool(unsigned threads)
    : limit_(limit_for(threads)), state_(std::make_unique<state>()) {
    state_->threads.reserve(limit_);
}

worker_pool::~worker_pool() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping = true;
    }
    state_->arrived.notify_all();
    for (std::thread& worker : state_->threads)
        worker.join();
    assert(state_->queue.empty());
}

void worker_pool::submit(operation& op, completion_inbox& inbox) noexcept {
    std::unique_lock lock(state_->mutex);
    state_->enqueue(op, inbox);
    state_->hand_over(lock, 1, limit_);
}

void worker_pool::submit(operation_list& list, completion_inbox& inbox) noexcept {
    std::unique_lock lock(state_->mutex);
    std::size_t count = 0;
    for (; !list.empty(); ++count)
        state_->enqueue(list.pop_front(), inbox);
    if (count > 0)
        state_->hand_over(lock, count, limit_);
}

// RACE: cancel against the worker that takes the operation. Both decide under the mutex:
//  - cancel | dequeue: the stage was queued; it is out of the list before any worker looks, and
//    ends here.
//  - dequeue | cancel: the stage is running; the worker ends it, cancel touches nothing.
//  - dequeue | perform | push | cancel: the stage still says running, since it belongs to the
//    caller until it was reaped, and nobody else writes it.
bool worker_pool::cancel(operation& op) noexcept {
    {
        const std::lock_guard lock(state_->mutex);
        if (op.stage != queued)
            return false;
        state_->queue.erase(op);
        --state_->queue_length;
        op.stage = running;
    }
    advance(op, -ECANCELED, true); // what an inline attempt transferred before is reported
    inbox_of(op).push(op);
    return true;
}

void worker_pool::forget_after_fork() noexcept {
    // The mutex may be held, and the threads exist, in the parent only: none of it can be destroyed
    // here.
    static_cast<void>(state_.release());
    state_ = std::make_unique<state>();
    state_->threads.reserve(limit_);
}

unsigned worker_pool::thread_count() const noexcept {
    const std::lock_guard lock(state_->mutex);
    return static_cast<unsigned>(state_->threads.size());
}

unsigned worker_pool::idle_count() const noexcept {
    const std::lock_guard lock(state_->mutex);
    return static_cast<unsigned>(state_->idle);
}

} // namespace sluice::platform
