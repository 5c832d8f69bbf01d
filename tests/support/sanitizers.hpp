// What a sanitizer does not allow a test to do.
#pragma once

#include <sluice/platform/sanitizers.hpp>

namespace sluice::test {

inline constexpr bool under_thread_sanitizer = SLUICE_THREAD_SANITIZER != 0;
inline constexpr bool sanitizer_owns_the_heap = SLUICE_SANITIZER != 0;

/// ThreadSanitizer ends a child of a process with threads when it starts a thread of its own.
inline constexpr bool child_may_start_threads = !under_thread_sanitizer;

} // namespace sluice::test
