// What a stream is opened with. Trivially destructible on purpose: GCC 12 destroys owning
// aggregates twice when they are temporaries of a co_await expression.
#pragma once

#include <sluice/completion/resume_mode.hpp>
#include <sluice/platform/file_options.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <type_traits>

namespace sluice {

struct open_options {
    file_mode mode = file_mode::open;
    file_access access = file_access::read;
    std::optional<file_share> share{}; ///< no lock is taken unless given
    file_options options = file_options::none;
    std::size_t buffer_size = 4096;       ///< bytes; 0 and 1: unbuffered
    std::uint64_t preallocation_size = 0; ///< bytes reserved, the length unchanged
    /// Of a file that is made; 0666 & ~umask else.
    std::optional<std::filesystem::perms> create_permissions{};
    std::optional<resume_mode> resume{}; ///< the runtime's default else
    unsigned read_ahead = 0;             ///< buffers kept in flight; no effect yet
    unsigned write_behind = 0;           ///< the same for writes; no effect yet
};
static_assert(std::is_trivially_destructible_v<open_options>);

} // namespace sluice
