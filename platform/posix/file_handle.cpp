#include <sluice/platform/posix/file_handle.hpp>

#include <sluice/platform/posix/describe_file.hpp>
#include <sluice/platform/posix/share_lock.hpp>
#include <sluice/platform/posix/system_calls.hpp>

#include <limits>

namespace sluice::platform {

namespace {

constexpr auto largest_offset = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());

long change_range_lock(const file_handle& file, short type, std::uint64_t offset,
                       std::uint64_t length) noexcept {
    if (offset > largest_offset || length > largest_offset)
        return -EINVAL;
    struct ::flock range {};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_start = static_cast<off_t>(offset);
    range.l_len = static_cast<off_t>(length); // 0: to the end of the file, wherever that will be
    return sys::uninterrupted([&]() noexcept { return sys::lock_range(file.descriptor, range); });
}

} // namespace

long adopt_descriptor(int descriptor, file_access access, file_handle& file,
                      std::uint64_t& position) noexcept {
    file_handle adopted;
    adopted.descriptor = descriptor;
    adopted.readable = can_read(access);
    adopted.writable = can_write(access);
    const long flags = sys::get_flags(descriptor);
    if (flags < 0)
        return flags;
    adopted.append = (flags & O_APPEND) != 0;
    adopted.is_direct = (flags & O_DIRECT) != 0;
    adopted.synchronous = (flags & O_SYNC) == O_SYNC;
    struct ::stat about {};
    if (const long failed = describe_file(adopted, about); failed < 0)
        return failed;
    if (S_ISDIR(about.st_mode))
        return -EACCES;
    position = 0;
    if (adopted.seekable) {
        const long at = sys::seek(descriptor, 0, SEEK_CUR);
        adopted.seekable = at >= 0; // some pseudo-files are regular and do not seek
        position = at >= 0 ? static_cast<std::uint64_t>(at) : 0;
    }
    file = adopted;
    return 0;
}

long close_file(file_handle& file, const char* path) noexcept {
    if (!file.is_open())
        return -EBADF;
    // The name goes before the lock, so that nobody opens a file that is about to lose its name.
    if (file.removes && path != nullptr)
        sys::unlink(path);
    drop_share_lock(file);
    const int descriptor = file.descriptor;
    file = file_handle{};
    // Once: after EINTR the number is free on Linux and may be another thread's already.
    return sys::close(descriptor);
}

bool closes_fast(const file_handle& file) noexcept {
    if (file.removes) // the last name of a large file: its blocks are freed here
        return false;
    return (!file.wrote && !file.unlocks) || is_local(file);
}

long length_of(const file_handle& file) noexcept {
    struct ::stat about {};
    const long failed = sys::stat(file.descriptor, about);
    return failed < 0 ? failed : static_cast<long>(about.st_size);
}

long set_length_of(file_handle& file, std::uint64_t length) noexcept {
    if (length > largest_offset)
        return -EFBIG;
    file.wrote = true;
    return sys::uninterrupted([&]() noexcept { return sys::truncate(file.descriptor, length); });
}

long own_position_of(const file_handle& file) noexcept {
    return sys::seek(file.descriptor, 0, SEEK_CUR);
}

long set_own_position_of(const file_handle& file, std::uint64_t position) noexcept {
    if (position > largest_offset)
        return -EINVAL;
    return sys::seek(file.descriptor, static_cast<std::int64_t>(position), SEEK_SET);
}

long lock_range(const file_handle& file, std::uint64_t offset, std::uint64_t length) noexcept {
    return change_range_lock(file, file.writable ? F_WRLCK : F_RDLCK, offset, length);
}

long unlock_range(const file_handle& file, std::uint64_t offset, std::uint64_t length) noexcept {
    return change_range_lock(file, F_UNLCK, offset, length);
}

} // namespace sluice::platform
