#include <sluice/runtime/handler_node.hpp>

#include <sluice/platform/fork_mutex.hpp>

#include <mutex>

namespace sluice {

namespace {

// Three sizes cover what people post; a lock is cheap beside a trip through a queue between
// threads.
constexpr std::size_t sizes[] = {128, 256, 512};
constexpr std::size_t most_kept = 64;

struct free_block {
    free_block* next;
};

// Guarded by process_mutex.
struct shelf {
    free_block* first = nullptr;
    std::size_t count = 0;
};
shelf shelves[std::size(sizes)];

int shelf_for(std::size_t size) noexcept {
    for (std::size_t i = 0; i < std::size(sizes); ++i)
        if (size <= sizes[i])
            return static_cast<int>(i);
    return -1;
}

} // namespace

void* take_handler_memory(std::size_t size) {
    const int index = shelf_for(size);
    if (index < 0)
        return ::operator new(size);
    shelf& from = shelves[index];
    {
        const std::lock_guard lock(platform::process_mutex);
        if (free_block* block = from.first; block != nullptr) {
            from.first = block->next;
            --from.count;
            return block;
        }
    }
    return ::operator new(sizes[index]);
}

void give_back_handler_memory(void* memory, std::size_t size) noexcept {
    const int index = shelf_for(size);
    if (index >= 0) {
        shelf& to = shelves[index];
        const std::lock_guard lock(platform::process_mutex);
        if (to.count < most_kept) {
            to.first = new (memory) free_block{to.first};
            ++to.count;
            return;
        }
    }
    ::operator delete(memory);
}

} // namespace sluice
