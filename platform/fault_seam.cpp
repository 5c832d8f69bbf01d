// The script of a test and the counters of raw calls. CMake compiles this file into the seamed
// library alone, so that a release carries no trace of the seam.
#include <sluice/platform/fault_seam.hpp>

#include <array>
#include <atomic>
#include <mutex>
#include <shared_mutex>

namespace sluice::platform {

namespace {

std::atomic<bool> hooked{false};
std::array<std::atomic<std::uint64_t>, raw_call_count> numbers{};

struct script {
    std::shared_mutex mutex; // shared while a hook runs, so that changing it waits for the last one
    fault_hook hook = nullptr;
    void* context = nullptr;
};

// Never destroyed: detached threads of a test may make a last call after main.
script& the_script() noexcept {
    static script& instance = *new script;
    return instance;
}

constexpr std::array<const char*, raw_call_count> names{
    "open", "open_cached", "close", "read", "write", "read_no_wait", "write_no_wait", "sync",
    "sync_data", "truncate", "allocate", "flock", "range_lock", "stat", "statfs", "seek", "unlink",
    "advise", "count_cached", "set_flags", "poll", "event", "ring_setup", "ring_enter",
    "ring_register", "ring_probe", "ring_read", "ring_write", "ring_sync", "ring_poll",
    "ring_cancel", "thread_start"};
static_assert(names.back() != nullptr, "one name for each raw call");

} // namespace

const char* name_of(raw_call call) noexcept {
    return names[static_cast<std::size_t>(call)];
}

void set_fault_hook(fault_hook hook, void* context) noexcept {
    script& s = the_script();
    const std::unique_lock lock(s.mutex);
    s.hook = hook;
    s.context = context;
    hooked.store(hook != nullptr, std::memory_order_release);
}

long ask_fault_hook(raw_call_site& site) noexcept {
    numbers[static_cast<std::size_t>(site.call)].fetch_add(1, std::memory_order_relaxed);
    if (!hooked.load(std::memory_order_acquire))
        return 0;
    script& s = the_script();
    const std::shared_lock lock(s.mutex);
    return s.hook != nullptr ? s.hook(s.context, site) : 0;
}

std::uint64_t raw_call_number(raw_call call) noexcept {
    return numbers[static_cast<std::size_t>(call)].load(std::memory_order_relaxed);
}

} // namespace sluice::platform
