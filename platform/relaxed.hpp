// A value that any thread may read and write, when nobody relies on the order: memories and
// statistics. Copyable, unlike std::atomic, and as cheap as a plain variable.
#pragma once

#include <atomic>

namespace sluice::platform {

template <class T>
class relaxed {
public:
    relaxed() noexcept = default;
    relaxed(T value) noexcept : value_(value) {}
    relaxed(const relaxed& other) noexcept : value_(static_cast<T>(other)) {}
    relaxed& operator=(const relaxed& other) noexcept { return *this = static_cast<T>(other); }
    ~relaxed() = default;

    relaxed& operator=(T value) noexcept {
        value_.store(value, std::memory_order_relaxed);
        return *this;
    }
    operator T() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<T> value_{};
};

} // namespace sluice::platform
