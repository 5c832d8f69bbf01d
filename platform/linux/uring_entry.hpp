// Fills submission entries. The hot path of the ring: plain stores, no call.
#pragma once

#include <sluice/platform/fault_seam.hpp>
#include <sluice/platform/linux/uring_limits.hpp>
#include <sluice/platform/linux/uring_ring.hpp>
#include <sluice/platform/linux/uring_tag.hpp>
#include <sluice/platform/posix/file_handle.hpp>
#include <sluice/platform/transfer.hpp>

#include <poll.h>

namespace sluice::platform::uring {

/// Waits for readiness before each transfer, perhaps for ever.
inline bool waits_for_readiness(const operation& op) noexcept {
    return op.code <= opcode::write && !op.file->seekable;
}
static_assert(opcode::read < opcode::write && opcode::write < opcode::sync &&
              opcode::sync < opcode::call);

/// Too large a copy for the submitting thread, or one that has to block. Never on a file that may
/// not answer: it would hold a worker of the kernel.
inline bool wants_worker(const request& r, std::size_t size) noexcept {
    return (r.must_block || size > largest_inline_copy) && r.file->seekable;
}

/// Bytes that the submitting thread may have to copy for it.
inline std::size_t inline_bytes(const request& r) noexcept {
    const std::size_t rest = r.size - r.done;
    return r.code > opcode::write || wants_worker(r, rest) ? 0 : rest;
}

inline void remember_tag(operation& op, io_uring_sqe& entry, entry_kind kind) noexcept {
    op.tag = entry.user_data = tag_of(op, kind);
}

// Asks the fault seam; a refusal becomes a no-op whose answer is forced.
inline bool is_refused(operation& op, io_uring_sqe& entry, raw_call_site& site) noexcept {
    const long forced = ask_fault_hook(site);
    if (forced == 0)
        return false;
    op.result = forced;
    entry.opcode = IORING_OP_NOP;
    remember_tag(op, entry, entry_kind::refused);
    return true;
}

/// A transfer of the next `size` bytes.
inline void fill_part(operation& op, io_uring_sqe& entry, std::size_t size,
                      std::uint8_t flags) noexcept {
    // All is read before anything is written: the compiler takes the entry's bytes for a part of
    // any object.
    file_handle& file = *op.file;
    const bool reads = op.code == opcode::read;
    raw_call_site site{reads ? raw_call::ring_read : raw_call::ring_write, file.descriptor, size,
                       next_offset(op)};
    const auto address = reinterpret_cast<std::uintptr_t>(op.data + op.done);
    const int transfer_flags = file.transfer_flags;
    if (!reads && !file.wrote) // looked at first: the line is shared by all who use the file
        file.wrote = true;
    if (is_refused(op, entry, site))
        return;
    entry.opcode = reads ? IORING_OP_READ : IORING_OP_WRITE;
    entry.flags = flags;
    entry.fd = site.descriptor;
    entry.off = site.offset;
    entry.addr = address;
    entry.len = static_cast<unsigned>(site.size);
    entry.rw_flags = transfer_flags;
    remember_tag(op, entry, entry_kind::transfer);
}
inline void fill_transfer(operation& op, io_uring_sqe& entry) noexcept {
    const std::size_t size = next_size(op);
    fill_part(op, entry, size, wants_worker(op, op.size - op.done) ? IOSQE_ASYNC : 0);
}

inline void fill_sync(operation& op, io_uring_sqe& entry) noexcept {
    raw_call_site site{raw_call::ring_sync, op.file->descriptor};
    if (is_refused(op, entry, site))
        return;
    entry.opcode = IORING_OP_FSYNC;
    entry.fd = site.descriptor;
    entry.fsync_flags = op.code == opcode::sync_data ? IORING_FSYNC_DATASYNC : 0;
    remember_tag(op, entry, entry_kind::transfer);
}

// A refused or failed poll (a no-op: zero is its opcode) says nothing of the file; the transfer
// after it will.
inline void fill_readiness(operation& op, io_uring_sqe& entry) noexcept {
    raw_call_site site{raw_call::ring_poll, op.file->descriptor};
    if (ask_fault_hook(site) == 0)
        io_uring_prep_poll_add(&entry, site.descriptor, op.code == opcode::read ? POLLIN : POLLOUT);
    remember_tag(op, entry, entry_kind::readiness);
}

inline void fill_cancel(const operation& op, io_uring_sqe& entry) noexcept {
    raw_call_site site{raw_call::ring_cancel, op.file->descriptor};
    if (ask_fault_hook(site) == 0) {
        entry.opcode = IORING_OP_ASYNC_CANCEL;
        entry.fd = -1;
        entry.addr = op.tag;
    }
    entry.user_data = tag_of(entry_kind::cancel);
}

inline void fill_wake(int event, io_uring_sqe& entry) noexcept {
    io_uring_prep_poll_add(&entry, event, POLLIN);
    entry.user_data = tag_of(entry_kind::wake);
}

} // namespace sluice::platform::uring
