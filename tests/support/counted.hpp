// A value that counts how many of it are alive: what is destroyed too often or never shows.
#pragma once

#include <atomic>

namespace sluice::test {

class counted {
public:
    static int alive() noexcept { return alive_.load(); }

    counted() noexcept : counted(0) {}
    explicit counted(int number) noexcept : value(number) { ++alive_; }
    counted(counted&& other) noexcept : value(other.value) {
        other.value = moved_from;
        ++alive_;
    }
    counted(const counted&) = delete;
    counted& operator=(counted&& other) noexcept {
        value = other.value;
        other.value = moved_from;
        return *this;
    }
    ~counted() { --alive_; }

    static constexpr int moved_from = -1;
    int value;

private:
    static inline std::atomic<int> alive_{0};
};

} // namespace sluice::test
