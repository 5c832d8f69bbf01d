// Opening without waiting for a disk: the name is looked up in the cache of directory entries
// alone.
#include <sluice/platform/posix/describe_file.hpp>
#include <sluice/platform/posix/open_flags.hpp>
#include <sluice/platform/posix/system_calls.hpp>

#include <cstdio>

namespace sluice::platform {

namespace {

/// False once the system refused: no openat2 (before 5.6), no RESOLVE_CACHED (before 5.12), a
/// filter that forbids the call, or no /proc.
relaxed<bool> cached_opens_work{true};

bool may_be_cached(const open_request& wanted) noexcept {
    const bool changes = wanted.mode != file_mode::open || wanted.preallocation_size != 0;
    const bool waits = wanted.share_given || has(wanted.options, file_options::direct);
    const bool leaves = has(wanted.options, file_options::beneath) && wanted.path[0] == '/';
    return !changes && !waits && !leaves;
}

/// Finds the file in the cache without opening it (O_PATH): to open a FIFO would wait for its other
/// end, and to do it with O_NONBLOCK would break the pipe of a writer that waits for a reader.
long find_now(const open_request& wanted) noexcept {
    struct open_how how {};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_CACHED;
    if (has(wanted.options, file_options::beneath))
        how.resolve |= RESOLVE_BENEATH;
    return sys::open_how_at(wanted.path, how, raw_call::open_cached);
}

/// Opens the very file that was found, whatever its name stands for by now.
long open_found(const open_request& wanted, int found) noexcept {
    char name[32];
    std::snprintf(name, sizeof(name), "/proc/self/fd/%d", found);
    return sys::open(name, open_flags_for(wanted), 0);
}

/// Only a regular file of a local file system opens without asking anybody.
bool opens_at_once(int found, struct ::stat& about) noexcept {
    if (sys::stat(found, about) < 0 || !S_ISREG(about.st_mode))
        return false;
    file_handle probe;
    probe.descriptor = found;
    take_description(probe, about);
    return is_local(probe);
}

bool open_regular_now(const open_request& wanted, int found, file_handle& file,
                      open_outcome& outcome) noexcept {
    struct ::stat about {};
    if (!opens_at_once(found, about))
        return false;
    const long opened = open_found(wanted, found);
    if (opened == -ENOENT)
        cached_opens_work = false; // no /proc
    // Every error is left to the whole sequence, which words it.
    if (opened < 0)
        return false;
    file = handle_for(wanted, static_cast<int>(opened));
    take_description(file, about);
    outcome = open_outcome{};
    outcome.length = static_cast<std::uint64_t>(about.st_size);
    if (has(wanted.options, file_options::random_access))
        sys::advise(file.descriptor, POSIX_FADV_RANDOM);
    else if (has(wanted.options, file_options::sequential_scan))
        sys::advise(file.descriptor, POSIX_FADV_SEQUENTIAL);
    return true;
}

} // namespace

bool try_open_now(const open_request& wanted, file_handle& file, open_outcome& outcome) noexcept {
    if (!cached_opens_work || !may_be_cached(wanted))
        return false;
    const long found = find_now(wanted);
    if (found == -ENOENT) { // a cached "no such file" is as good an answer as any
        outcome = open_outcome{};
        outcome.result = found;
        return true;
    }
    if (found == -ENOSYS || found == -EINVAL || found == -EPERM)
        cached_opens_work = false;
    if (found < 0)
        return false;
    const bool opened = open_regular_now(wanted, static_cast<int>(found), file, outcome);
    sys::close(static_cast<int>(found));
    return opened;
}

} // namespace sluice::platform
