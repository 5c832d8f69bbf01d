#include <sluice/platform/posix/open_flags.hpp>

#include <sluice/platform/posix/system_calls.hpp>

namespace sluice::platform {

namespace {

int access_flags(file_access access) noexcept {
    switch (access) {
    case file_access::read: return O_RDONLY;
    case file_access::write: return O_WRONLY;
    case file_access::read_write: return O_RDWR;
    }
    return O_RDONLY;
}

// With a lock to take first, cutting waits until it is held.
int mode_flags(file_mode mode, bool locks) noexcept {
    const int cut = locks ? 0 : O_TRUNC;
    switch (mode) {
    case file_mode::create_new: return O_CREAT | O_EXCL;
    case file_mode::create: return O_CREAT | cut;
    case file_mode::open: return 0;
    case file_mode::open_or_create: return O_CREAT;
    case file_mode::truncate: return cut;
    case file_mode::append: return O_CREAT | O_APPEND;
    }
    return 0;
}

} // namespace

int open_flags_for(const open_request& wanted) noexcept {
    const bool inherited = wanted.share_given && has(wanted.share, file_share::inheritable);
    // A terminal that is opened must not become the controlling one.
    int flags = access_flags(wanted.access) | O_NOCTTY;
    flags |= mode_flags(wanted.mode, wanted.share_given);
    if (!inherited)
        flags |= O_CLOEXEC;
    if (has(wanted.options, file_options::write_through))
        flags |= O_SYNC;
    return flags;
}

file_handle handle_for(const open_request& wanted, int descriptor) noexcept {
    file_handle file;
    file.descriptor = descriptor;
    file.readable = can_read(wanted.access);
    file.writable = can_write(wanted.access);
    file.append = wanted.mode == file_mode::append;
    file.removes = has(wanted.options, file_options::delete_on_close);
    file.synchronous = has(wanted.options, file_options::write_through);
    file.transfer_flags = has(wanted.options, file_options::uncached) ? sys::drop_behind : 0;
    return file;
}

} // namespace sluice::platform
