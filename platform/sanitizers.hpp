// Which sanitizer this is compiled under: SLUICE_THREAD_SANITIZER, and SLUICE_SANITIZER for any
// that follows memory through calls of the C library. GCC and Clang say it in different ways.
#pragma once

#if defined(__has_feature)
#define SLUICE_HAS_FEATURE(name) __has_feature(name)
#else
#define SLUICE_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_THREAD__) || SLUICE_HAS_FEATURE(thread_sanitizer)
#define SLUICE_THREAD_SANITIZER 1
#else
#define SLUICE_THREAD_SANITIZER 0
#endif

#if SLUICE_THREAD_SANITIZER || defined(__SANITIZE_ADDRESS__) ||                                    \
    SLUICE_HAS_FEATURE(address_sanitizer) || SLUICE_HAS_FEATURE(memory_sanitizer)
#define SLUICE_SANITIZER 1
#else
#define SLUICE_SANITIZER 0
#endif
