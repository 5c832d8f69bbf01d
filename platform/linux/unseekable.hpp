// Attempts on pipes, sockets, terminals: files that may never answer. They are made without waiting, and
// O_NONBLOCK is never set on the descriptor, which belongs to others too.
#pragma once

#include <sluice/platform/operation.hpp>

namespace sluice::platform {

/// Raw result of an attempt that cannot wait: RWF_NOWAIT. -EAGAIN: not now; -EOPNOTSUPP: this file cannot say
/// (remembered in the file).
long attempt_without_waiting(request& r, std::size_t size) noexcept;

/// Raw result of an attempt by a file that poll was asked about a moment ago. Waits only if somebody else took
/// the data (or the room) in that moment. Writes are cut to what poll promises.
long attempt_when_ready(request& r, std::size_t size) noexcept;

/// Whether the file is readable (for a read) or writable (for a write) now.
bool is_ready(const request& r) noexcept;

} // namespace sluice::platform
