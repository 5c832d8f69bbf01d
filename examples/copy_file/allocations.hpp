// Counts what the whole process takes from the heap: malloc and its kin are replaced, and the
// global operators take their memory there. Helper threads are included.
#pragma once

#include <cstdint>

namespace copy_file {

/// False under a sanitizer, which replaces them itself, and without glibc.
bool allocations_are_counted() noexcept;
/// So far.
std::uint64_t allocations() noexcept;

} // namespace copy_file
