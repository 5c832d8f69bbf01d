#include "target.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace copy_file {

namespace {

[[noreturn]] void refuse(int error, const char* operation, const std::filesystem::path& path) {
    throw sluice::file_error(sluice::system_error_from(-error), operation,
                             std::make_shared<const std::string>(path.native()));
}

// Also of links that point to nothing yet.
std::filesystem::path follow_links(std::filesystem::path path) {
    constexpr int most = 40; // as the system does
    std::error_code error;
    for (int i = 0; i < most; ++i) {
        const std::filesystem::path next = std::filesystem::read_symlink(path, error);
        if (error)
            return path;
        path = next.is_absolute() ? next : path.parent_path() / next;
    }
    refuse(ELOOP, "open", path);
}

// What is to be removed, also by another thread: never destroyed, it may come while main returns.
std::mutex leftover_mutex;
std::string& leftover = *new std::string; // guarded by it

constexpr std::filesystem::perms permissions_of(const struct stat& file) noexcept {
    return static_cast<std::filesystem::perms>(file.st_mode & 0777);
}

} // namespace

target::target(const std::filesystem::path& destination, int source_descriptor) {
    struct stat source{};
    struct stat old{};
    if (::fstat(source_descriptor, &source) != 0)
        refuse(errno, "stat", destination);
    const bool exists = ::stat(destination.c_str(), &old) == 0;
    if (!exists && errno != ENOENT)
        refuse(errno, "open", destination);
    if (exists) {
        if (source.st_dev == old.st_dev && source.st_ino == old.st_ino)
            throw std::runtime_error("copy to '" + destination.native() +
                                     "': that is the source itself");
        if (S_ISDIR(old.st_mode))
            refuse(EISDIR, "open", destination);
        // The system is asked, because replacing a file by its name needs no leave to write to it.
        if (::faccessat(AT_FDCWD, destination.c_str(), W_OK, AT_EACCESS) != 0)
            refuse(errno, "open", destination);
    }

    is_regular_ = !exists || S_ISREG(old.st_mode);
    options_.access = sluice::file_access::write;
    options_.buffer_size = 0; // the copy has buffers of its own
    if (!is_regular_) {
        path_ = destination;
        return;
    }
    destination_ = follow_links(destination);
    path_ = destination_.parent_path() / (".copy_file." + std::to_string(::getpid()));
    options_.mode = sluice::file_mode::create_new;
    options_.create_permissions = permissions_of(exists ? old : source);
}

void target::opened() noexcept {
    if (!is_regular_)
        return;
    const std::lock_guard lock(leftover_mutex);
    leftover = path_.native();
}

target::~target() { remove_leftover(); }

void target::remove_leftover() noexcept {
    const std::lock_guard lock(leftover_mutex);
    if (!leftover.empty())
        ::unlink(leftover.c_str());
    leftover.clear();
}

void target::commit() {
    const std::lock_guard lock(leftover_mutex);
    if (leftover.empty())
        return;
    if (::rename(path_.c_str(), destination_.c_str()) != 0)
        refuse(errno, "rename", path_);
    leftover.clear();
}

} // namespace copy_file
