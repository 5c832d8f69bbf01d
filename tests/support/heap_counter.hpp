// Counts allocations of all threads: the malloc family, in which every operator new ends. Naming it
// replaces it in the whole program, or hooks into the sanitizer that has.
#pragma once

#include <cstddef>

namespace sluice::test {

/// Since the program started.
std::size_t heap_allocations() noexcept;

} // namespace sluice::test
