#include "support/heap_counter.hpp"

#include "support/sanitizers.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace {

constinit std::atomic<std::size_t> allocations{0};

void count() noexcept { allocations.fetch_add(1, std::memory_order_relaxed); }

} // namespace

namespace sluice::test {

std::size_t heap_allocations() noexcept { return allocations.load(std::memory_order_relaxed); }

} // namespace sluice::test

// Every form of operator new ends in one of these.
#if SLUICE_SANITIZER

extern "C" int __sanitizer_install_malloc_and_free_hooks(
    void (*after_malloc)(const volatile void* memory, std::size_t size),
    void (*before_free)(const volatile void* memory));

namespace {
void after_malloc(const volatile void*, std::size_t) { count(); }
void before_free(const volatile void*) {}
[[maybe_unused]] const int installed =
    __sanitizer_install_malloc_and_free_hooks(&after_malloc, &before_free);
} // namespace

#else

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
