// Why an operation was asked to end before it was done, and the error that its awaiting side gets.
#pragma once

#include <sluice/platform/error.hpp>

#include <cstdint>

namespace sluice::completion {

enum class cancel_reason : std::uint8_t {
    none,
    requested, ///< by a stop token, cancel(), or the end of the runtime
    deadline,
    forked, ///< it is the parent's; this is its copy in a child that was told of the fork
};

inline error_code code_of(cancel_reason reason) noexcept {
    switch (reason) {
    case cancel_reason::deadline: return make_error_code(errc::timed_out);
    case cancel_reason::forked: return make_error_code(errc::forked);
    default: return cancelled_error();
    }
}

} // namespace sluice::completion
