// One attempt of a request by a plain call, which may wait. Shared by the workers, the synchronous
// calls and the inline attempts that cannot say "not now".
#pragma once

#include <sluice/platform/operation.hpp>

namespace sluice::platform {

/// The raw result (count or -errno) of one call for at most `size` bytes of what is left. Progress
/// is the caller's: advance().
long attempt_blocking(request& r, std::size_t size) noexcept;

} // namespace sluice::platform
