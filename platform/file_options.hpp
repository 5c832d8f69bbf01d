// How a file is opened: the enumerations of the open table, and their bit operations.
#pragma once

#include <cstdint>
#include <type_traits>

namespace sluice {

enum class file_mode : std::uint8_t {
    create_new,     ///< must not exist
    create,         ///< created, or cut to nothing
    open,           ///< must exist
    open_or_create, ///< created when missing, else opened as it is
    truncate,       ///< must exist, cut to nothing
    append,         ///< created when missing; every write lands at the end (O_APPEND)
};

enum class file_access : std::uint8_t { read = 1, write = 2, read_write = 3 };

/// What others may do meanwhile. Bit set. No lock is taken unless it is given.
enum class file_share : unsigned {
    none = 0,
    read = 1,
    write = 2,
    read_write = 3,
    remove = 4,
    inheritable = 16
};

/// Bit set of hints and modes.
enum class file_options : unsigned {
    none = 0,
    write_through = 1,   ///< O_SYNC: every write reaches the disk before it completes
    random_access = 2,   ///< hint: no read-ahead by the system
    sequential_scan = 4, ///< hint: read far ahead
    delete_on_close = 8, ///< the name is removed when this stream closes
    direct = 16,         ///< no page cache
    uncached = 32,       ///< page cache dropped behind
    encrypted = 64,      ///< Windows only; ignored elsewhere
    beneath = 128,       ///< a relative path may not leave the folder it starts in
};

enum class seek_origin : std::uint8_t { begin, current, end };

template <class E>
concept file_bit_set = std::is_same_v<E, file_share> || std::is_same_v<E, file_options>;

template <file_bit_set E>
constexpr E operator|(E a, E b) noexcept {
    return static_cast<E>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
template <file_bit_set E>
constexpr E operator&(E a, E b) noexcept {
    return static_cast<E>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
template <file_bit_set E>
constexpr E operator~(E a) noexcept {
    return static_cast<E>(~static_cast<unsigned>(a));
}
template <file_bit_set E>
constexpr E& operator|=(E& a, E b) noexcept {
    return a = a | b;
}
template <file_bit_set E>
constexpr bool has(E set, E bit) noexcept {
    return (set & bit) == bit;
}

constexpr bool can_read(file_access a) noexcept { return (static_cast<unsigned>(a) & 1u) != 0; }
constexpr bool can_write(file_access a) noexcept { return (static_cast<unsigned>(a) & 2u) != 0; }

} // namespace sluice
