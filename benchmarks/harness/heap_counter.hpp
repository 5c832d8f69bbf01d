// Counts what every thread of the program takes from the heap: malloc and its relatives are
// replaced, and operator new of the standard library calls them. Shared libraries are counted too.
#pragma once

#include <cstdint>

namespace bench {

struct heap_use {
    std::int64_t allocations = 0;  ///< calls that returned memory, reallocation included
    std::int64_t bytes = 0;        ///< usable bytes allocated less those freed
};

/// Counts from its construction on; one at a time.
class heap_counter {
public:
    heap_counter();
    heap_counter(const heap_counter&) = delete;
    heap_counter& operator=(const heap_counter&) = delete;
    ~heap_counter();

    heap_use use() const;
};

/// Throws std::logic_error unless malloc, its relatives and operator new are really counted, on
/// other threads as well: a count of zero proves nothing otherwise.
void check_heap_counter();

} // namespace bench
