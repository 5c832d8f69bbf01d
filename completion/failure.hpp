// Why an operation failed, with what a file_error needs to say it.
#pragma once

#include <sluice/platform/error.hpp>

#include <exception>
#include <memory>
#include <string>

namespace sluice::completion {

using shared_path = std::shared_ptr<const std::string>;

struct failure {
    error_code code;
    const char* operation = nullptr; ///< null: a plain system_error is thrown
    shared_path path;
    std::size_t transferred = 0;
    std::exception_ptr exception; ///< only from the public source

    [[noreturn]] void raise() const;
};

} // namespace sluice::completion
