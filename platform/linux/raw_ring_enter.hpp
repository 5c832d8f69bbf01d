// io_uring_enter(2) without liburing around it, for the reason that posix/raw_system_call.hpp
// gives: what comes after it finds nothing of its way back in the processor.
#pragma once

#include <sluice/platform/sanitizers.hpp>

#include <csignal>
#include <cstddef>
#include <liburing.h>
#include <sys/syscall.h>

namespace sluice::platform::uring {

#if defined(__x86_64__) && !SLUICE_SANITIZER

/// A count or -errno. `argument`: a signal mask or, as the flags say, an io_uring_getevents_arg.
inline long raw_ring_enter(int descriptor, unsigned to_submit, unsigned min_complete,
                           unsigned flags, void* argument, std::size_t size) noexcept {
    long result;
    register long arg4 asm("r10") = static_cast<long>(flags);
    register void* arg5 asm("r8") = argument;
    register std::size_t arg6 asm("r9") = size;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(static_cast<long>(__NR_io_uring_enter)), "D"(static_cast<long>(descriptor)),
                   "S"(static_cast<long>(to_submit)), "d"(static_cast<long>(min_complete)),
                   "r"(arg4), "r"(arg5), "r"(arg6)
                 : "rcx", "r11", "memory");
    return result;
}

#else

inline long raw_ring_enter(int descriptor, unsigned to_submit, unsigned min_complete,
                           unsigned flags, void* argument, std::size_t size) noexcept {
    return io_uring_enter2(static_cast<unsigned>(descriptor), to_submit, min_complete, flags,
                           static_cast<sigset_t*>(argument), size);
}

#endif

} // namespace sluice::platform::uring
