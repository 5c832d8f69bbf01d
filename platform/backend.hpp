// The one interface to a way of doing file operations: a ring, threads, (later) a completion port
// or a simulated disk. One backend per context.
//
// Threads: submit, cancel, flush, reap and wait are called by one thread at a time, the one that
// runs the context; try_now by whoever calls the stream; wake and capabilities by any. Nothing here
// throws after construction.
#pragma once

#include <sluice/platform/operation_list.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sluice {

enum class backend_choice : std::uint8_t { auto_, uring, threads };
enum class backend_kind : std::uint8_t { uring, threads, iocp, simulated };
const char* name_of(backend_kind kind) noexcept;

/// Which backend a context uses, and why not the ring.
struct backend_info {
    backend_kind kind = backend_kind::threads;
    int reason = 0;          ///< errno that kept the ring out; 0 when nothing did
    std::string explanation; ///< the same in words; empty when the ring is in use
    unsigned entries = 0;    ///< ring: submission entries
};

/// One row of available_backends().
struct backend_availability {
    backend_kind kind;
    bool built;
    bool usable;
    std::string reason; ///< why not usable; else empty
};

} // namespace sluice

namespace sluice::platform {

struct backend_options {
    backend_choice choice = backend_choice::auto_;
    unsigned queue_depth = 256; ///< ring submission entries, rounded up to a power of two
    /// 0: as many as processors, at least 2, at most 16; threads start when needed.
    unsigned worker_threads = 0;
    unsigned max_in_flight = 4096; ///< operations handed to the system at once; more wait in a list
};

/// What an inline attempt may cost.
struct inline_limits {
    std::size_t bytes = ~std::size_t{0}; ///< copies at most this much
    bool may_block = true; ///< false: no call that could block, not even after good experience
};

class backend {
public:
    using clock = std::chrono::steady_clock;

    backend() = default;
    backend(const backend&) = delete;
    backend& operator=(const backend&) = delete;
    virtual ~backend() = default; ///< nothing may be in flight

    /// Takes the operation; it comes out of reap() once. Never fails: an error is the operation's
    /// result.
    virtual void submit(operation& op) noexcept = 0;
    /// Tries to finish the request without waiting. True: finished, result set. False: `done` tells
    /// how far it came.
    virtual bool try_now(request& r, inline_limits limits) noexcept = 0;
    /// Asks for the end of a submitted operation; its own completion still ends it. No-op when it
    /// already finished.
    virtual void cancel(operation& op) noexcept = 0;
    /// Hands over everything submitted since the last call, in one system call where there is one.
    virtual void flush() noexcept = 0;
    /// Moves finished operations to `finished`; does not wait.
    virtual void reap(operation_list& finished) noexcept = 0;
    /// flush(), then waits until something finished, wake() was called, or `until` passed. May
    /// return early.
    virtual void wait(clock::time_point until) noexcept = 0;
    /// Ends a wait() that is going on or the next one. Any thread.
    virtual void wake() noexcept = 0;
    /// A descriptor that polls readable when reap() has something; -1 if there is none.
    virtual int wait_handle() noexcept = 0;
    virtual backend_info capabilities() const = 0;

    /// The thread that calls becomes the one that submits and reaps. `exclusive`: it stays so until
    /// release(), and the backend may bind itself to it. Nothing is lost that was submitted before
    /// on another thread.
    virtual void acquire(bool exclusive) noexcept = 0;
    /// The end of an exclusive acquire. Operations in flight stay, or are taken back and handed
    /// over at the next one.
    virtual void release() noexcept = 0;
    /// In the child of a fork: forgets threads and rings of the parent without touching them.
    virtual void forget_after_fork() noexcept = 0;

    std::size_t in_flight() const noexcept { return in_flight_; } ///< submitted and not yet reaped

protected:
    std::size_t in_flight_ = 0;
};

/// The backend for these options: the ring where it is built, allowed and works, else threads. The
/// environment variable SLUICE_BACKEND decides for auto_. Throws boost::system::system_error when
/// the choice names one that cannot be had or the variable says something else, and file_error when
/// no descriptor is left.
std::unique_ptr<backend> make_backend(const backend_options& options);
std::vector<backend_availability> available_backends();

} // namespace sluice::platform
