// The lock that `share` asks for: flock as .NET emulates its share modes.
#pragma once

#include <sluice/platform/posix/file_handle.hpp>

namespace sluice::platform {

/// 0 or -EWOULDBLOCK; nothing else is an error, file.share_enforced tells whether the lock is held.
long take_share_lock(file_handle& file, file_share share) noexcept;
void drop_share_lock(file_handle& file) noexcept;

} // namespace sluice::platform
