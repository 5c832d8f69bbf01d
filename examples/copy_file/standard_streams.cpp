#include "standard_streams.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace copy_file {

void keep_standard_descriptors() noexcept {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF)
            continue;
        // The lowest number that is free is this one. Opened for the other direction than it is
        // used in.
        const int access = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        static_cast<void>(::open("/dev/null", access));
    }
}

std::FILE* report_stream(const std::filesystem::path& destination) noexcept {
    struct stat output{};
    struct stat target{};
    const bool same = ::fstat(STDOUT_FILENO, &output) == 0 &&
                      ::stat(destination.c_str(), &target) == 0 && output.st_dev == target.st_dev &&
                      output.st_ino == target.st_ino;
    return same ? stderr : stdout;
}

} // namespace copy_file
