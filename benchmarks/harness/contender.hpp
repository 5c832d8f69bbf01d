// One way of doing the measured operation: ours, a baseline, or another library's. The harness
// calls all of it from one thread. Errors are exceptions derived from std::exception: this
// interface is also crossed by shared objects that share no other type with the program (see
// asio_file.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace bench {

class contender {
public:
    contender() = default;
    contender(const contender&) = delete;
    contender& operator=(const contender&) = delete;
    virtual ~contender() = default;

    /// What has to happen before a round and is no part of it, such as truncating a file.
    virtual void prepare() {}

    /// Does `count` operations and says how long they took, without the cost of starting a loop.
    virtual std::chrono::nanoseconds run(std::size_t count) = 0;

    /// Rounds hold a multiple of this many operations.
    virtual std::size_t granularity() const { return 1; }
};

class stopwatch {
public:
    std::chrono::nanoseconds elapsed() const { return clock::now() - start_; }

private:
    using clock = std::chrono::steady_clock;
    clock::time_point start_ = clock::now();
};

/// A benchmark of failing calls would look fast, so every result is compared with the wanted one.
template <class Result>
void expect(Result result, std::size_t wanted, const char* call) {
    if (static_cast<std::size_t>(result) != wanted) [[unlikely]]
        throw std::runtime_error(std::string(call) + " gave " + std::to_string(result)
                                 + ", wanted " + std::to_string(wanted));
}

} // namespace bench
