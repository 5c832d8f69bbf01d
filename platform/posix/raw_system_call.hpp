// Three system calls without the C library around them. On processors that forget where returns go
// whenever the kernel was entered (mitigations of 2018 to 2023), each return after a call costs
// tens of nanoseconds: on the way of a cached read there should be few. Sanitizers know the
// library's calls only, so their builds use those.
#pragma once

#include <sluice/platform/sanitizers.hpp>

#include <cerrno>
#include <cstddef>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace sluice::platform::sys {

#if defined(__x86_64__) && !SLUICE_SANITIZER

inline long raw_preadv2(int descriptor, const iovec* parts, long count, long offset,
                        long flags) noexcept {
    long result;
    register long arg4 asm("r10") = offset;
    register long arg5 asm("r8") = 0; // the upper half of the offset, of 32-bit systems
    register long arg6 asm("r9") = flags;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(static_cast<long>(SYS_preadv2)), "D"(static_cast<long>(descriptor)),
                   "S"(parts), "d"(count), "r"(arg4), "r"(arg5), "r"(arg6)
                 : "rcx", "r11", "memory");
    return result;
}

/// pread and pwrite differ in their number alone.
template <long number>
inline long raw_at(int descriptor, const void* data, std::size_t size, long offset) noexcept {
    long result;
    register long arg4 asm("r10") = offset;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(static_cast<long>(descriptor)), "S"(data), "d"(size), "r"(arg4)
                 : "rcx", "r11", "memory");
    return result;
}
inline long raw_pread(int descriptor, void* data, std::size_t size, long offset) noexcept {
    return raw_at<SYS_pread64>(descriptor, data, size, offset);
}
inline long raw_pwrite(int descriptor, const void* data, std::size_t size, long offset) noexcept {
    return raw_at<SYS_pwrite64>(descriptor, data, size, offset);
}

#else

inline long raw_preadv2(int descriptor, const iovec* parts, long count, long offset,
                        long flags) noexcept {
    const ssize_t n =
        ::preadv2(descriptor, parts, static_cast<int>(count), offset, static_cast<int>(flags));
    return n < 0 ? -errno : n;
}

inline long raw_pread(int descriptor, void* data, std::size_t size, long offset) noexcept {
    const ssize_t n = ::pread(descriptor, data, size, offset);
    return n < 0 ? -errno : n;
}

inline long raw_pwrite(int descriptor, const void* data, std::size_t size, long offset) noexcept {
    const ssize_t n = ::pwrite(descriptor, data, size, offset);
    return n < 0 ? -errno : n;
}

#endif

} // namespace sluice::platform::sys
