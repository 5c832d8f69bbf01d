#include "support/heap_counter.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> allocations{0};

void* allocate(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    const std::size_t whole = (size + alignment - 1) / alignment * alignment;
    void* memory = alignment <= alignof(std::max_align_t)
                       ? std::malloc(size == 0 ? 1 : size)
                       : std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
    if (memory == nullptr)
        throw std::bad_alloc();
    return memory;
}

} // namespace

namespace sluice::test {

std::size_t heap_allocations() noexcept { return allocations.load(std::memory_order_relaxed); }

} // namespace sluice::test

// The other forms call these.
void* operator new(std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
