// XXH64 with seed 0, by Yann Collet: finds every accident, and is fast enough not to be what the
// copy waits for. `xxhsum -H64` prints the same. It is no protection against forgery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace copy_file {

class digest {
public:
    void add(std::span<const std::byte> data) noexcept;
    std::uint64_t value() const noexcept;

private:
    static constexpr std::uint64_t prime_1 = 0x9E3779B185EBCA87;
    static constexpr std::uint64_t prime_2 = 0xC2B2AE3D27D4EB4F;
    static constexpr std::uint64_t prime_3 = 0x165667B19E3779F9;
    static constexpr std::uint64_t prime_4 = 0x85EBCA77C2B2AE63;
    static constexpr std::uint64_t prime_5 = 0x27D4EB2F165667C5;

    static std::uint64_t mixed(std::uint64_t lane, std::uint64_t input) noexcept;
    void add_stripe(const std::byte* stripe) noexcept;

    std::uint64_t lanes_[4] = {prime_1 + prime_2, prime_2, 0, 0 - prime_1};
    std::uint64_t total_ = 0;
    std::byte rest_[32]; // of a stripe that is not complete
    std::size_t rest_size_ = 0;
};

} // namespace copy_file
