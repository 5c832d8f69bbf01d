// A pipe as two file handles.
#pragma once

#include <sluice/platform/posix/file_handle.hpp>

#include <stdexcept>

#include <unistd.h>

namespace sluice::test {

struct pipe_ends {
    platform::file_handle source; ///< to read from
    platform::file_handle target; ///< to write to

    pipe_ends() {
        int ends[2];
        std::uint64_t position = 0;
        if (::pipe(ends) != 0)
            throw std::runtime_error("no pipe");
        platform::adopt_descriptor(ends[0], file_access::read, source, position);
        platform::adopt_descriptor(ends[1], file_access::write, target, position);
    }
    pipe_ends(const pipe_ends&) = delete;
    pipe_ends& operator=(const pipe_ends&) = delete;
    ~pipe_ends() {
        close_source();
        close_target();
    }
    void close_source() {
        if (source.is_open())
            platform::close_file(source, nullptr);
    }
    void close_target() {
        if (target.is_open())
            platform::close_file(target, nullptr);
    }
};

} // namespace sluice::test
