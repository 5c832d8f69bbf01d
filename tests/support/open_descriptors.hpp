// Counts the open descriptors of this process, to show that nothing leaks.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace sluice::test {

inline std::size_t open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    // The iterator's own descriptor is among them.
    return static_cast<std::size_t>(std::distance(begin(all), end(all))) - 1;
}

} // namespace sluice::test
