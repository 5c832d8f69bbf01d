// A transfer that is finished by one system call on the calling thread, or is left to the backend's
// try_now and all that comes after it. Inline: on the way of a cached read every call and return
// counts.
#pragma once

#include <sluice/platform/posix/file_handle.hpp>
#include <sluice/platform/posix/raw_system_call.hpp>
#include <sluice/platform/posix/system_calls.hpp>
#include <sluice/platform/tick_clock.hpp>

#include <algorithm>

namespace sluice::platform {

/// All of it came out of the page cache. Otherwise nothing is lost: the same read may be asked for
/// again.
inline bool read_whole_now(const file_handle& file, std::byte* data, std::size_t size,
                           std::uint64_t offset) noexcept {
    if (!file.no_wait_reads) [[unlikely]]
        return false;
    const long raw =
        pass({raw_call::read_no_wait, file.descriptor, size, offset},
             [=, &file](std::size_t n) noexcept {
                 const iovec part{data, n};
                 return sys::raw_preadv2(file.descriptor, &part, 1, static_cast<long>(offset),
                                         RWF_NOWAIT | file.transfer_flags);
             });
    return raw == static_cast<long>(size);
}

/// The same into two places, one behind the other.
inline bool read_whole_now(const file_handle& file, iovec first, iovec second,
                           std::uint64_t offset) noexcept {
    if (!file.no_wait_reads) [[unlikely]]
        return false;
    const std::size_t size = first.iov_len + second.iov_len;
    const auto read = [=, &file](std::size_t n) noexcept {
        iovec parts[2] = {first, second};
        parts[0].iov_len = std::min(n, first.iov_len);
        parts[1].iov_len = n - parts[0].iov_len;
        return sys::raw_preadv2(file.descriptor, parts, 2, static_cast<long>(offset),
                                RWF_NOWAIT | file.transfer_flags);
    };
    return pass({raw_call::read_no_wait, file.descriptor, size, offset}, read) ==
           static_cast<long>(size);
}

/// Whether a positional read that cannot say "not now" may be made here: files that were fast so
/// far.
inline bool may_read_here(const file_handle& file, std::size_t size) noexcept {
    return file.block_backed && file.regular && !file.is_direct && file.transfer_flags == 0 &&
           file.no_wait_reads && size <= adaptive_inlining::largest_inline &&
           (file.inlining.is_trusted() ||
            file.inlining.allows(size, adaptive_inlining::clock::now()));
}

/// Whether a positional write may be made here: files that were fast so far, and what is not too
/// much.
inline bool may_write_here(const file_handle& file, std::size_t size) noexcept {
    return file.inlining.is_trusted() && size <= adaptive_inlining::largest_inline &&
           file.regular && !file.is_direct && !file.synchronous && file.transfer_flags == 0;
}

/// A call on the file ended now, and took long enough to be looked at.
void judge_ended_call(file_handle& file, std::size_t size, std::chrono::nanoseconds took) noexcept;

/// The same at once, when it began at `start` and may have been slow; where the file is in doubt,
/// fast ones count too.
inline void judge_ended_call(file_handle& file, std::size_t size,
                             tick_clock::ticks start) noexcept {
    const tick_clock::ticks took = tick_clock::now() - start;
    if (took > tick_clock::surely_within(std::chrono::nanoseconds(file.inlining.limit_for(0))) ||
        !file.inlining.is_trusted()) [[unlikely]]
        judge_ended_call(file, size, tick_clock::duration_of(took));
}

/// One attempt to read all of it at `offset`, by a call that begins at `start`; answers as the
/// system does.
inline long read_here(file_handle& file, std::byte* data, std::size_t size, std::uint64_t offset,
                      tick_clock::ticks start) noexcept {
    const auto read = [=, &file](std::size_t n) noexcept {
        return sys::raw_pread(file.descriptor, data, n, static_cast<long>(offset));
    };
    const long raw = pass({raw_call::read, file.descriptor, size, offset}, read);
    judge_ended_call(file, size, start);
    return raw;
}

/// One attempt to write all of it at `offset`; answers as the system does, for advance() to judge.
inline long write_here(file_handle& file, const std::byte* data, std::size_t size,
                       std::uint64_t offset) noexcept {
    if (!file.wrote) [[unlikely]]
        file.wrote = true;
    const tick_clock::ticks start = tick_clock::now();
    const auto write = [=, &file](std::size_t n) noexcept {
        return sys::raw_pwrite(file.descriptor, data, n, static_cast<long>(offset));
    };
    const long raw = pass({raw_call::write, file.descriptor, size, offset}, write);
    judge_ended_call(file, size, start);
    return raw;
}

} // namespace sluice::platform
