// What one call on a stream is about and how far it is: remembered in the I/O source while it
// waits, on the stack while it need not.
#pragma once

#include <sluice/platform/error.hpp>
#include <sluice/platform/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice::strategies {

enum class verb : std::uint8_t {
    read,
    write,
    flush,
    sync,
    sync_data,
    set_length,
    lock,
    unlock,
    close,
    cancel
};
const char* name_of(verb what) noexcept;

/// What the system was asked last for a call.
enum class call_stage : std::uint8_t {
    not_asked,    ///< nothing, or all of it is settled
    transferring, ///< unbuffered: the transfer
    flushing,     ///< buffered: to take the pending bytes
    topped_up,    ///< the same, with the first bytes of this write among them
    filling,      ///< to fill the buffer
    past_buffer,  ///< to read into, or write from, the caller's memory
    answering,    ///< a control call
};

struct stream_call {
    verb what = verb::read;
    call_stage stage = call_stage::not_asked;
    bool shares = false;    ///< may run beside other calls that share
    bool waits = false;     ///< for its turn
    bool cancels_others = false; ///< the stream is being destroyed
    std::uint16_t seeks = 0;     ///< how often the position had been set when it was reserved
    errc condition = errc{};     ///< failed without an errno
    int status = 0;              ///< failed with this -errno
    std::byte* data = nullptr;
    std::size_t size = 0;
    std::size_t done = 0;       ///< bytes transferred for the caller
    std::size_t minimum = 0;    ///< read: go on until there are so many, or end of file is an error
    std::uint64_t argument = 0; ///< position that was reserved; length; offset of a range
    /// Length of a range; write: bytes of the caller that wait in the buffer; set_length: the
    /// position before.
    std::uint64_t extent = 0;

    /// Bytes that are lost when it fails and nobody hears of it. A close counts in `size` what it
    /// could not write.
    std::size_t lost() const noexcept {
        return what == verb::write || what == verb::close ? size - done : 0;
    }
    bool failed() const noexcept { return status != 0 || condition != errc{}; }
};
static_assert(std::is_trivially_copyable_v<stream_call>);

} // namespace sluice::strategies
