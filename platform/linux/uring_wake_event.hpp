// Ends the sleep of the one thread that waits. An eventfd is written only when that thread really
// sleeps.
#pragma once

#include <atomic>
#include <chrono>

namespace sluice::platform::uring {

/// The time from now to `until`; false when it has passed.
template <class Timespec>
bool time_left(std::chrono::steady_clock::time_point until, Timespec& left) noexcept {
    const auto now = std::chrono::steady_clock::now();
    if (until <= now) // compared, because the difference from the earliest time overflows
        return false;
    const auto rest = until - now;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(rest);
    left.tv_sec = seconds.count();
    left.tv_nsec = std::chrono::nanoseconds(rest - seconds).count();
    return true;
}

class wake_event {
public:
    wake_event(); ///< throws file_error when no descriptor is left
    wake_event(const wake_event&) = delete;
    wake_event& operator=(const wake_event&) = delete;
    ~wake_event();

    /// Any thread. Ends the sleep that is going on or prevents the next one.
    void wake() noexcept {
        asked_.store(true, std::memory_order_seq_cst);
        if (sleeping_.load(std::memory_order_seq_cst) &&
            sleeping_.exchange(false, std::memory_order_acq_rel))
            signal();
    }

    /// The waiting thread: true when it may sleep until descriptor() is readable. end_sleep()
    /// follows either way.
    bool begin_sleep() noexcept {
        sleeping_.store(true, std::memory_order_seq_cst);
        return !asked_.load(std::memory_order_seq_cst);
    }
    void end_sleep() noexcept {
        sleeping_.store(false, std::memory_order_relaxed);
        if (asked_.load(std::memory_order_relaxed)) [[unlikely]]
            asked_.exchange(false, std::memory_order_acq_rel);
    }

    int descriptor() const noexcept { return descriptor_; }
    /// Makes the descriptor unreadable again.
    void drain() noexcept;
    /// In the child of a fork: the descriptor is shared with the parent, so another one is made.
    void renew_after_fork() noexcept;

private:
    void signal() noexcept;

    // RACE: a waker sets asked_ and then looks at sleeping_; the sleeper sets sleeping_ and then
    // looks at asked_. All four are sequentially consistent, so at least one sees the other:
    //  - waker sets | sleeper sets | sleeper looks: no sleep.
    //  - sleeper sets | waker sets | waker looks: the event is written, and the sleep ends.
    //  - both set before either looks: both; a later sleep ends early once.
    // end_sleep() takes asked_ back by an exchange: a waker before it is seen by what follows the
    // sleep, as the exchange acquires what the waker released; one after it prevents the next
    // sleep. A waker that end_sleep() does not see yet is one after it.
    std::atomic<bool> asked_{false};
    std::atomic<bool> sleeping_{false};
    int descriptor_ = -1;
};

} // namespace sluice::platform::uring
