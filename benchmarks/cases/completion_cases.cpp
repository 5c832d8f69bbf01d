#include "cases.hpp"

#include "../contenders/contenders.hpp"
#include "../contenders/sluice_contenders.hpp"

namespace bench {

void add_completion_cases(catalogue& into) {
    into.add({.name = "complete_inline/sluice",
              .ours = [] { return sluice_completion(resumption::inline_); },
              .baseline_name = "atomic exchange",
              .baseline = atomic_exchange,
              .bar = 4.5});
    into.add({.name = "complete_queued/sluice",
              .ours = [] { return sluice_completion(resumption::queued); },
              .baseline_name = "atomic exchange",
              .baseline = atomic_exchange,
              .bar = 6.0});
}

} // namespace bench
