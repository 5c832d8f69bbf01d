// The raw system calls on files of the POSIX and Linux code, one thin function each: a count or
// -errno comes back, errno itself is never looked at elsewhere, and all pass the fault seam.
// Nothing here retries or decides. The calls of the shortest way are in whole_transfer.hpp, and
// pass it too; what only sets up or takes down a ring (mmap, pipe2, dup3, close) does not.
#pragma once

#include <sluice/platform/fault_seam.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace sluice::platform::sys {

/// RWF_DONTCACHE (Linux 6.14), which older headers do not have.
inline constexpr int drop_behind = 0x80;

inline long answer(long returned) noexcept {
    return returned < 0 ? -static_cast<long>(errno) : returned;
}
/// For the calls that hand back the error number itself.
inline long refusal(int error) noexcept { return -static_cast<long>(error); }

// --- opening and closing ---

inline long open(const char* path, int flags, unsigned permissions) noexcept {
    return pass({raw_call::open}, [=](std::size_t) noexcept {
        return answer(::open(path, flags, static_cast<mode_t>(permissions)));
    });
}

/// openat2(2), which has no wrapper in the C library.
inline long open_how_at(const char* path, const struct open_how& how, raw_call name) noexcept {
    return pass({name}, [path, &how](std::size_t) noexcept {
        return answer(::syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how)));
    });
}

inline long close(int descriptor) noexcept {
    return pass({raw_call::close, descriptor},
                [=](std::size_t) noexcept { return answer(::close(descriptor)); });
}

inline long unlink(const char* path) noexcept {
    return pass({raw_call::unlink}, [=](std::size_t) noexcept { return answer(::unlink(path)); });
}

inline long get_flags(int descriptor) noexcept {
    return pass({raw_call::set_flags, descriptor},
                [=](std::size_t) noexcept { return answer(::fcntl(descriptor, F_GETFL)); });
}

inline long set_flags(int descriptor, int flags) noexcept {
    return pass({raw_call::set_flags, descriptor},
                [=](std::size_t) noexcept { return answer(::fcntl(descriptor, F_SETFL, flags)); });
}

// --- transfers ---

inline long read(int descriptor, std::byte* data, std::size_t size) noexcept {
    return pass({raw_call::read, descriptor, size},
                [=](std::size_t n) noexcept { return answer(::read(descriptor, data, n)); });
}

inline long write(int descriptor, const std::byte* data, std::size_t size) noexcept {
    return pass({raw_call::write, descriptor, size},
                [=](std::size_t n) noexcept { return answer(::write(descriptor, data, n)); });
}

inline long read_at(int descriptor, std::byte* data, std::size_t size,
                    std::uint64_t offset) noexcept {
    return pass({raw_call::read, descriptor, size, offset}, [=](std::size_t n) noexcept {
        return answer(::pread(descriptor, data, n, static_cast<off_t>(offset)));
    });
}

inline long write_at(int descriptor, const std::byte* data, std::size_t size,
                     std::uint64_t offset) noexcept {
    return pass({raw_call::write, descriptor, size, offset}, [=](std::size_t n) noexcept {
        return answer(::pwrite(descriptor, data, n, static_cast<off_t>(offset)));
    });
}

/// preadv2 with `flags` (RWF_...); own_position, which is -1, means the file's own offset here too.
inline long read_with(int descriptor, std::byte* data, std::size_t size, std::uint64_t offset,
                      int flags, raw_call name = raw_call::read_no_wait) noexcept {
    return pass({name, descriptor, size, offset}, [=](std::size_t n) noexcept {
        const iovec part{data, n};
        return answer(::preadv2(descriptor, &part, 1, static_cast<off_t>(offset), flags));
    });
}

inline long write_with(int descriptor, const std::byte* data, std::size_t size,
                       std::uint64_t offset, int flags,
                       raw_call name = raw_call::write_no_wait) noexcept {
    return pass({name, descriptor, size, offset}, [=](std::size_t n) noexcept {
        const iovec part{const_cast<std::byte*>(data), n};
        return answer(::pwritev2(descriptor, &part, 1, static_cast<off_t>(offset), flags));
    });
}

/// cachestat(2), which the C library does not know yet: how many pages of the range are in the page
/// cache.
inline long count_cached(int descriptor, std::uint64_t offset, std::uint64_t size,
                         std::uint64_t& pages) noexcept {
    constexpr long number = 451; // the same on every architecture
    struct {
        std::uint64_t offset, size;
    } range{offset, size};
    struct {
        std::uint64_t cached, dirty, in_writeback, evicted, recently_evicted;
    } counts{};
    const long result =
        pass({raw_call::count_cached, descriptor, size, offset}, [&](std::size_t) noexcept -> long {
            return answer(::syscall(number, descriptor, &range, &counts, 0));
        });
    pages = counts.cached;
    return result;
}

inline long sync(int descriptor) noexcept {
    return pass({raw_call::sync, descriptor},
                [=](std::size_t) noexcept { return answer(::fsync(descriptor)); });
}

inline long sync_data(int descriptor) noexcept {
    return pass({raw_call::sync_data, descriptor},
                [=](std::size_t) noexcept { return answer(::fdatasync(descriptor)); });
}

// --- the file itself ---

inline long stat(int descriptor, struct ::stat& about) noexcept {
    return pass({raw_call::stat, descriptor}, [descriptor, &about](std::size_t) noexcept {
        return answer(::fstat(descriptor, &about));
    });
}

inline long stat_path(const char* path, struct ::stat& about) noexcept {
    return pass({raw_call::stat},
                [path, &about](std::size_t) noexcept { return answer(::stat(path, &about)); });
}

inline long stat_more(int descriptor, unsigned mask, struct ::statx& about) noexcept {
    return pass({raw_call::stat, descriptor}, [descriptor, mask, &about](std::size_t) noexcept {
        return answer(::statx(descriptor, "", AT_EMPTY_PATH, mask, &about));
    });
}

inline long stat_file_system(int descriptor, struct ::statfs& about) noexcept {
    return pass({raw_call::statfs, descriptor}, [descriptor, &about](std::size_t) noexcept {
        return answer(::fstatfs(descriptor, &about));
    });
}

inline long truncate(int descriptor, std::uint64_t length) noexcept {
    return pass({raw_call::truncate, descriptor, 0, length}, [=](std::size_t) noexcept {
        return answer(::ftruncate(descriptor, static_cast<off_t>(length)));
    });
}

inline long allocate(int descriptor, int mode, std::uint64_t offset,
                     std::uint64_t length) noexcept {
    return pass({raw_call::allocate, descriptor, 0, offset}, [=](std::size_t) noexcept {
        return answer(
            ::fallocate(descriptor, mode, static_cast<off_t>(offset), static_cast<off_t>(length)));
    });
}

inline long seek(int descriptor, std::int64_t offset, int whence) noexcept {
    return pass({raw_call::seek, descriptor, 0, static_cast<std::uint64_t>(offset)},
                [=](std::size_t) noexcept { return answer(::lseek(descriptor, offset, whence)); });
}

inline long advise(int descriptor, int advice) noexcept {
    return pass({raw_call::advise, descriptor}, [=](std::size_t) noexcept {
        return refusal(::posix_fadvise(descriptor, 0, 0, advice));
    });
}

// --- locks ---

inline long lock_whole(int descriptor, int operation) noexcept {
    return pass({raw_call::flock, descriptor},
                [=](std::size_t) noexcept { return answer(::flock(descriptor, operation)); });
}

/// Sets or clears a lock of this process on a range, without waiting.
inline long lock_range(int descriptor, const struct ::flock& range) noexcept {
    return pass({raw_call::range_lock, descriptor}, [descriptor, &range](std::size_t) noexcept {
        return answer(::fcntl(descriptor, F_SETLK, &range));
    });
}

// --- waiting ---

/// ppoll of one descriptor; `timeout` null: as long as it takes.
inline long poll_one(int descriptor, short events, const timespec* timeout) noexcept {
    return pass({raw_call::poll, descriptor}, [=](std::size_t) noexcept {
        pollfd watched{descriptor, events, 0};
        return answer(::ppoll(&watched, 1, timeout, nullptr));
    });
}

inline long epoll_new() noexcept {
    return pass({raw_call::poll},
                [](std::size_t) noexcept { return answer(::epoll_create1(EPOLL_CLOEXEC)); });
}

inline long epoll_change(int epoll, int operation, int descriptor, ::epoll_event event) noexcept {
    return pass({raw_call::poll, descriptor}, [=](std::size_t) mutable noexcept {
        return answer(::epoll_ctl(epoll, operation, descriptor, &event));
    });
}

inline long epoll_wait(int epoll, ::epoll_event* events, int count) noexcept {
    return pass({raw_call::poll, epoll}, [=](std::size_t) noexcept {
        return answer(::epoll_wait(epoll, events, count, -1));
    });
}

inline long event_new() noexcept {
    return pass({raw_call::event}, [](std::size_t) noexcept {
        return answer(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    });
}

inline long event_signal(int descriptor) noexcept {
    return pass({raw_call::event, descriptor}, [=](std::size_t) noexcept {
        const std::uint64_t one = 1;
        return answer(::write(descriptor, &one, sizeof(one)));
    });
}

inline long event_clear(int descriptor) noexcept {
    return pass({raw_call::event, descriptor}, [=](std::size_t) noexcept {
        std::uint64_t count = 0;
        return answer(::read(descriptor, &count, sizeof(count)));
    });
}

/// Makes a call again as long as a signal interrupts it.
template <class Call>
inline long uninterrupted(Call call) noexcept {
    long result = call();
    while (result == -EINTR)
        result = call();
    return result;
}

} // namespace sluice::platform::sys
