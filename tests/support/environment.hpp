// Sets or unsets an environment variable for a scope.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace sluice::test {

class environment {
public:
    /// `value` null: not set.
    environment(const char* name, const char* value) : name_(name) {
        if (const char* const before = std::getenv(name))
            before_ = before;
        set(value);
    }
    environment(const environment&) = delete;
    environment& operator=(const environment&) = delete;
    ~environment() { set(before_ ? before_->c_str() : nullptr); }

private:
    void set(const char* value) {
        if (value != nullptr)
            setenv(name_, value, 1);
        else
            unsetenv(name_);
    }

    const char* name_;
    std::optional<std::string> before_;
};

} // namespace sluice::test
