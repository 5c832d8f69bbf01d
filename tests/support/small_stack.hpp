// Runs a function on a thread with a stack of 256 KiB (more where sanitizers need it), so that one
// that grows with the work to do overflows.
#pragma once

#include "support/sanitizers.hpp"

#include <functional>
#include <stdexcept>

#include <pthread.h>

namespace sluice::test {

inline constexpr std::size_t small_stack_size =
    sanitizer_owns_the_heap ? 2 * 1024 * 1024 : 256 * 1024;

inline void on_small_stack(std::function<void()> function) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_t thread;
    if (pthread_attr_setstacksize(&attributes, small_stack_size) != 0 ||
        pthread_create(
            &thread, &attributes,
            [](void* run) -> void* {
                (*static_cast<std::function<void()>*>(run))();
                return nullptr;
            },
            &function) != 0)
        throw std::runtime_error("no thread with a small stack");
    pthread_attr_destroy(&attributes);
    pthread_join(thread, nullptr);
}

} // namespace sluice::test
