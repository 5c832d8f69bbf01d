// Direct I/O: whether it works on a file is known only after a trial, since some file systems
// accept the flag and refuse the read (overlayfs over squashfs: scylladb/seastar#3518).
#pragma once

#include <sluice/platform/posix/file_handle.hpp>

namespace sluice::platform {

/// Sets O_DIRECT and tries it. False: the file is as it was, through the page cache.
bool turn_on_direct(file_handle& file) noexcept;

} // namespace sluice::platform
