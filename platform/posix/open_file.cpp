// The open sequence of the reference: open, lock, describe, check the name, advise, cut, reserve,
// direct. It may wait: for the disk, and for the other end when the path is a FIFO. It belongs on a
// worker.
#include <sluice/platform/linux/direct_io.hpp>
#include <sluice/platform/posix/describe_file.hpp>
#include <sluice/platform/posix/open_flags.hpp>
#include <sluice/platform/posix/share_lock.hpp>
#include <sluice/platform/posix/system_calls.hpp>

#include <limits>

namespace sluice::platform {

namespace {

/// How often the name may move away under an exclusive open before that is called a sharing
/// violation.
constexpr int most_reopens = 64;
/// How often the kernel may answer that a confined walk raced with a rename.
constexpr int most_walks = 16;

/// One run through the sequence. Every step answers 0 or -errno.
struct opening {
    const open_request& wanted;
    file_handle& file;
    open_outcome& outcome;
    bool created = false; ///< known to be made by this call
    bool moved = false;   ///< the name belongs to another file by now: open again
    struct ::stat about {};

    long open() noexcept;
    long lock() noexcept;
    long describe() noexcept;
    long check_name() noexcept;
    long advise() noexcept;
    long cut() noexcept;
    long reserve() noexcept;
    long direct() noexcept;

    bool run() noexcept;
    void undo() noexcept;
    bool owns_name() const noexcept;
};

long open_path(const open_request& wanted, int flags) noexcept {
    if (!has(wanted.options, file_options::beneath))
        return sys::uninterrupted(
            [&]() noexcept { return sys::open(wanted.path, flags, wanted.create_permissions); });

    struct open_how how {};
    how.flags = static_cast<unsigned>(flags);
    how.mode = (flags & O_CREAT) != 0 ? wanted.create_permissions & 07777u : 0;
    how.resolve = RESOLVE_BENEATH;
    long opened = -EAGAIN;
    for (int walk = 0; walk < most_walks && opened == -EAGAIN; ++walk)
        opened = sys::uninterrupted(
            [&]() noexcept { return sys::open_how_at(wanted.path, how, raw_call::open); });
    return opened;
}

/// Opens and tells whether the file is new, which only O_EXCL can: asked first, then without
/// creating.
long open_telling(const open_request& wanted, int flags, bool& created) noexcept {
    // A dangling link exists for O_EXCL and is missing without O_CREAT; and the file may come and
    // go.
    for (int round = 0; round < 3; ++round) {
        long opened = open_path(wanted, flags | O_EXCL);
        created = opened >= 0;
        if (opened != -EEXIST)
            return opened;
        opened = open_path(wanted, flags & ~O_CREAT);
        if (opened != -ENOENT)
            return opened;
    }
    return open_path(wanted, flags);
}

long opening::open() noexcept {
    // openat2 would answer EXDEV too, but only from 5.6 on.
    if (has(wanted.options, file_options::beneath) && wanted.path[0] == '/')
        return -EXDEV;
    const int flags = open_flags_for(wanted);
    const bool exclusive = (flags & O_EXCL) != 0;
    const bool must_know = (flags & O_CREAT) != 0 && !exclusive && wanted.preallocation_size > 0;
    const long opened = must_know ? open_telling(wanted, flags, created) : open_path(wanted, flags);
    if (opened < 0)
        return opened;
    created = created || exclusive;
    file = handle_for(wanted, static_cast<int>(opened));
    return 0;
}

long opening::lock() noexcept {
    return wanted.share_given ? take_share_lock(file, wanted.share) : 0;
}

long opening::describe() noexcept {
    if (const long failed = describe_file(file, about); failed < 0)
        return failed;
    outcome.length = static_cast<std::uint64_t>(about.st_size);
    return S_ISDIR(about.st_mode) ? -EISDIR : 0;
}

/// Another exclusive holder may have removed the name between our open and our lock.
long opening::check_name() noexcept {
    const bool creates = (open_flags_for(wanted) & O_CREAT) != 0;
    if (!file.removes || !creates || !file.unlocks || wanted.share != file_share::none)
        return 0;
    moved = !owns_name();
    return moved ? -EWOULDBLOCK : 0;
}

long opening::advise() noexcept {
    if (has(wanted.options, file_options::random_access))
        sys::advise(file.descriptor, POSIX_FADV_RANDOM);
    else if (has(wanted.options, file_options::sequential_scan))
        sys::advise(file.descriptor, POSIX_FADV_SEQUENTIAL);
    return 0; // a hint
}

/// After the lock, so that a sharing violation never destroys data. Without a lock O_TRUNC did it.
long opening::cut() noexcept {
    const bool cuts = wanted.mode == file_mode::create || wanted.mode == file_mode::truncate;
    if (!cuts || !file.regular || outcome.length == 0)
        return 0;
    outcome.length = 0;
    return sys::uninterrupted([&]() noexcept { return sys::truncate(file.descriptor, 0); });
}

long opening::reserve() noexcept {
    if (wanted.preallocation_size == 0)
        return 0;
    if (wanted.preallocation_size > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()))
        return -EFBIG;
    const long reserved = sys::uninterrupted([&]() noexcept {
        return sys::allocate(file.descriptor, FALLOC_FL_KEEP_SIZE, 0, wanted.preallocation_size);
    });
    outcome.preallocated = reserved == 0;
    // Everything else means that this file system or this kind of file cannot: the size was a hint.
    return reserved == -ENOSPC || reserved == -EFBIG ? reserved : 0;
}

long opening::direct() noexcept {
    if (has(wanted.options, file_options::direct))
        turn_on_direct(file);
    return 0; // file.is_direct tells
}

bool opening::run() noexcept {
    struct step {
        const char* name;
        long (opening::*run)() noexcept;
    };
    static constexpr step steps[] = {
        {"open", &opening::open},       {"lock", &opening::lock},
        {"open", &opening::describe},   {"lock", &opening::check_name},
        {"open", &opening::advise},     {"truncate", &opening::cut},
        {"preallocate", &opening::reserve}, {"open", &opening::direct},
    };
    for (const step& next : steps) {
        outcome.step = next.name;
        outcome.result = (this->*next.run)();
        if (outcome.result < 0) {
            undo();
            return false;
        }
    }
    outcome.step = "open";
    return true;
}

/// Whether the path still names the file that is open.
bool opening::owns_name() const noexcept {
    struct ::stat named {};
    return sys::stat_path(wanted.path, named) == 0 && named.st_dev == about.st_dev &&
           named.st_ino == about.st_ino;
}

void opening::undo() noexcept {
    outcome.is_directory = outcome.result == -EISDIR;
    if (outcome.is_directory)
        outcome.result = -EACCES;
    if (!file.is_open())
        return;
    // Who holds a lock on a file that we made uses it: it stays. Others never saw a reason to.
    if (created && outcome.result != -EWOULDBLOCK && owns_name())
        sys::unlink(wanted.path);
    drop_share_lock(file);
    sys::close(file.descriptor);
    file = file_handle{};
}

} // namespace

open_outcome open_file(const open_request& wanted, file_handle& file) noexcept {
    open_outcome outcome;
    for (int round = 0; round < most_reopens; ++round) {
        outcome = open_outcome{};
        opening once{wanted, file, outcome};
        if (once.run() || !once.moved)
            break;
    }
    return outcome;
}

} // namespace sluice::platform
