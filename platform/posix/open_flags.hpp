// The open table: mode, access, share and options as flags of open(2).
#pragma once

#include <sluice/platform/posix/file_handle.hpp>

namespace sluice::platform {

int open_flags_for(const open_request& wanted) noexcept;
/// A handle for the descriptor that these flags opened; what kind of file it is has yet to be
/// described.
file_handle handle_for(const open_request& wanted, int descriptor) noexcept;

} // namespace sluice::platform
