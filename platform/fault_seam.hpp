// The seam through which every raw system call passes in test builds, so that a test can script an
// errno, a short count or a delay. SLUICE_FAULT_SEAM is set by the build for the seamed library
// alone; a release build compiles `pass` to the bare call. This is the one header where that macro
// is looked at.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::platform {

enum class raw_call : std::uint8_t {
    open,
    open_cached,
    close,
    read,
    write,
    read_no_wait,
    write_no_wait,
    sync,
    sync_data,
    truncate,
    allocate,
    flock,
    range_lock,
    stat,
    statfs,
    seek,
    unlink,
    advise,
    count_cached,
    set_flags,
    poll,
    event,
    ring_setup,
    ring_enter,
    ring_register,
    ring_probe,
    ring_read,
    ring_write,
    ring_sync,
    ring_poll,
    ring_cancel,
    thread_start,
};
inline constexpr std::size_t raw_call_count = static_cast<std::size_t>(raw_call::thread_start) + 1;
const char* name_of(raw_call call) noexcept;

/// What a raw call is about to do. A fault may lower `size`.
struct raw_call_site {
    raw_call call;
    int descriptor = -1;
    std::size_t size = 0;
    std::uint64_t offset = 0;
};

#if SLUICE_FAULT_SEAM
inline constexpr bool fault_seam_built = true;

/// Scripts the seam. The hook runs on whatever thread makes the call, before it: it returns 0 to
/// let the call happen (with `size` as the hook left it), else the negative errno that the call
/// answers without being made. It may wait inside to delay the call. Null: no hook. The previous
/// hook has returned when this returns.
using fault_hook = long (*)(void* context, raw_call_site& site);
void set_fault_hook(fault_hook hook, void* context) noexcept;
/// Asks the hook.
long ask_fault_hook(raw_call_site& site) noexcept;
/// How often each raw call was made since the start of the process.
std::uint64_t raw_call_number(raw_call call) noexcept;
#else
inline constexpr bool fault_seam_built = false;
inline long ask_fault_hook(raw_call_site&) noexcept { return 0; }
#endif

/// Makes a raw call: `call(size)` answers a count or -errno.
template <class Call>
inline long pass(raw_call_site site, Call call) noexcept {
    if (const long forced = ask_fault_hook(site); forced != 0)
        return forced;
    return call(site.size);
}

} // namespace sluice::platform
