#include <sluice/platform/linux/unseekable.hpp>

#include <sluice/platform/posix/file_handle.hpp>
#include <sluice/platform/posix/perform_blocking.hpp>
#include <sluice/platform/posix/system_calls.hpp>

#include <algorithm>

#include <limits.h>

namespace sluice::platform {

namespace {

/// RWF_NOWAIT; -EOPNOTSUPP: this file cannot say "not now", which is remembered.
long attempt_without_waiting(request& r, std::size_t size) noexcept {
    file_handle& file = *r.file;
    const bool reads = r.code == opcode::read;
    relaxed<bool>& can_say = reads ? file.no_wait_reads : file.no_wait_writes;
    if (!can_say)
        return -EOPNOTSUPP;
    if (!reads)
        file.wrote = true;
    std::byte* const data = r.data + r.done;
    const long raw = reads ? sys::read_with(file.descriptor, data, size, own_position, RWF_NOWAIT)
                           : sys::write_with(file.descriptor, data, size, own_position, RWF_NOWAIT);
    // FIFOs and terminals answer EOPNOTSUPP; kernels before 4.16 EINVAL to the offset.
    if (raw == -EOPNOTSUPP || raw == -ENOSYS || raw == -EINVAL || raw == -ESPIPE) {
        can_say = false;
        return -EOPNOTSUPP;
    }
    return raw;
}

/// Just after poll said yes.
long attempt_when_ready(request& r, std::size_t size) noexcept {
    // A pipe that polls writable takes this much without waiting, and so does what imitates one.
    if (r.code == opcode::write)
        size = std::min<std::size_t>(size, PIPE_BUF);
    return attempt_blocking(r, size);
}

bool is_ready(const request& r) noexcept {
    static constexpr timespec at_once{};
    const short wanted = r.code == opcode::read ? POLLIN : POLLOUT;
    return sys::poll_one(r.file->descriptor, wanted, &at_once) > 0;
}

} // namespace

long attempt_unseekable(request& r, std::size_t size, bool may_race) noexcept {
    const long raw = attempt_without_waiting(r, size);
    if (raw != -EOPNOTSUPP)
        return raw;
    return may_race && is_ready(r) ? attempt_when_ready(r, size) : -EAGAIN;
}

} // namespace sluice::platform
