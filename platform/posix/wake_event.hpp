// How other threads wake the one that reaps: an eventfd, written only when that thread sleeps or
// when somebody else (a reactor) watches the descriptor.
#pragma once

#include <atomic>
#include <chrono>

namespace sluice::platform {

class wake_event {
public:
    using clock = std::chrono::steady_clock;

    wake_event(); ///< throws file_error when there is no descriptor left
    wake_event(const wake_event&) = delete;
    wake_event& operator=(const wake_event&) = delete;
    ~wake_event();

    /// Any thread, after it published something (sequentially consistent) that the owner will look
    /// for.
    void notify() noexcept;

    /// The owner: sleeps until notify or `until`, unless has_work() says that there is something
    /// already.
    template <class HasWork>
    void sleep(clock::time_point until, HasWork has_work) noexcept {
        // RACE: sleep() against publish-and-notify(). Both sides write first and look second, all
        // four sequentially consistent, so at least one sees the other:
        //  - owner: sleeping_ = true | owner: has_work() | other: publish | other: sleeping_?
        //    The other sees true and writes the eventfd: ppoll returns.
        //  - other: publish | other: sleeping_? | owner: sleeping_ = true | owner: has_work()
        //    The other sees false and writes nothing; the owner sees the work and does not sleep.
        //  - any mix of the two: both see each other. The eventfd is written for nothing, and the
        //    next sleep returns early once.
        sleeping_.store(true, std::memory_order_seq_cst);
        if (!has_work())
            wait_for_signal(until);
        sleeping_.store(false, std::memory_order_seq_cst);
    }

    /// From now on every notify writes the descriptor, since its watcher does not call sleep().
    int watch() noexcept;
    /// The owner, before it looks for work: takes back the readability of a watched descriptor.
    void clear_watched() noexcept;

    /// In the child of a fork: an eventfd of its own under the same number; the old one is the
    /// parent's too.
    void forget_after_fork() noexcept;

private:
    void wait_for_signal(clock::time_point until) noexcept;
    void signal() noexcept;

    int descriptor_;
    std::atomic<bool> sleeping_{false};
    std::atomic<bool> watched_{false};
    std::atomic<bool> signalled_{false}; ///< watched, and written since it was last cleared
};

} // namespace sluice::platform
