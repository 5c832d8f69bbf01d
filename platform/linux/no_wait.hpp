// The inline attempt of every Linux backend: finish a request on the calling thread when that needs
// no waiting. The hot path of the library: a read from the page cache costs preadv2(RWF_NOWAIT) and
// a few comparisons, an overwrite costs pwrite and two clock reads.
#pragma once

#include <sluice/platform/backend.hpp>

namespace sluice::platform {

/// True: finished, `result` set. False: not now; `done` tells how far it came, the rest goes
/// another way. Any thread, for different requests on one file too.
bool try_request_now(request& r, inline_limits limits) noexcept;

} // namespace sluice::platform
