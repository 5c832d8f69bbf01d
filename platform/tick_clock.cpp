#include <sluice/platform/tick_clock.hpp>

#include <algorithm>

namespace sluice::platform {

namespace {

using clock = std::chrono::steady_clock;

struct reading {
    tick_clock::ticks ticks = tick_clock::now();
    clock::time_point time = clock::now();
};

const reading first; // when the program starts: the longer ago, the better the ratio

} // namespace

std::chrono::nanoseconds tick_clock::duration_of(ticks count) noexcept {
    const reading last;
    const ticks counted = std::max<ticks>(last.ticks - first.ticks, 1);
    const double per_tick =
        static_cast<double>((last.time - first.time).count()) / static_cast<double>(counted);
    return std::chrono::nanoseconds(
        static_cast<std::int64_t>(static_cast<double>(count) * per_tick));
}

} // namespace sluice::platform
