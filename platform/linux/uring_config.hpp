// What the ring's files need from liburing's headers, the constants that old ones lack, and the
// annotations for ThreadSanitizer. Private: the one place of platform/linux where feature macros
// are looked at, but for the processor's and the sanitizers' in raw_ring_enter.hpp.
#pragma once

#include <sluice/platform/sanitizers.hpp>

#include <liburing.h>

#include <cstdint>

#ifndef IORING_SETUP_SUBMIT_ALL
#define IORING_SETUP_SUBMIT_ALL (1U << 7)
#endif
#ifndef IORING_SETUP_COOP_TASKRUN
#define IORING_SETUP_COOP_TASKRUN (1U << 8)
#endif
#ifndef IORING_SETUP_TASKRUN_FLAG
#define IORING_SETUP_TASKRUN_FLAG (1U << 9)
#endif
#ifndef IORING_SETUP_SINGLE_ISSUER
#define IORING_SETUP_SINGLE_ISSUER (1U << 12)
#endif
#ifndef IORING_SETUP_DEFER_TASKRUN
#define IORING_SETUP_DEFER_TASKRUN (1U << 13)
#endif
#ifndef IORING_SQ_TASKRUN
#define IORING_SQ_TASKRUN (1U << 2)
#endif

#if SLUICE_THREAD_SANITIZER
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace sluice::platform::uring {

// The kernel orders what one thread submitted before what another thread finds completed (a write
// into a pipe and the read at its other end), and ThreadSanitizer cannot see it. One address stands
// for the kernel.
#if SLUICE_THREAD_SANITIZER
inline char kernel_side;
inline void hand_to_kernel() noexcept { __tsan_release(&kernel_side); }
inline void take_from_kernel() noexcept { __tsan_acquire(&kernel_side); }
#else
inline void hand_to_kernel() noexcept {}
inline void take_from_kernel() noexcept {}
#endif

#ifdef NDEBUG
inline constexpr bool checks_tags = false;
#else
inline constexpr bool checks_tags = true;
#endif

} // namespace sluice::platform::uring
