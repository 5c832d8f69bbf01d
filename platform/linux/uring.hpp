// What the selection of a backend knows of the ring. liburing stays behind it; a build without it
// links no_uring.cpp instead.
#pragma once

#include <sluice/platform/backend.hpp>

#include <memory>

namespace sluice::platform {

/// Tries the ring once per process: makes a small one and reads through it. Kind uring, or threads
/// and why.
backend_info find_uring();
/// False in a build without liburing.
bool uring_is_built() noexcept;
/// Makes its ring at the first operation that needs one. Without any ring it works as threads and
/// says why. Throws file_error only when no descriptor is left.
std::unique_ptr<backend> make_uring_backend(const backend_options& options);

} // namespace sluice::platform
