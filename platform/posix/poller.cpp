#include <sluice/platform/posix/poller.hpp>

#include <sluice/platform/linux/unseekable.hpp>
#include <sluice/platform/posix/file_handle.hpp>
#include <sluice/platform/posix/helper_thread.hpp>
#include <sluice/platform/posix/system_calls.hpp>
#include <sluice/platform/posix/watch_table.hpp>
#include <sluice/platform/transfer.hpp>

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <thread>

namespace sluice::platform {

namespace {

// operation::stage while the poller has the operation; guarded by the poller's mutex.
constexpr std::uint8_t waiting = 1;
constexpr std::uint8_t attempting = 2;           ///< the thread is in the call, unlocked
constexpr std::uint8_t attempting_cancelled = 3; ///< the same, and it is the last attempt
constexpr std::uint8_t over = 4;

/// One attempt copies at most this much, one file gets at most so many before the others have their
/// turn.
constexpr std::size_t largest_attempt = 256 * 1024;
constexpr int most_attempts = 16;

constexpr int wake_mark = -1; ///< the wake descriptor among epoll's answers

completion_inbox& inbox_of(const operation& op) noexcept {
    return *reinterpret_cast<completion_inbox*>(static_cast<std::uintptr_t>(op.tag));
}

operation_list& list_of(watch& file, const operation& op) noexcept {
    return op.code == opcode::read ? file.reads : file.writes;
}

} // namespace

struct poller::state {
    std::mutex mutex;
    watch_table watches;
    int epoll = -1;
    int wake = -1;
    bool stopping = false;
    std::thread thread;

    ~state() {
        if (epoll >= 0)
            sys::close(epoll);
        if (wake >= 0)
            sys::close(wake);
    }

    long open() noexcept;
    long arm(int descriptor) noexcept;
    void finish(operation& op) noexcept;
    bool attempt(std::unique_lock<std::mutex>& lock, operation& op) noexcept;
    void serve(std::unique_lock<std::mutex>& lock, operation_list& list) noexcept;
    void serve_file(int descriptor, std::uint32_t events) noexcept;
    void fail_all(operation_list& list, long error) noexcept;
    void run() noexcept;
};

long poller::state::open() noexcept {
    epoll = static_cast<int>(sys::epoll_new());
    if (epoll < 0)
        return epoll;
    wake = static_cast<int>(sys::event_new());
    if (wake < 0)
        return wake;
    ::epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = wake_mark;
    if (const long failed = sys::epoll_change(epoll, EPOLL_CTL_ADD, wake, event); failed < 0)
        return failed;
    const auto body = [](void* self) noexcept { static_cast<state*>(self)->run(); };
    return start_thread(thread, "sluice-poller", body, this);
}

/// Asks for one report on what is waited for, also while the thread is inside epoll_wait. A
/// registration that is left over from an operation that was cancelled, or from a file that had
/// this number before, costs at most a needless attempt, which does not wait.
long poller::state::arm(int descriptor) noexcept {
    watch& file = watches[descriptor];
    ::epoll_event event{};
    event.events = EPOLLONESHOT;
    if (!file.reads.empty())
        event.events |= EPOLLIN;
    if (!file.writes.empty())
        event.events |= EPOLLOUT;
    event.data.fd = descriptor;
    long changed = -ENOENT;
    if (file.registered)
        changed = sys::epoll_change(epoll, EPOLL_CTL_MOD, descriptor, event);
    if (changed == -ENOENT)
        changed = sys::epoll_change(epoll, EPOLL_CTL_ADD, descriptor, event);
    if (changed == -EEXIST)
        changed = sys::epoll_change(epoll, EPOLL_CTL_MOD, descriptor, event);
    file.registered = changed == 0;
    return changed;
}

/// The mutex is held; the operation is in no list and has its result. It may be gone afterwards.
void poller::state::finish(operation& op) noexcept {
    op.stage = over;
    inbox_of(op).push(op);
}

/// One attempt, made without the mutex. True: worth another one now.
bool poller::state::attempt(std::unique_lock<std::mutex>& lock, operation& op) noexcept {
    // RACE: cancel() against an attempt that is going on.
    //  - attempting | cancel: mark | lock: the mark is seen below, and this attempt is the last.
    //  - attempting | lock | cancel: the operation is over or waits again before cancel looks; one
    //    that waits ends there.
    // The bytes that the call transferred are reported either way: advance() knows of the mark.
    op.stage = attempting;
    op.ready = true;
    lock.unlock();
    const long raw = attempt_unseekable(op, std::min(next_size(op), largest_attempt), true);
    lock.lock();
    const bool cancelled = op.stage == attempting_cancelled;
    operation_list& list = list_of(watches[op.file->descriptor], op);
    if (advance(op, raw, cancelled) == next_step::finished) {
        list.erase(op);
        finish(op);
        return true;
    }
    op.stage = waiting;
    return raw > 0 || raw == -EINTR;
}

void poller::state::serve(std::unique_lock<std::mutex>& lock, operation_list& list) noexcept {
    for (int i = 0; i < most_attempts && !list.empty(); ++i)
        if (!attempt(lock, *list.front()))
            return;
}

void poller::state::fail_all(operation_list& list, long error) noexcept {
    while (!list.empty()) {
        operation& op = list.pop_front();
        op.result = op.code == opcode::read && op.done > 0 ? static_cast<long>(op.done) : error;
        finish(op);
    }
}

void poller::state::serve_file(int descriptor, std::uint32_t events) noexcept {
    std::unique_lock lock(mutex);
    watch& file = watches[descriptor];
    // The end of the other side wakes both directions; the attempt tells what it means.
    if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0)
        serve(lock, file.reads);
    if ((events & ~static_cast<std::uint32_t>(EPOLLIN)) != 0)
        serve(lock, file.writes);
    if (file.reads.empty() && file.writes.empty())
        return;
    if (const long failed = arm(descriptor); failed < 0) {
        fail_all(file.reads, failed);
        fail_all(file.writes, failed);
    }
}

void poller::state::run() noexcept {
    std::array<::epoll_event, 64> events;
    for (;;) {
        const long count = sys::epoll_wait(epoll, events.data(), static_cast<int>(events.size()));
        if (count < 0 && count != -EINTR) {
            // Cannot happen but under a script: slows down instead of spinning.
            static constexpr timespec pause{0, 1'000'000};
            sys::poll_one(wake, POLLIN, &pause);
        }
        for (long i = 0; i < count; ++i) {
            const ::epoll_event& event = events[static_cast<std::size_t>(i)];
            if (event.data.fd != wake_mark) {
                serve_file(event.data.fd, event.events);
                continue;
            }
            const std::lock_guard lock(mutex);
            if (stopping)
                return;
        }
    }
}

poller::poller() noexcept = default;

poller::~poller() {
    if (state_ == nullptr || !state_->thread.joinable())
        return;
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping = true;
    }
    sys::uninterrupted([this]() noexcept { return sys::event_signal(state_->wake); });
    state_->thread.join();
}

long poller::start() noexcept {
    std::unique_ptr<state> fresh(new (std::nothrow) state);
    if (fresh == nullptr)
        return -ENOMEM;
    if (const long failed = fresh->open(); failed < 0)
        return failed;
    state_ = std::move(fresh);
    return 0;
}

long poller::submit(operation& op, completion_inbox& inbox) noexcept {
    if (state_ == nullptr)
        if (const long failed = start(); failed < 0)
            return failed;
    const std::lock_guard lock(state_->mutex);
    const int descriptor = op.file->descriptor;
    if (!state_->watches.reserve(descriptor))
        return -ENOMEM;
    op.tag = reinterpret_cast<std::uintptr_t>(&inbox);
    op.stage = waiting;
    operation_list& list = list_of(state_->watches[descriptor], op);
    list.push_back(op);
    const long armed = state_->arm(descriptor);
    if (armed < 0)
        list.erase(op);
    return armed;
}

bool poller::cancel(operation& op) noexcept {
    if (state_ == nullptr)
        return false;
    const std::lock_guard lock(state_->mutex);
    if (op.stage == attempting)
        op.stage = attempting_cancelled;
    if (op.stage != waiting)
        return false;
    list_of(state_->watches[op.file->descriptor], op).erase(op);
    advance(op, -ECANCELED, true);
    state_->finish(op);
    return true;
}

void poller::forget_after_fork() noexcept {
    if (state_ == nullptr)
        return;
    // The child's descriptors stand for the parent's epoll: closed, never changed. The rest is the
    // parent's.
    state* const old = state_.release();
    sys::close(old->epoll);
    sys::close(old->wake);
}

} // namespace sluice::platform
