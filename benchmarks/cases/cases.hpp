// The cases of this program, by what they measure. Bars stand beside the case they belong to.
#pragma once

#include "../harness/catalogue.hpp"
#include "../harness/scratch_folder.hpp"

namespace bench {

void add_noise_case(catalogue& into, const scratch_folder& folder);
void add_read_cases(catalogue& into, const scratch_folder& folder);
void add_write_cases(catalogue& into, const scratch_folder& folder);
void add_batch_cases(catalogue& into, const scratch_folder& folder);
void add_completion_cases(catalogue& into);
void add_allocation_cases(catalogue& into, const scratch_folder& folder);
void add_memory_cases(catalogue& into, const scratch_folder& folder);

} // namespace bench
