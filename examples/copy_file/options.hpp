// What the copy was asked to do.
#pragma once

#include <sluice/platform/backend.hpp>

#include <cstddef>
#include <filesystem>
#include <stdexcept>

namespace copy_file {

struct options {
    std::filesystem::path source;
    std::filesystem::path destination;
    std::size_t buffer = 256 * 1024;
    sluice::backend_choice backend = sluice::backend_choice::auto_;
    bool verify = true;
    bool help = false;
};

extern const char help_text[];

/// The user's mistake, in one line.
struct wrong_usage : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws wrong_usage.
options parse(int argc, char** argv);

} // namespace copy_file
