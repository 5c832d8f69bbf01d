// The stages of a call on a buffered stream: what the system was asked last.
#pragma once

#include <cstdint>

namespace sluice::strategies {

inline constexpr std::uint8_t stage_begin = 0;     // nothing, or all of it is settled
inline constexpr std::uint8_t stage_flushing = 10; // to take the pending bytes
inline constexpr std::uint8_t stage_topped_up =
    11; // the same, with the first bytes of this write among them
inline constexpr std::uint8_t stage_filling = 12; // to fill the buffer
inline constexpr std::uint8_t stage_past_buffer =
    13; // to read into, or write from, the caller's memory

} // namespace sluice::strategies
