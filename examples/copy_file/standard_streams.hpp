// What the copy needs of standard input, output and error: that their numbers are nobody else's,
// and that no report gets into what is copied.
#pragma once

#include <cstdio>
#include <filesystem>

namespace copy_file {

/// Before anything is opened: a standard descriptor that was closed would be given to the first
/// file, which then received the report. Writing to one that was closed goes on to fail.
void keep_standard_descriptors() noexcept;

/// Where progress and report go: standard output, unless that is the destination.
std::FILE* report_stream(const std::filesystem::path& destination) noexcept;

} // namespace copy_file
