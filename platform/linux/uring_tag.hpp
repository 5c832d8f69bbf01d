// What user_data says: the operation and, in the bits that its alignment leaves free, what of it
// completed.
#pragma once

#include <sluice/platform/operation.hpp>

#include <cstdint>

namespace sluice::platform::uring {

enum class entry_kind : std::uint8_t {
    transfer = 1,  ///< a read, write or sync
    refused = 2,   ///< a no-op in its place: the fault seam had put the answer into `result`
    readiness = 3, ///< the poll before a transfer on an unseekable file
    cancel = 4,    ///< names no operation: it may be over
    wake = 5,      ///< the wake event
};

inline constexpr std::uint64_t kind_bits = 7;
static_assert(alignof(operation) > kind_bits);

inline std::uint64_t tag_of(const operation& op, entry_kind kind) noexcept {
    return reinterpret_cast<std::uintptr_t>(&op) | static_cast<std::uint64_t>(kind);
}
constexpr std::uint64_t tag_of(entry_kind kind) noexcept {
    return static_cast<std::uint64_t>(kind);
}
constexpr entry_kind kind_of(std::uint64_t tag) noexcept {
    return static_cast<entry_kind>(tag & kind_bits);
}
inline operation& operation_of(std::uint64_t tag) noexcept {
    return *reinterpret_cast<operation*>(static_cast<std::uintptr_t>(tag & ~kind_bits));
}

/// Where an operation is; kept in operation::home while the ring's backend has it.
enum class stage : std::uint8_t {
    none,      ///< not here, or finished
    waiting,   ///< in a list, the kernel knows nothing of it
    in_kernel, ///< one entry of it is queued or in the kernel
    to_cancel, ///< the same, and its cancellation still wants an entry
    stranded,  ///< in the hands of a ring that was given up
};
inline stage stage_of(const operation& op) noexcept { return static_cast<stage>(op.home); }
inline void set_stage(operation& op, stage to) noexcept { op.home = static_cast<std::uint8_t>(to); }

} // namespace sluice::platform::uring
