// An open file of a POSIX system: the descriptor, what it can do, and what was learnt about it.
// Opening follows the open table of the reference; every function here that makes a system
// call may block and belongs on a worker, except where its name says "now".
#pragma once

#include <sluice/platform/adaptive_inlining.hpp>
#include <sluice/platform/file_options.hpp>
#include <sluice/platform/operation.hpp>
#include <sluice/platform/relaxed.hpp>

#include <cstddef>
#include <cstdint>

namespace sluice::platform {

struct file_handle {
    int descriptor = -1;
    bool readable = false;
    bool writable = false;
    bool seekable = false;
    bool regular = false;        ///< S_ISREG: reads are completed to the end of file
    bool append = false;         ///< O_APPEND
    bool unlocks = false;        ///< holds a lock from `share`
    bool removes = false;        ///< delete_on_close
    bool share_enforced = false; ///< the lock asked for by `share` was granted
    bool is_direct = false;      ///< O_DIRECT, and a trial showed that it works
    bool synchronous = false;    ///< O_SYNC: a write waits for the disk
    bool block_backed = false;   ///< on a file system with a block device of its own: a local one
    relaxed<int> transfer_flags{0};      ///< RWF_DONTCACHE where `uncached` was asked for and works
    relaxed<bool> no_wait_reads{true};   ///< false once it answered that it cannot say "not now"
    relaxed<bool> no_wait_writes{false}; ///< true where writes can say "not now"
    relaxed<bool> wrote{false};          ///< something was written through it
    adaptive_inlining inlining;          ///< for calls that cannot say "not now"

    bool is_open() const noexcept { return descriptor >= 0; }
};

struct open_request {
    const char* path = nullptr;
    file_mode mode = file_mode::open;
    file_access access = file_access::read;
    bool share_given = false;
    file_share share = file_share::none;
    file_options options = file_options::none;
    std::uint64_t preallocation_size = 0;
    unsigned create_permissions = 0666;
};

/// What open did: 0 or -errno; and the step that failed, for the text ("open", "lock", "truncate",
/// "preallocate").
struct open_outcome {
    long result = 0;
    const char* step = "open";
    std::uint64_t length = 0;  ///< at open; append streams may not go below it
    bool is_directory = false; ///< the target is a directory (result is -EACCES then)
    bool preallocated = false; ///< the space asked for was really reserved
};

/// Opens, and waits: for a disk or a server, on a FIFO for its other end. On failure nothing stays
/// open and a file made by this call is removed again.
open_outcome open_file(const open_request& wanted, file_handle& file) noexcept;
/// The same without waiting for a disk: false when it cannot be known now; nothing was changed
/// then.
bool try_open_now(const open_request& wanted, file_handle& file, open_outcome& outcome) noexcept;
/// Describes a descriptor that somebody else opened. Never closes it. 0 or -errno.
long adopt_descriptor(int descriptor, file_access access, file_handle& file,
                      std::uint64_t& position) noexcept;

/// Removes the name, unlocks, closes: once.
long close_file(file_handle& file, const char* path) noexcept;
/// Whether close(2) of this file may be called on a loop thread.
bool closes_fast(const file_handle& file) noexcept;
long length_of(const file_handle& file) noexcept;
long set_length_of(file_handle& file, std::uint64_t length) noexcept;
/// The system's offset: the end of the last append.
long own_position_of(const file_handle& file) noexcept;
long set_own_position_of(const file_handle& file, std::uint64_t position) noexcept;
long lock_range(const file_handle& file, std::uint64_t offset, std::uint64_t length) noexcept;
long unlock_range(const file_handle& file, std::uint64_t offset, std::uint64_t length) noexcept;
std::size_t direct_alignment_of(const file_handle& file) noexcept;

/// Finishes a read, write or sync on the calling thread, waiting as long as it takes. Sets
/// r.result.
void perform_blocking(request& r) noexcept;

} // namespace sluice::platform
