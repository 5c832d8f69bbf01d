// What a sanitizer does not allow a test to do.
#pragma once

#if defined(__has_feature)
#define SLUICE_HAS_FEATURE(name) __has_feature(name)
#else
#define SLUICE_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_THREAD__) || SLUICE_HAS_FEATURE(thread_sanitizer)
#define SLUICE_UNDER_THREAD_SANITIZER 1
#else
#define SLUICE_UNDER_THREAD_SANITIZER 0
#endif
#if SLUICE_UNDER_THREAD_SANITIZER || defined(__SANITIZE_ADDRESS__) ||                              \
    SLUICE_HAS_FEATURE(address_sanitizer)
#define SLUICE_SANITIZER_OWNS_THE_HEAP 1
#else
#define SLUICE_SANITIZER_OWNS_THE_HEAP 0
#endif

namespace sluice::test {

inline constexpr bool under_thread_sanitizer = SLUICE_UNDER_THREAD_SANITIZER;
inline constexpr bool sanitizer_owns_the_heap = SLUICE_SANITIZER_OWNS_THE_HEAP;

/// ThreadSanitizer ends a child of a process with threads when it starts a thread of its own.
inline constexpr bool child_may_start_threads = !under_thread_sanitizer;

} // namespace sluice::test
