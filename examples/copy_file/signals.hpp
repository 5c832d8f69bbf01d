// Turns SIGINT, SIGTERM and SIGHUP into a stop request; a second one ends the process at once.
#pragma once

#include <stop_token>

namespace copy_file {

/// Before any other thread is started: they shall all leave the signals to the one that waits.
std::stop_token stop_on_signals();
/// Which one came; 0: none.
int signal_received() noexcept;

} // namespace copy_file
