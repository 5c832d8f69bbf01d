// The one place where a raw result becomes progress: short counts, "interrupted", "again" from
// plain files, the system's limit per call, a cancellation that nobody asked for. Every backend and
// the synchronous calls use it, so a transfer ends the same way whatever road it took.
#pragma once

#include <sluice/platform/operation.hpp>

namespace sluice::platform {

enum class next_step : std::uint8_t {
    finished, ///< `result` is set
    again,    ///< issue the rest, on the same way (request::must_block may have been set)
};

/// Linux transfers at most this many bytes per call (read(2), NOTES).
inline constexpr std::size_t largest_transfer = 0x7ffff000;
/// How often a plain file may answer EAGAIN, or an operation ECANCELED unasked, before the user
/// sees it.
inline constexpr std::uint8_t most_tries = 16;

/// Takes the raw result (count or -errno) of one attempt. `cancel_requested`: an ECANCELED is the
/// wanted one.
next_step advance(request& r, long raw_result, bool cancel_requested) noexcept;

/// The bytes the next attempt asks for.
std::size_t next_size(const request& r) noexcept;
/// Where the next attempt goes.
std::uint64_t next_offset(const request& r) noexcept;

} // namespace sluice::platform
