#include "digest.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace copy_file {

namespace {

template <class Word>
Word read_little_endian(const std::byte* from) noexcept {
    Word word = 0;
    std::memcpy(&word, from, sizeof word);
    if constexpr (std::endian::native == std::endian::big)
        word = sizeof word == 8 ? static_cast<Word>(__builtin_bswap64(word))
                                : static_cast<Word>(__builtin_bswap32(word));
    return word;
}

} // namespace

std::uint64_t digest::mixed(std::uint64_t lane, std::uint64_t input) noexcept {
    return std::rotl(lane + input * prime_2, 31) * prime_1;
}

void digest::add_stripe(const std::byte* stripe) noexcept {
    for (std::size_t i = 0; i < 4; ++i)
        lanes_[i] = mixed(lanes_[i], read_little_endian<std::uint64_t>(stripe + 8 * i));
}

void digest::add(std::span<const std::byte> data) noexcept {
    total_ += data.size();
    const std::size_t fits = std::min(data.size(), sizeof rest_ - rest_size_);
    if (rest_size_ != 0 || fits < sizeof rest_) {
        std::copy_n(data.begin(), fits, rest_ + rest_size_);
        rest_size_ += fits;
        data = data.subspan(fits);
        if (rest_size_ < sizeof rest_)
            return;
        add_stripe(rest_);
        rest_size_ = 0;
    }
    for (; data.size() >= sizeof rest_; data = data.subspan(sizeof rest_))
        add_stripe(data.data());
    std::copy(data.begin(), data.end(), rest_);
    rest_size_ = data.size();
}

std::uint64_t digest::value() const noexcept {
    std::uint64_t hash = lanes_[2] + prime_5;
    if (total_ >= sizeof rest_) {
        hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
               std::rotl(lanes_[3], 18);
        for (const std::uint64_t lane : lanes_)
            hash = (hash ^ mixed(0, lane)) * prime_1 + prime_4;
    }
    hash += total_;

    const std::byte* at = rest_;
    std::size_t left = rest_size_;
    for (; left >= 8; at += 8, left -= 8)
        hash = std::rotl(hash ^ mixed(0, read_little_endian<std::uint64_t>(at)), 27) * prime_1 +
               prime_4;
    if (left >= 4) {
        hash = std::rotl(hash ^ (read_little_endian<std::uint32_t>(at) * prime_1), 23) * prime_2 +
               prime_3;
        at += 4;
        left -= 4;
    }
    for (; left != 0; ++at, --left)
        hash = std::rotl(hash ^ (std::to_integer<std::uint64_t>(*at) * prime_5), 11) * prime_1;

    hash = (hash ^ (hash >> 33)) * prime_2;
    hash = (hash ^ (hash >> 29)) * prime_3;
    return hash ^ (hash >> 32);
}

} // namespace copy_file
