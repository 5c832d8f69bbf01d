// Starts the threads of the library: signals stay with the threads of the program (a SIGXFSZ or
// SIGPIPE of a write becomes its errno), and failure to start is an answer, not an exception.
#pragma once

#include <thread>

namespace sluice::platform {

/// 0 or -errno. `body(context)` runs on the new thread, which is named `name` (at most 15
/// characters).
long start_thread(std::thread& thread, const char* name, void (*body)(void*) noexcept,
                  void* context) noexcept;

} // namespace sluice::platform
