// The inline attempt of every Linux backend: finish a request on the calling thread when that needs
// no waiting, in as many calls as it takes. What a single call finishes has gone the shortest way
// before, see whole_transfer.hpp.
#pragma once

#include <sluice/platform/backend.hpp>

namespace sluice::platform {

/// True: finished, `result` set. False: not now; `done` tells how far it came, the rest goes
/// another way. Any thread, for different requests on one file too.
bool try_request_now(request& r, inline_limits limits) noexcept;

} // namespace sluice::platform
