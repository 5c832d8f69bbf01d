// The table at the end of a run, and the answer to "is every bar met?".
#pragma once

#include "statistics.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench {

struct outcome {
    std::string name{};                ///< OPERATION/CONTENDER
    std::string baseline{};            ///< what it was compared with; empty: nothing
    std::optional<double> bar{};       ///< the most that `value` may be
    double value = 0;                  ///< median ratio, or the plain number of a counting case
    std::optional<quartiles> ratio{};  ///< of a pair
    double ours_ns = 0;
    double baseline_ns = 0;
    std::string failure{};             ///< why it did not run; empty: it ran

    bool ran() const { return failure.empty(); }
    bool meets_bar() const { return ran() && (!bar || value <= *bar); }
};

class summary {
public:
    void add(outcome result) { results_.push_back(std::move(result)); }
    bool meets_every_bar() const;
    std::string table() const;

private:
    std::vector<outcome> results_;
};

} // namespace bench
