// Cases become Google Benchmarks here: filter, list, JSON and repetitions are its work; the rounds
// and the judgement are ours. One iteration is one round of both sides.
#pragma once

#include "contender.hpp"
#include "options.hpp"
#include "summary.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace bench {

using contender_factory = std::function<std::unique_ptr<contender>()>;

struct paired_case {
    std::string name;               ///< OPERATION/CONTENDER
    contender_factory ours;         ///< called when the case runs, and destroyed after it
    std::string baseline_name;
    contender_factory baseline;
    std::optional<double> bar;      ///< the most that the median ratio may be
    bool equal_counts = false;      ///< see paired_rounds
};

/// Something that is counted, not timed.
struct counted_case {
    std::string name;
    std::function<double()> count;
    std::optional<double> bar;
};

class catalogue {
public:
    /// Both must outlive the run.
    catalogue(const options& chosen, summary& results) : chosen_(chosen), results_(results) {}

    void add(paired_case pair);
    void add(counted_case counted);

private:
    const options& chosen_;
    summary& results_;
};

} // namespace bench
