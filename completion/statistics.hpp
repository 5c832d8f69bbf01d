// What a context did, by path. Counters of the thread that runs the loop are plain; other threads
// have their own set.
#pragma once

#include <sluice/platform/operation.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice {

/// Where an operation was finished.
enum class operation_path : std::uint8_t {
    buffer,   ///< in the stream's buffer, no system call
    no_wait,  ///< a call that cannot wait (RWF_NOWAIT)
    inline_,  ///< a call that could have waited, made on the calling thread after good experience
    ring,     ///< io_uring
    worker,   ///< a blocking call on a worker thread, or a wait for readiness
    fallback, ///< meant for the ring, done by a worker
    blocking, ///< a synchronous call of the user
};
inline constexpr std::size_t operation_path_count = 7;

/// Latency from submission to completion; bucket i counts operations of less than 2^i microseconds.
/// What a turn of the loop submits, or finds finished, shares one reading of the clock.
using latency_histogram = std::array<std::uint64_t, 24>;

struct runtime_statistics {
    struct path_count {
        std::uint64_t operations = 0;
        std::uint64_t bytes = 0;
    };
    std::array<path_count, operation_path_count> paths{};
    std::uint64_t in_flight = 0; ///< started and not yet completed
    /// Calls on streams that were finished at once and took a turn through the queue for fairness.
    std::uint64_t posted_by_budget = 0;
    std::uint64_t cancelled = 0;   ///< calls on streams that ended as cancelled or timed out
    std::uint64_t lost_bytes = 0;  ///< bytes that a destructor or a failed close could not write
    std::uint64_t lost_errors = 0; ///< errors that nobody was there to hear
    std::size_t pool_idle = 0;     ///< sources in the pool
    std::size_t pool_rented = 0;   ///< sources out of the pool
    std::array<latency_histogram, platform::opcode_count> latency{};

    const path_count& of(operation_path path) const noexcept {
        return paths[static_cast<std::size_t>(path)];
    }
};

namespace completion {

/// One counter with one writing thread at a time and any readers.
class counter {
public:
    void add(std::uint64_t n) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    void add_shared(std::uint64_t n) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
    std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

struct path_counters {
    std::array<counter, operation_path_count> operations;
    std::array<counter, operation_path_count> bytes;
};

struct loop_counters {
    path_counters own;    ///< the thread that runs the loop
    path_counters others; ///< all other threads
    counter posted_by_budget;
    counter cancelled;
    counter lost_bytes;
    counter lost_errors;
    std::array<std::array<counter, std::tuple_size_v<latency_histogram>>, platform::opcode_count>
        latency;

    void finished(operation_path path, std::size_t bytes, bool on_loop) noexcept {
        const auto i = static_cast<std::size_t>(path);
        if (on_loop) [[likely]] {
            own.operations[i].add(1);
            own.bytes[i].add(bytes);
        } else {
            others.operations[i].add_shared(1);
            others.bytes[i].add_shared(bytes);
        }
    }
    static std::size_t bucket_of(std::chrono::nanoseconds took) noexcept {
        const auto micro = static_cast<std::uint64_t>(took.count()) / 1000;
        return std::min<std::size_t>(std::bit_width(micro),
                                     std::tuple_size_v<latency_histogram> - 1);
    }
    void took(platform::opcode code, std::size_t bucket) noexcept {
        latency[static_cast<std::size_t>(code)][bucket].add(1);
    }
};

} // namespace completion
} // namespace sluice
