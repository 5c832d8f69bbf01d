#include <sluice/platform/tick_clock.hpp>

#include <atomic>

namespace sluice::platform {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds long_enough{10};

struct reading {
    tick_clock::ticks ticks = 0;
    clock::time_point time;
};

// Both clocks at one moment: of a few readings the one that was least interrupted.
reading read_both() noexcept {
    reading best;
    tick_clock::ticks closest = ~tick_clock::ticks{0};
    for (int tries = 0; tries < 4; ++tries) {
        const tick_clock::ticks before = tick_clock::now();
        const clock::time_point time = clock::now();
        const tick_clock::ticks apart = tick_clock::now() - before;
        if (apart >= closest)
            continue;
        closest = apart;
        best = {before + apart / 2, time};
    }
    return best;
}

const reading first = read_both(); // when the program starts

// RACE: threads that measure at once.
//  - load 0 | load 0 | store | store: each found it over 10 ms or more, so the two are nearly the
//    same, and either may stay.
//  - load 0 | store | load: the second does not measure.
// No other memory depends on it, so relaxed is enough.
std::atomic<double> known{0}; // nanoseconds in a tick

double measure() noexcept {
    // A static initialiser asks, and ran before that of `first`: nothing to measure against yet.
    if (first.ticks == 0) [[unlikely]]
        return 1;
    const reading last = read_both();
    const auto passed = last.time - first.time;
    if (last.ticks <= first.ticks || passed.count() <= 0)
        return 1;
    const double found =
        static_cast<double>(passed.count()) / static_cast<double>(last.ticks - first.ticks);
    if (passed >= long_enough)
        known.store(found, std::memory_order_relaxed);
    return found;
}

} // namespace

std::chrono::nanoseconds tick_clock::duration_of(ticks count) noexcept {
    double per_tick = known.load(std::memory_order_relaxed);
    if (per_tick == 0) [[unlikely]]
        per_tick = measure();
    return std::chrono::nanoseconds(
        static_cast<std::int64_t>(static_cast<double>(count) * per_tick));
}

} // namespace sluice::platform
