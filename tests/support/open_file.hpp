// Opens files on the platform layer for a test, and closes what it opened.
#pragma once

#include <sluice/platform/posix/file_handle.hpp>

#include <string>
#include <utility>

namespace sluice::test {

/// The request for a path. The string must outlive it.
inline platform::open_request request_for(const std::string& path, file_mode mode = file_mode::open,
                                          file_access access = file_access::read) {
    platform::open_request wanted;
    wanted.path = path.c_str();
    wanted.mode = mode;
    wanted.access = access;
    return wanted;
}

/// What open_file made of a request.
class opened {
public:
    explicit opened(platform::open_request wanted)
        : path_(wanted.path) {
        outcome = platform::open_file(wanted, file);
    }
    opened(const std::string& path, file_mode mode, file_access access)
        : opened(request_for(path, mode, access)) {}
    opened(const opened&) = delete;
    opened& operator=(const opened&) = delete;
    ~opened() { close(); }

    long close() {
        return file.is_open() ? platform::close_file(file, path_.c_str()) : 0;
    }

    platform::file_handle file;
    platform::open_outcome outcome;

private:
    std::string path_;
};

} // namespace sluice::test
