// The one place where a raw result becomes progress: short counts, "interrupted", "again" from
// plain files, the system's limit per call, a cancellation that nobody asked for. Every backend and
// the synchronous calls use it, so a transfer ends the same way whatever road it took.
#pragma once

#include <sluice/platform/file_handle.hpp>
#include <sluice/platform/operation.hpp>

#include <algorithm>

namespace sluice::platform {

enum class next_step : std::uint8_t {
    finished, ///< `result` is set
    again,    ///< issue the rest, on the same way (request::must_block may have been set)
};

/// Linux transfers at most this many bytes per call (read(2), NOTES).
inline constexpr std::size_t largest_transfer = 0x7ffff000;
/// A direct transfer above the device's own maximum hung unkillably on 5.15 (DataDog/glommio#633).
inline constexpr std::size_t largest_direct_transfer = 2 * 1024 * 1024;
/// How often a plain file may answer EAGAIN, or an operation ECANCELED unasked, before the user
/// sees it.
inline constexpr std::uint8_t most_tries = 16;

/// Takes the raw result (count or -errno) of one attempt. `cancel_requested`: an ECANCELED is the
/// wanted one.
next_step advance_by(request& r, long raw_result, bool cancel_requested) noexcept;
/// The same, when all that was left of it came, as nearly always. False: nothing was changed.
inline bool finish_whole(request& r, long raw_result) noexcept {
    if (raw_result <= 0 || static_cast<std::size_t>(raw_result) != r.size - r.done) [[unlikely]]
        return false;
    r.done = r.size;
    r.result = static_cast<long>(r.done);
    return true;
}
inline next_step advance(request& r, long raw_result, bool cancel_requested) noexcept {
    if (finish_whole(r, raw_result)) [[likely]]
        return next_step::finished;
    return advance_by(r, raw_result, cancel_requested);
}

/// The bytes the next attempt asks for.
inline std::size_t next_size(const request& r) noexcept {
    return std::min(r.size - r.done,
                    r.file->is_direct ? largest_direct_transfer : largest_transfer);
}
/// Where the next attempt goes.
inline std::uint64_t next_offset(const request& r) noexcept {
    return r.offset == own_position ? own_position : r.offset + r.done;
}

} // namespace sluice::platform
