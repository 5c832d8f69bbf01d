#include "paired_rounds.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <numeric>

namespace bench {
namespace {

using std::chrono::nanoseconds;

constexpr int most_tries = 6;

// Of this thread, by somebody else who wanted the processor; waiting for an operation is no such.
long times_preempted() {
    rusage use{};
    getrusage(RUSAGE_THREAD, &use);
    return use.ru_nivcsw;
}

std::size_t rounded_up(std::size_t count, std::size_t multiple) {
    return (count + multiple - 1) / multiple * multiple;
}

// Doubles the count until a quarter of the round is filled, then scales. The best of three scales:
// one interrupted try would make every round too short.
std::size_t count_that_fills(contender& side, nanoseconds round) {
    std::size_t count = side.granularity();
    nanoseconds took{};
    for (;; count *= 2) {
        side.prepare();
        took = side.run(count);
        if (took >= round / 4)
            break;
    }
    for (int again = 0; again < 2; ++again) {
        side.prepare();
        took = std::min(took, side.run(count));
    }
    const double scale = static_cast<double>(round.count())
                         / static_cast<double>(std::max<nanoseconds::rep>(took.count(), 1));
    const auto scaled = static_cast<std::size_t>(static_cast<double>(count) * scale);
    return rounded_up(std::max<std::size_t>(scaled, 1), side.granularity());
}

double ns_per_operation(contender& side, std::size_t count) {
    side.prepare();
    return static_cast<double>(side.run(count).count()) / static_cast<double>(count);
}

} // namespace

paired_rounds::paired_rounds(contender& ours, contender& baseline, nanoseconds round,
                             bool equal_counts)
    : ours_(ours), baseline_(baseline), ours_count_(count_that_fills(ours, round)),
      baseline_count_(count_that_fills(baseline, round)) {
    if (equal_counts) {
        const auto multiple = std::lcm(ours.granularity(), baseline.granularity());
        ours_count_ = rounded_up(std::min(ours_count_, baseline_count_), multiple);
        baseline_count_ = ours_count_;
    }
}

double paired_rounds::run_one() {
    sides took{};
    for (int tries = 1;; ++tries) {
        const long before = times_preempted();
        took = measure_both();
        if (times_preempted() == before)
            break;
        if (tries == most_tries) {
            ++disturbed_;
            break;
        }
    }
    ours_ns_.push_back(took.ours);
    baseline_ns_.push_back(took.baseline);
    ratio_.push_back(took.ours / took.baseline);
    return took.ours;
}

paired_rounds::sides paired_rounds::measure_both() {
    sides took{};
    if (ratio_.size() % 2 == 0) {
        took.ours = ns_per_operation(ours_, ours_count_);
        took.baseline = ns_per_operation(baseline_, baseline_count_);
    } else {
        took.baseline = ns_per_operation(baseline_, baseline_count_);
        took.ours = ns_per_operation(ours_, ours_count_);
    }
    return took;
}

} // namespace bench
