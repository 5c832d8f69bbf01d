#include "progress_bar.hpp"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace copy_file {

namespace {

using namespace std::chrono_literals;
constexpr auto between_bars = 100ms;
constexpr auto between_lines = 5s;
constexpr int bar_width = 30;

} // namespace

size_text::size_text(double bytes) noexcept {
    static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    std::size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit)
        bytes /= 1024;
    std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

progress_bar::progress_bar(std::FILE* to, std::uint64_t total)
    : to_(to), total_(total), terminal_(::isatty(::fileno(to)) == 1),
      next_(begin_ + (terminal_ ? clock::duration(between_bars) : between_lines)) {}

progress_bar::~progress_bar() {
    if (!terminal_ || !drawn_)
        return;
    std::fputs("\r\033[K", to_);
    std::fflush(to_);
}

void progress_bar::show(std::uint64_t done) {
    const clock::time_point now = clock::now();
    if (now < next_)
        return;
    next_ = now + (terminal_ ? clock::duration(between_bars) : between_lines);
    draw(done, std::chrono::duration<double>(now - begin_).count());
}

void progress_bar::draw(std::uint64_t done, double seconds) {
    drawn_ = true;
    const double rate = static_cast<double>(done) / seconds;
    const size_text done_text(static_cast<double>(done)), rate_text(rate);
    if (terminal_)
        std::fputc('\r', to_);
    if (total_ >= done && done != 0) { // a file that grew meanwhile has no end that is known
        const double part = static_cast<double>(done) / static_cast<double>(total_);
        const auto left =
            static_cast<unsigned long>(static_cast<double>(total_ - done) / rate + 0.5);
        if (terminal_) {
            const int full = std::min(bar_width, static_cast<int>(part * bar_width));
            std::fprintf(to_, "[%.*s%*s] ", full, "##############################",
                         bar_width - full, "");
        }
        std::fprintf(to_, "%3.0f%%  %s of %s, %s/s, %lu:%02lu left", part * 100, done_text.text,
                     size_text(static_cast<double>(total_)).text, rate_text.text, left / 60,
                     left % 60);
    } else {
        std::fprintf(to_, "%s, %s/s", done_text.text, rate_text.text);
    }
    std::fputs(terminal_ ? "\033[K" : "\n", to_);
    std::fflush(to_);
}

} // namespace copy_file
