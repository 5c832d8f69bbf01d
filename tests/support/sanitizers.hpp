// What a sanitizer does not allow a test to do.
#pragma once

namespace sluice::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool under_thread_sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool under_thread_sanitizer = true;
#else
inline constexpr bool under_thread_sanitizer = false;
#endif
#else
inline constexpr bool under_thread_sanitizer = false;
#endif

/// ThreadSanitizer ends a child of a process with threads when it starts a thread of its own.
inline constexpr bool child_may_start_threads = !under_thread_sanitizer;

} // namespace sluice::test
