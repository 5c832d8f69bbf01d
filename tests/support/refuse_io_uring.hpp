// Really takes io_uring away from this process, the way containers do: a seccomp filter. It cannot
// be removed, so this belongs into a child process.
#pragma once

#include <ostream>

namespace sluice::test {

enum class refused_calls {
    all,        ///< io_uring_setup, io_uring_enter, io_uring_register
    setup_only, ///< existing rings go on
    enter_only,
};

inline std::ostream& operator<<(std::ostream& out, refused_calls which) {
    return out << (which == refused_calls::all          ? "all"
                   : which == refused_calls::setup_only ? "setup"
                                                        : "enter");
}

/// From now on every thread gets `error` from these calls. False when the filter could not be
/// installed.
bool refuse_io_uring(int error, refused_calls which = refused_calls::all);
/// From now on these calls end the process with SIGSYS.
bool kill_for_io_uring();

} // namespace sluice::test
