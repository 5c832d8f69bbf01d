#include "statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>

namespace bench {
namespace {

// Linear between the two nearest ranks.
double quantile(const std::vector<double>& sorted, double fraction) {
    const double rank = fraction * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(rank));
    const auto above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], rank - static_cast<double>(below));
}

} // namespace

quartiles quartiles_of(std::vector<double> samples) {
    assert(!samples.empty());
    std::ranges::sort(samples);
    return {quantile(samples, 0.25), quantile(samples, 0.5), quantile(samples, 0.75)};
}

} // namespace bench
