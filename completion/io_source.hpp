// The core of one file operation of a loop: a source that owns the platform operation, the caller's
// stop token and what the strategy that runs it wants to remember. Pooled by its loop.
//
// Threads: rented by any; from its admission to its completion it belongs to the thread that runs
// the loop.
#pragma once

#include <sluice/completion/source_core.hpp>
#include <sluice/platform/operation.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace sluice::completion {

class loop;

class io_source : public source_core {
public:
    static constexpr std::size_t memo_space = 64;

    io_source() noexcept : source_core(kind) {}

    static io_source& of(platform::operation& op) noexcept {
        return *static_cast<owned_operation&>(op).source;
    }
    static io_source& of(ready_node& node) noexcept {
        return static_cast<io_source&>(static_cast<source_core&>(node));
    }
    loop& home_loop() const noexcept { return *loop_; }

    /// What the strategy keeps for this operation.
    template <class Memo>
    Memo& remember(const Memo& memo) noexcept {
        static_assert(sizeof(Memo) <= memo_space && std::is_trivially_copyable_v<Memo>);
        return *std::construct_at(reinterpret_cast<Memo*>(memo_), memo);
    }
    template <class Memo>
    Memo& memo() noexcept {
        return *std::launder(reinterpret_cast<Memo*>(memo_));
    }

    /// Ends the operation through `on_cancel` when the token asks for it. Called once, while nobody
    /// else has the source.
    void listen_to(const std::stop_token& token) {
        if (token.stop_possible()) [[unlikely]]
            start_listening(token);
    }
    /// No cancellation comes in any more: the stop callback has returned and the deadline is
    /// disarmed.
    void stop_listening() noexcept {
        if (listens_) [[unlikely]] {
            stop_callback_.reset();
            listens_ = false;
        }
        disarm_deadline();
    }

    /// Ends the operation with a value. The loop's thread; the source may be gone afterwards.
    void finish(std::uint64_t value) {
        word = value;
        stop_listening();
        complete_on_loop();
    }
    void finish_failed(failure why) {
        fail(std::move(why));
        stop_listening();
        complete_on_loop();
    }

    /// The loop ends: so does this if it is admitted. is_to_end(): it begins nothing any more;
    /// end_now(): it is asked to end. The loop's thread.
    void is_to_end() noexcept {
        if (admitted && reason == cancel_reason::none)
            reason = cancel_reason::requested;
    }
    void end_now() noexcept {
        is_to_end();
        if (admitted && on_cancel != nullptr)
            on_cancel(*this, reason);
    }

    struct owned_operation : platform::operation {
        io_source* source = nullptr;
    };
    /// What puts a source into a list.
    struct list_entry : platform::list_links {
        explicit list_entry(io_source& itself) noexcept : source(itself) {}
        io_source& source;
    };

    // What every operation touches is in as few cache lines as it fits into: the operation with its
    // two, what the strategy remembers, and the links.
    alignas(64) owned_operation operation;
    void (*on_discard)(io_source&) noexcept = nullptr; ///< a result that nobody takes

private:
    alignas(64) std::byte memo_[memo_space];

public:
    alignas(64) void* owner = nullptr;                               ///< the strategy
    /// Asks it to end; may be called more than once. The loop's thread.
    void (*on_cancel)(io_source&, cancel_reason) noexcept = nullptr;
    list_entry in_line{*this};                                            ///< of its stream
    io_source* link = nullptr;                                       ///< in the pool

private:
    friend class loop;

    struct stop_request {
        io_source* source;
        std::uint32_t version;
        void operator()() const noexcept { source->cancel(version, cancel_reason::requested); }
    };

    void start_listening(const std::stop_token& token);
    void complete_on_loop();
    static const verbs kind;

    loop* loop_ = nullptr;
    bool rented_elsewhere_ = false; // not by the thread that ran the loop: goes back to that list
    bool listens_ = false;          // there is a stop callback

public:
    cancel_reason reason = cancel_reason::none; ///< why it was asked to end
    bool admitted = false;                      ///< counted by the loop
    bool submitted = false; ///< the backend has its operation, or its end has not been run yet

private:
    list_entry in_loop_{*this}; // among all that the loop has
    std::optional<std::stop_callback<stop_request>> stop_callback_;
};

} // namespace sluice::completion
