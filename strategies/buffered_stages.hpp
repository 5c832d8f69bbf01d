// The stages of a call on a buffered stream: what the system was asked last.
#pragma once

#include <cstdint>

namespace sluice::strategies {

inline constexpr std::uint8_t stage_begin = 0;     // nothing, or all of it is settled
inline constexpr std::uint8_t stage_flushing = 10; // to take the pending bytes
// The same, with the first bytes of this write among them.
inline constexpr std::uint8_t stage_topped_up = 11;
inline constexpr std::uint8_t stage_filling = 12; // to fill the buffer
// To read into, or write from, the caller's memory.
inline constexpr std::uint8_t stage_past_buffer = 13;

} // namespace sluice::strategies
