#include <sluice/platform/linux/uring_wake_event.hpp>

#include <sluice/platform/error.hpp>
#include <sluice/platform/posix/system_calls.hpp>

namespace sluice::platform::uring {

wake_event::wake_event() : descriptor_(static_cast<int>(sys::event_new())) {
    if (descriptor_ < 0)
        throw file_error(system_error_from(descriptor_), "eventfd", nullptr);
}

wake_event::~wake_event() {
    if (descriptor_ >= 0)
        sys::close(descriptor_);
}

// A full counter (EAGAIN) is readable all the same.
void wake_event::signal() noexcept {
    sys::uninterrupted([this] { return sys::event_signal(descriptor_); });
}

void wake_event::drain() noexcept {
    sys::uninterrupted([this] { return sys::event_clear(descriptor_); });
}

void wake_event::renew_after_fork() noexcept {
    sys::close(descriptor_);
    descriptor_ = static_cast<int>(sys::event_new());
    asked_.store(false, std::memory_order_relaxed);
    sleeping_.store(false, std::memory_order_relaxed);
}

} // namespace sluice::platform::uring
