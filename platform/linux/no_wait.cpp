#include <sluice/platform/linux/no_wait.hpp>

#include <sluice/platform/linux/kernel_quirks.hpp>
#include <sluice/platform/linux/processor_wait.hpp>
#include <sluice/platform/linux/unseekable.hpp>
#include <sluice/platform/posix/file_handle.hpp>
#include <sluice/platform/posix/perform_blocking.hpp>
#include <sluice/platform/posix/system_calls.hpp>
#include <sluice/platform/posix/whole_transfer.hpp>
#include <sluice/platform/transfer.hpp>

#include <algorithm>

namespace sluice::platform {

namespace {

using clock = adaptive_inlining::clock;

bool finish(request& r) noexcept {
    r.result = static_cast<long>(r.done);
    return true;
}

/// Whether this request could be made here at all. Never what waits for a device; and an append in
/// two calls would not be one append any more.
bool may_go_inline(const request& r, std::size_t limit) noexcept {
    const bool whole = r.size - r.done <= limit || r.offset != own_position || r.done != 0;
    return whole && !r.file->is_direct && !(r.code == opcode::write && r.file->synchronous);
}

/// Calls that could block, made here because the file has been fast: one, and after a short one the
/// next.
bool try_adaptively(request& r, std::size_t limit) noexcept {
    if (!may_go_inline(r, limit))
        return false;
    file_handle& file = *r.file;
    for (clock::time_point start = clock::now();;) {
        const std::size_t left = r.size - r.done;
        const std::size_t size = std::min(left, limit);
        if (size == 0 || !file.inlining.allows(size, start))
            return false;
        const long raw = attempt_blocking(r, size);
        const clock::time_point end = clock::now();
        judge_call(file.inlining, size, start, end);

        if (raw == static_cast<long>(left)) [[likely]] {
            r.done = r.size;
            return finish(r);
        }
        if (advance(r, raw, false) == next_step::finished)
            return true;
        if (raw <= 0)
            return false;
        limit -= static_cast<std::size_t>(raw);
        start = end;
    }
}

/// A 0 is the end of file, except on kernels that are known to lie: there the length decides.
bool is_end_of_file(const request& r) noexcept {
    static const bool suspected = is_suspected(false_end_of_file);
    if (!suspected) [[likely]]
        return true;
    const long length = length_of(*r.file);
    return length >= 0 && r.offset + r.done >= static_cast<std::uint64_t>(length);
}

/// The read brought nothing (`raw` <= 0) for `size` bytes: end of file, or another way.
[[gnu::noinline]] bool read_stopped(request& r, long raw, std::size_t size,
                                    inline_limits limits) noexcept {
    switch (-raw) {
    case 0: return size > 0 && is_end_of_file(r) && finish(r);
    case EOPNOTSUPP:
    case ENOSYS:
    case EINVAL:
        if (r.file->transfer_flags != 0) { // perhaps only that flag was too much
            r.file->transfer_flags = 0;
            return false;
        }
        r.file->no_wait_reads = false;
        return limits.may_block && try_adaptively(r, limits.bytes);
    default:
        // Not now, or an error; those are not believed from this call (spurious EIO:
        // scylladb/scylla#3996), the way that may block tells.
        return false;
    }
}

bool read_now(request& r, inline_limits limits) noexcept {
    const int flags = RWF_NOWAIT | r.file->transfer_flags;
    for (;;) {
        const std::size_t left = r.size - r.done;
        const std::size_t size = std::min(left, limits.bytes);
        const long raw =
            sys::read_with(r.file->descriptor, r.data + r.done, size, next_offset(r), flags);
        if (raw == static_cast<long>(left)) [[likely]] {
            r.done = r.size;
            return finish(r);
        }
        if (raw <= 0)
            return read_stopped(r, raw, size, limits);
        // Short: at the end of file, of what is cached, or of the limit. The next call tells.
        if (advance(r, raw, false) == next_step::finished)
            return true;
        limits.bytes -= static_cast<std::size_t>(raw);
        if (limits.bytes == 0)
            return false;
    }
}

bool try_unseekable(request& r, inline_limits limits) noexcept {
    while (r.done < r.size && limits.bytes > 0) {
        const std::size_t size = std::min(next_size(r), limits.bytes);
        const long raw = attempt_unseekable(r, size, limits.may_block);
        if (advance(r, raw, false) == next_step::finished)
            return true;
        if (raw <= 0)
            return false;
        limits.bytes -= static_cast<std::size_t>(raw);
    }
    return false;
}

bool try_transfer(request& r, inline_limits limits) noexcept {
    if (r.done >= r.size)
        return finish(r);
    if (!r.file->seekable)
        return try_unseekable(r, limits);
    return limits.may_block && try_adaptively(r, limits.bytes);
}

} // namespace

void judge_ended_call(file_handle& file, std::size_t size, std::chrono::nanoseconds took) noexcept {
    const clock::time_point end = clock::now();
    judge_call(file.inlining, size, end - took, end);
}

bool try_request_now(request& r, inline_limits limits) noexcept {
    switch (r.code) {
    case opcode::read:
        if (r.file->no_wait_reads && r.file->seekable) [[likely]]
            return read_now(r, limits);
        return try_transfer(r, limits);
    case opcode::write: return try_transfer(r, limits);
    default: return false;
    }
}

} // namespace sluice::platform
