// Turns SIGINT, SIGTERM and SIGHUP into a stop request. What does not stop within two seconds (a
// pipe that nobody opens at its other end, a disk that does not answer), or before a second signal,
// is left to the end of the process.
#pragma once

#include <stop_token>

namespace copy_file {

/// Before any other thread is started: they shall all leave the signals to the one that waits. The
/// last thing before the end of a process that did not stop is `clean_up`.
std::stop_token stop_on_signals(void (*clean_up)() noexcept);
/// Which one came; 0: none.
int signal_received() noexcept;

} // namespace copy_file
