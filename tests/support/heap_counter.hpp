// Counts calls of the global operator new, of all threads. Naming it replaces the operators in the
// whole program.
#pragma once

#include <cstddef>

namespace sluice::test {

/// Since the program started.
std::size_t heap_allocations() noexcept;

} // namespace sluice::test
