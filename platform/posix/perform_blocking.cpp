#include <sluice/platform/posix/perform_blocking.hpp>

#include <sluice/platform/posix/file_handle.hpp>
#include <sluice/platform/posix/system_calls.hpp>
#include <sluice/platform/transfer.hpp>

namespace sluice::platform {

namespace {

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

/// Somebody made the descriptor non-blocking: waits where the call would have.
void wait_until_ready(const request& r) noexcept {
    sys::poll_one(r.file->descriptor, r.code == opcode::read ? POLLIN : POLLOUT, nullptr);
}

} // namespace

long attempt_blocking(request& r, std::size_t size) noexcept {
    switch (r.code) {
    case opcode::read: return attempt_read(r, size);
    case opcode::write:
        if (!r.file->wrote) // looked at first: the line is shared by all who use the file
            r.file->wrote = true;
        return attempt_write(r, size);
    case opcode::sync: return sys::sync(r.file->descriptor);
    case opcode::sync_data: return sys::sync_data(r.file->descriptor);
    case opcode::call: break;
    }
    return -EINVAL;
}

void perform_blocking(request& r) noexcept {
    const bool transfers = r.code == opcode::read || r.code == opcode::write;
    if (transfers && r.done >= r.size) {
        r.result = static_cast<long>(r.done);
        return;
    }
    for (;;) {
        const long raw = attempt_blocking(r, transfers ? next_size(r) : 0);
        if (advance(r, raw, false) == next_step::finished)
            return;
        if (raw == -EAGAIN && !r.file->seekable)
            wait_until_ready(r);
    }
}

} // namespace sluice::platform
