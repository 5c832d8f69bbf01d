#include "allocations.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COPY_FILE_SANITIZED
#endif
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&       \
    !defined(COPY_FILE_SANITIZED)
#define COPY_FILE_COUNTS
#endif

namespace {
constinit std::atomic<std::uint64_t> count{0};
}

namespace copy_file {

bool allocations_are_counted() noexcept {
#ifdef COPY_FILE_COUNTS
    return true;
#else
    return false;
#endif
}

std::uint64_t allocations() noexcept { return count.load(std::memory_order_relaxed); }

} // namespace copy_file

#ifdef COPY_FILE_COUNTS

extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

static void count_one() noexcept { count.fetch_add(1, std::memory_order_relaxed); }

void* malloc(std::size_t size) noexcept {
    count_one();
    return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) noexcept {
    count_one();
    return __libc_calloc(number, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
    count_one();
    return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
    count_one();
    return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
    *memory = memalign(alignment, size);
    return *memory != nullptr ? 0 : ENOMEM;
}
void free(void* memory) noexcept { __libc_free(memory); }

} // extern "C"

#endif
