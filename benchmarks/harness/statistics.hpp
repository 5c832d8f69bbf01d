// Median and quartiles of a handful of numbers: machines are noisy, so means would tell of
// everything else that runs there.
#pragma once

#include <vector>

namespace bench {

struct quartiles {
    double first = 0;
    double median = 0;
    double third = 0;
};

/// `samples` is taken by value because it gets sorted; it must not be empty.
quartiles quartiles_of(std::vector<double> samples);

} // namespace bench
