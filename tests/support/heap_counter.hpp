// Counts allocations of all threads: the global operator new and, where no sanitizer has them, the
// malloc family. Naming it replaces them in the whole program.
#pragma once

#include <cstddef>

namespace sluice::test {

/// Since the program started.
std::size_t heap_allocations() noexcept;
/// Whether a bare malloc counts too.
bool malloc_is_counted() noexcept;

} // namespace sluice::test
