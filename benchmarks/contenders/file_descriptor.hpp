// An owned descriptor for the baselines that work on one.
#pragma once

#include "../harness/file_work.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace bench {

class file_descriptor {
public:
    explicit file_descriptor(const std::filesystem::path& path)
        : number_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        if (number_ < 0)
            throw std::system_error(errno, std::generic_category(), "open " + path.string());
    }
    file_descriptor(const file_descriptor&) = delete;
    file_descriptor& operator=(const file_descriptor&) = delete;
    ~file_descriptor() { close(number_); }

    int number() const { return number_; }

    void truncate() const {
        if (ftruncate(number_, 0) != 0)
            throw std::system_error(errno, std::generic_category(), "ftruncate");
    }

private:
    int number_;
};

} // namespace bench
