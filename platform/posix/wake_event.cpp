#include <sluice/platform/posix/wake_event.hpp>

#include <sluice/platform/error.hpp>
#include <sluice/platform/posix/system_calls.hpp>

namespace sluice::platform {

wake_event::wake_event() : descriptor_(static_cast<int>(sys::event_new())) {
    if (descriptor_ < 0)
        throw file_error(system_error_from(descriptor_), "eventfd", nullptr);
}

wake_event::~wake_event() { sys::close(descriptor_); }

void wake_event::notify() noexcept {
    // Taking the flag lets one of many notifiers write.
    if (sleeping_.load(std::memory_order_seq_cst) &&
        sleeping_.exchange(false, std::memory_order_seq_cst))
        signal();
    else if (watched_.load(std::memory_order_seq_cst))
        signal();
}

// RACE: signal() against clear_watched(). Written first, then flagged:
//  - write | flag | clear: taken back.
//  - write | clear (sees no flag) | flag: stays readable; the watcher comes once more, and it is
//    taken back then.
//  - clear (takes the flag of an earlier signal) | write | clear reads | flag: the read took both;
//    the flag makes a later clear read nothing, which does no harm. The work was published before
//    the write, and the owner looks for it after clearing.
void wake_event::signal() noexcept {
    sys::uninterrupted([this]() noexcept { return sys::event_signal(descriptor_); });
    signalled_.store(true, std::memory_order_release);
}

int wake_event::watch() noexcept {
    if (!watched_.exchange(true, std::memory_order_seq_cst))
        signal(); // for what was published before anybody watched
    return descriptor_;
}

void wake_event::clear_watched() noexcept {
    if (signalled_.load(std::memory_order_relaxed) &&
        signalled_.exchange(false, std::memory_order_acquire))
        sys::event_clear(descriptor_);
}

void wake_event::wait_for_signal(clock::time_point until) noexcept {
    using std::chrono::nanoseconds;
    timespec timeout{};
    const bool for_ever = until == clock::time_point::max();
    if (!for_ever) {
        const clock::time_point now = clock::now();
        const nanoseconds left = until > now ? until - now : nanoseconds::zero();
        timeout.tv_sec = left.count() / 1'000'000'000;
        timeout.tv_nsec = left.count() % 1'000'000'000;
    }
    if (sys::poll_one(descriptor_, POLLIN, for_ever ? nullptr : &timeout) > 0) {
        sys::event_clear(descriptor_);
        signalled_.store(false, std::memory_order_relaxed);
    }
}

void wake_event::forget_after_fork() noexcept {
    sys::close(descriptor_); // first: its place is there for the new one, whatever the limit
    const auto fresh = static_cast<int>(sys::event_new());
    if (fresh >= 0 && fresh != descriptor_) { // who watches it keeps the number
        ::dup3(fresh, descriptor_, O_CLOEXEC);
        sys::close(fresh);
    }
    sleeping_ = false;
    signalled_ = false;
}

} // namespace sluice::platform
