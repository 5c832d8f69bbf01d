// What a descriptor is: one fstat, and one lseek where the kind of file does not tell whether it
// seeks.
#pragma once

#include <sluice/platform/posix/file_handle.hpp>

#include <sys/stat.h>

namespace sluice::platform {

/// Fills in the kind of file.descriptor and hands out what fstat said. 0 or -errno.
long describe_file(file_handle& file, struct ::stat& about) noexcept;
/// The same from an fstat that was made already.
void take_description(file_handle& file, const struct ::stat& about) noexcept;
/// Whether the file is on a file system of this machine, not on a server's or in another process.
bool is_local(const file_handle& file) noexcept;

} // namespace sluice::platform
