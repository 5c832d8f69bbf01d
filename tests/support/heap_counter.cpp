#include "support/heap_counter.hpp"

#include "support/sanitizers.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace {

constinit std::atomic<std::size_t> allocations{0};

void count() noexcept { allocations.fetch_add(1, std::memory_order_relaxed); }

} // namespace

namespace sluice::test {

std::size_t heap_allocations() noexcept { return allocations.load(std::memory_order_relaxed); }
bool malloc_is_counted() noexcept { return !sanitizer_owns_the_heap; }

} // namespace sluice::test

#if SLUICE_SANITIZER_OWNS_THE_HEAP

namespace {
void count_new() noexcept { count(); }
} // namespace

#else

namespace {
void count_new() noexcept {} // malloc does
} // namespace

// The C library's own, by the names that it keeps for those who replace them.
extern "C" {
void* __libc_malloc(std::size_t size) noexcept;
void* __libc_calloc(std::size_t count, std::size_t size) noexcept;
void* __libc_realloc(void* memory, std::size_t size) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept;

void* malloc(std::size_t size) noexcept {
    count();
    return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) noexcept {
    count();
    return __libc_calloc(number, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
    count();
    return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
    count();
    return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    count();
    return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
    count();
    *memory = __libc_memalign(alignment, size);
    return *memory != nullptr ? 0 : ENOMEM;
}
}

#endif

namespace {

void* allocate(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) {
    count_new();
    const std::size_t whole = (size + alignment - 1) / alignment * alignment;
    void* memory = alignment <= alignof(std::max_align_t)
                       ? std::malloc(size == 0 ? 1 : size)
                       : std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
    if (memory == nullptr)
        throw std::bad_alloc();
    return memory;
}

} // namespace

// The other forms call these.
void* operator new(std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
