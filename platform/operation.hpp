// One operation on its way through a backend: a plain record. The submitter owns it and keeps it,
// its file and its buffer alive until `complete` is called, on the thread that reaps, exactly once.
#pragma once

#include <sluice/platform/intrusive_list.hpp>

#include <cstddef>
#include <cstdint>

namespace sluice::platform {

struct file_handle;

enum class opcode : std::uint8_t {
    read,  ///< fills `data`: to `size` or the end of file on regular files, what there is elsewhere
    write, ///< all of `data`
    sync,  ///< fsync
    sync_data, ///< fdatasync
    call, ///< `call(*this)` on a worker: a system call that may block and has no opcode of its own
};
inline constexpr std::size_t opcode_count = 5;
const char* name_of(opcode code) noexcept;

/// The offset of an operation at the file's own position: appending and unseekable files.
inline constexpr std::uint64_t own_position = ~std::uint64_t{0};

/// What is to be done and how far it is. `transfer.hpp` alone moves `done` and decides what comes
/// next.
struct request {
    opcode code = opcode::read;
    std::uint8_t tries = 0;  ///< answers of "again" and stray cancellations so far
    bool must_block = false; ///< the next attempt takes a way that may block (io-wq, worker)
    bool ready = false; ///< an unseekable file was seen readable or writable since the last attempt
    file_handle* file = nullptr;
    std::byte* data = nullptr;
    std::size_t size = 0;
    std::size_t done = 0;     ///< bytes transferred so far
    std::uint64_t offset = 0; ///< where `data` begins in the file, or own_position
    long result = 0; ///< when finished: bytes transferred or the call's result, else -errno
    void (*call)(request&) noexcept = nullptr; ///< opcode::call: sets `result`; any thread
};

/// Where a finished operation went; statistics count by it.
enum class path_taken : std::uint8_t { none, ring, worker, fallback };

/// The links are the backend's while it is submitted.
struct operation : request, list_links {
    void (*complete)(operation&) = nullptr; ///< called by whoever drains reap()
    std::uint64_t tag = 0;                  ///< the backend's own
    std::uint64_t started = 0;              ///< the loop's: its turn clock at submit, in ticks
    std::uint8_t stage = 0;        ///< of the helper (workers, poller) that has it, by its mutex
    std::uint8_t home = 0;         ///< the backend's own, on its own thread alone: who has it
    bool cancel_requested = false; ///< set by cancel() only
    path_taken path = path_taken::none;
};

} // namespace sluice::platform
