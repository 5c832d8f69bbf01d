// How far a copy is: a bar that is drawn over on a terminal, a plain line now and then elsewhere.
// Allocates nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>

namespace copy_file {

class progress_bar {
public:
    /// total 0: unknown.
    progress_bar(std::FILE* to, std::uint64_t total);
    progress_bar(const progress_bar&) = delete;
    progress_bar& operator=(const progress_bar&) = delete;
    /// Wipes the bar away.
    ~progress_bar();

    void show(std::uint64_t done);

private:
    using clock = std::chrono::steady_clock;

    void draw(std::uint64_t done, double seconds);

    std::FILE* to_;
    std::uint64_t total_;
    bool terminal_;
    bool drawn_ = false;
    clock::time_point begin_ = clock::now();
    clock::time_point next_;
};

/// "256.0 MiB"; static storage per call site is not needed: the text is in the object.
struct size_text {
    explicit size_text(double bytes) noexcept;
    char text[24];
};

} // namespace copy_file
