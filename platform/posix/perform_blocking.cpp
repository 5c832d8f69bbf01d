#include <sluice/platform/posix/perform_blocking.hpp>

#include <sluice/platform/posix/file_handle.hpp>
#include <sluice/platform/posix/system_calls.hpp>
#include <sluice/platform/transfer.hpp>

namespace sluice::platform {

namespace {

/// One call with RWF_DONTCACHE. -EOPNOTSUPP: the file or the system cannot, which is remembered.
long attempt_uncached(request& r, std::size_t size) noexcept {
    file_handle& file = *r.file;
    std::byte* const data = r.data + r.done;
    const std::uint64_t offset = file.seekable ? next_offset(r) : own_position;
    const int flags = file.transfer_flags;
    const long count =
        r.code == opcode::read
            ? sys::read_with(file.descriptor, data, size, offset, flags, raw_call::read)
            : sys::write_with(file.descriptor, data, size, offset, flags, raw_call::write);
    if (count == -EOPNOTSUPP)
        file.transfer_flags = 0;
    return count;
}

long attempt_read(const request& r, std::size_t size) noexcept {
    const int descriptor = r.file->descriptor;
    std::byte* const data = r.data + r.done;
    if (!r.file->seekable || r.offset == own_position)
        return sys::read(descriptor, data, size);
    const long count = sys::read_at(descriptor, data, size, r.offset + r.done);
    // Some devices and pseudo-files seek and yet have no offsets (dotnet/runtime#59754).
    return count == -ESPIPE || count == -ENXIO ? sys::read(descriptor, data, size) : count;
}

long attempt_write(const request& r, std::size_t size) noexcept {
    const int descriptor = r.file->descriptor;
    const std::byte* const data = r.data + r.done;
    if (!r.file->seekable || r.offset == own_position)
        return sys::write(descriptor, data, size);
    const long count = sys::write_at(descriptor, data, size, r.offset + r.done);
    return count == -ESPIPE || count == -ENXIO ? sys::write(descriptor, data, size) : count;
}

bool transfers(const request& r) noexcept {
    return r.code == opcode::read || r.code == opcode::write;
}

/// Somebody made the descriptor non-blocking: waits where the call would have.
void wait_until_ready(const request& r) noexcept {
    sys::poll_one(r.file->descriptor, r.code == opcode::read ? POLLIN : POLLOUT, nullptr);
}

} // namespace

long attempt_blocking(request& r, std::size_t size) noexcept {
    if (r.code == opcode::write && !r.file->wrote) // looked at first: many use the same line
        r.file->wrote = true;
    if (r.file->transfer_flags != 0 && transfers(r))
        if (const long count = attempt_uncached(r, size); count != -EOPNOTSUPP)
            return count;
    switch (r.code) {
    case opcode::read: return attempt_read(r, size);
    case opcode::write: return attempt_write(r, size);
    case opcode::sync: return sys::sync(r.file->descriptor);
    case opcode::sync_data: return sys::sync_data(r.file->descriptor);
    case opcode::call: break;
    }
    return -EINVAL;
}

void perform_blocking(request& r) noexcept {
    if (transfers(r) && r.done >= r.size) {
        r.result = static_cast<long>(r.done);
        return;
    }
    for (;;) {
        const long raw = attempt_blocking(r, transfers(r) ? next_size(r) : 0);
        if (advance(r, raw, false) == next_step::finished)
            return;
        if (raw == -EAGAIN && !r.file->seekable)
            wait_until_ready(r);
    }
}

} // namespace sluice::platform
