// Measures two contenders in short alternating rounds, so that both see the same machine: whatever
// drifts, warms up or is stolen by a neighbour falls on both sides of a round, and the ratio stays.
#pragma once

#include "contender.hpp"
#include "statistics.hpp"

#include <chrono>
#include <cstddef>
#include <vector>

namespace bench {

class paired_rounds {
public:
    /// Finds out how many operations fill `round` on each side, which also warms both up. With
    /// `equal_counts` both do as many as the slower one: for work whose cost depends on how much
    /// went before, such as extending a file.
    paired_rounds(contender& ours, contender& baseline, std::chrono::nanoseconds round,
                  bool equal_counts);

    /// One round of both, in an order that alternates. A round in which the scheduler took the
    /// processor away is measured again a few times. Returns ours, in ns per operation.
    double run_one();

    quartiles ratio() const { return quartiles_of(ratio_); }
    quartiles ours_ns() const { return quartiles_of(ours_ns_); }
    quartiles baseline_ns() const { return quartiles_of(baseline_ns_); }
    /// Rounds that were disturbed every time.
    std::size_t disturbed() const { return disturbed_; }

private:
    struct sides {
        double ours;
        double baseline;
    };
    sides measure_both();

    contender& ours_;
    contender& baseline_;
    std::size_t ours_count_;
    std::size_t baseline_count_;
    std::size_t disturbed_ = 0;
    std::vector<double> ours_ns_, baseline_ns_, ratio_;
};

} // namespace bench
