// Attempts on pipes, sockets, terminals: files that may never answer. They are made without
// waiting, and O_NONBLOCK is never set on the descriptor, which belongs to others too.
#pragma once

#include <sluice/platform/operation.hpp>

namespace sluice::platform {

/// Raw result of an attempt for at most `size` bytes, -EAGAIN when it would have to wait. By
/// RWF_NOWAIT where the file knows it; else, if `may_race`, by poll and a plain call, which waits
/// only if somebody else takes the data (or the room) between the two.
long attempt_unseekable(request& r, std::size_t size, bool may_race) noexcept;

} // namespace sluice::platform
