// glibc lets a program define malloc and still reach its own under other names, so nothing has to
// be looked up (dlsym allocates) and nothing can be missed before main.
#include "heap_counter.hpp"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <thread>

namespace bench {
namespace {

// Constant-initialised: malloc is called before any constructor runs.
std::atomic<bool> counting{false};
std::atomic<std::int64_t> allocations{0};
std::atomic<std::int64_t> bytes{0};

void* allocated(void* block) noexcept {
    if (counting.load(std::memory_order_relaxed) && block != nullptr) [[unlikely]] {
        allocations.fetch_add(1, std::memory_order_relaxed);
        bytes.fetch_add(static_cast<std::int64_t>(malloc_usable_size(block)),
                        std::memory_order_relaxed);
    }
    return block;
}

void about_to_free(void* block) noexcept {
    if (counting.load(std::memory_order_relaxed) && block != nullptr) [[unlikely]]
        bytes.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(block)),
                        std::memory_order_relaxed);
}

} // namespace

heap_counter::heap_counter() {
    allocations = 0;
    bytes = 0;
    if (counting.exchange(true))
        throw std::logic_error("two heap counters at once");
}

heap_counter::~heap_counter() { counting = false; }

heap_use heap_counter::use() const { return {allocations.load(), bytes.load()}; }

void check_heap_counter() {
    const heap_counter counter;
    std::int64_t expected = 0;
    const auto check = [&](const char* call) {
        ++expected;
        if (counter.use().allocations < expected)
            throw std::logic_error(std::string("the heap counter misses ") + call);
        expected = counter.use().allocations;
    };
    // Through volatile pointers: a compiler may remove an allocation that is only freed again.
    void* volatile block = std::malloc(1);
    check("malloc");
    block = std::realloc(block, 1000);
    check("realloc");
    std::free(block);
    block = std::calloc(1, 1);
    check("calloc");
    std::free(block);
    block = std::aligned_alloc(64, 64);
    check("aligned_alloc");
    std::free(block);
    block = ::operator new(1);
    check("operator new");
    ::operator delete(block);
    block = ::operator new(64, std::align_val_t{64});
    check("aligned operator new");
    ::operator delete(block, std::align_val_t{64});
    const auto before_thread = counter.use().allocations;
    std::thread([&] {
        expected = counter.use().allocations;
        void* volatile other = std::malloc(1);
        check("another thread");
        std::free(other);
    }).join();
    if (counter.use().allocations == before_thread)
        throw std::logic_error("the heap counter misses threads");
    if (counter.use().bytes < 0)
        throw std::logic_error("the heap counter counts freed bytes wrongly");
}

} // namespace bench

extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t size) noexcept { return bench::allocated(__libc_malloc(size)); }

void* calloc(std::size_t count, std::size_t size) noexcept {
    return bench::allocated(__libc_calloc(count, size));
}

void* realloc(void* block, std::size_t size) noexcept {
    bench::about_to_free(block);
    return bench::allocated(__libc_realloc(block, size));
}

void* reallocarray(void* block, std::size_t count, std::size_t size) noexcept {
    std::size_t total = 0;
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return nullptr;
    }
    return realloc(block, total);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
    return bench::allocated(__libc_memalign(alignment, size));
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return memalign(alignment, size);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) noexcept {
    if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    void* const found = memalign(alignment, size);
    if (found == nullptr)
        return ENOMEM;
    *block = found;
    return 0;
}

void free(void* block) noexcept {
    bench::about_to_free(block);
    __libc_free(block);
}

} // extern "C"
