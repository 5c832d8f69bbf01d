// What an asynchronous operation returns: the value when it is known at once, else a ticket on the
// source that will have it. Move-only, single use: awaited, given a callback, or (when completed)
// read with get().
//
// Threads: one party holds a value task at a time. Destroying it detaches the operation, which goes
// on; destroying the coroutine that is suspended in it also asks the operation to end. Misuse
// (stale, second, premature) throws invalid_operation.
#pragma once

#include <sluice/completion/executor_queue.hpp>
#include <sluice/completion/typed_core.hpp>

#include <chrono>
#include <coroutine>
#include <memory>
#include <type_traits>
#include <utility>

namespace sluice {

namespace completion {

struct nothing {};
template <class T>
using known_value = std::conditional_t<std::is_void_v<T>, nothing, T>;

/// Promise types that resume on a queue of their own say so by this member.
template <class Promise>
concept brings_queue = requires(Promise& p) {
    { p.resume_on_queue() } -> std::convertible_to<resume_queue*>;
};

template <class T, class Handler>
struct callback; // callback.hpp
} // namespace completion

template <class T>
class [[nodiscard]] value_task {
public:
    using value_type = T;

    /// Empty; only to be assigned to.
    value_task() noexcept : place_(nullptr) {}
    /// Completed with a value. `queue` is where a callback will run; null: inside on_completed.
    explicit value_task(
        completion::known_value<T> value,
        completion::resume_queue* queue =
            nullptr) noexcept(std::is_nothrow_move_constructible_v<completion::known_value<T>>)
        : place_(queue != nullptr ? &queue->place() : nullptr),
          version_(queue != nullptr ? queue->generation() : 0), held_(holding::value),
          value_(std::move(value)) {}
    /// A ticket on a core, at its present version.
    explicit value_task(completion::source_core& core) noexcept
        : value_task(core, core.version()) {}
    value_task(completion::source_core& core, std::uint32_t version) noexcept
        : core_(&core), version_(version), held_(holding::ticket) {}

    value_task(value_task&& other) noexcept : place_(nullptr) { take_over(other); }
    value_task& operator=(value_task&& other) noexcept {
        if (this != &other) {
            let_go();
            take_over(other);
        }
        return *this;
    }
    ~value_task() { let_go(); }

    /// Whether the result is there.
    bool is_completed() const {
        return held_ == holding::value || (held_ >= holding::ticket && core_->is_done(version_));
    }

    /// The result, or throws what the operation failed with. Only when completed.
    T get() { return take(false); }

    /// The result or the error, without throwing for a failed operation. Only when completed.
    result<T> get_result() { return take_result(false); }

    // --- settings of this one call; they change nothing when the value was known at once ---

    value_task&& resume(resume_mode mode) && {
        if (held_ >= holding::ticket)
            core_->override_mode(version_, mode);
        return std::move(*this);
    }
    template <class Executor>
    value_task&& resume_on(const Executor& executor) && {
        const completion::queue_of_executor found(executor);
        if (held_ >= holding::ticket)
            core_->override_target(version_, found.queue());
        return std::move(*this);
    }
    /// Ends the operation as errc::timed_out, through cancellation, unless it is over by then.
    value_task&& deadline(std::chrono::steady_clock::time_point when) && {
        if (held_ >= holding::ticket)
            core_->arm_deadline(version_, when);
        return std::move(*this);
    }
    template <class Rep, class Period>
    value_task&& within(std::chrono::duration<Rep, Period> duration) && {
        if (held_ >= holding::ticket)
            core_->arm_deadline(version_, completion::time_after(duration));
        return std::move(*this);
    }

    /// Calls handler(error_code, T), or handler(error_code) when T is void, on the executor when
    /// the operation is over; never inside this call unless the value task was made without an
    /// executor, and not at all when the executor's runtime is gone. Uses the value task up.
    template <class Handler>
    void on_completed(Handler&& handler) &&;

    // --- awaiting ---

    bool await_ready() const {
        if (held_ == holding::value) [[likely]]
            return true;
        if (held_ == holding::nothing) [[unlikely]]
            used_up();
        return false; // await_suspend finds out whether it is done by now
    }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> awaiting) {
        completion::resume_queue* queue = nullptr;
        if constexpr (completion::brings_queue<Promise>)
            queue = awaiting.promise().resume_on_queue();
        else
            queue = core_->home();
        return core_->register_coroutine(version_, awaiting, queue, held_);
    }
    T await_resume() {
        if (held_ == holding::registered)
            return take_resumed();
        return take(false);
    }

    /// Awaits as result<T>: never throws for a failed operation.
    class result_awaiter {
    public:
        explicit result_awaiter(value_task&& task) noexcept : task_(std::move(task)) {}
        bool await_ready() const { return task_.await_ready(); }
        template <class Promise>
        bool await_suspend(std::coroutine_handle<Promise> awaiting) {
            return task_.await_suspend(awaiting);
        }
        result<T> await_resume() { return task_.take_result(task_.held_ == holding::registered); }

    private:
        value_task task_;
    };
    [[nodiscard]] result_awaiter as_result() && { return result_awaiter(std::move(*this)); }

private:
    using holding = completion::holding;

    template <class, class>
    friend struct completion::callback;

    // The value of a task that is known to hold one.
    T take_known() {
        held_ = holding::nothing;
        if constexpr (!std::is_void_v<T>)
            return take_value();
    }
    // `by_continuation`: called by what was registered to be called.
    T take(bool by_continuation) {
        if (held_ == holding::value) [[likely]]
            return take_known();
        if (held_ == holding::nothing) [[unlikely]]
            used_up();
        completion::source_core& core = *core_;
        if (by_continuation)
            core.check_takeable(version_, true);
        else
            core.begin_taking(version_);
        return take_finished();
    }
    // Of a ticket whose result is there, and not taken.
    T take_finished() {
        completion::source_core& core = *core_;
        held_ = holding::nothing;
        if (core.failed()) [[unlikely]]
            core.consume_and_raise();
        const completion::consuming scope(core);
        return completion::result_traits<T>::take(core);
    }
    // Of a ticket whose continuation was resumed.
    T take_resumed() {
        completion::source_core& core = *core_;
        if (!core.delivered_here()) [[unlikely]]
            return take(true);
        held_ = holding::nothing;
        const completion::consuming_here scope(core);
        return completion::result_traits<T>::take(core);
    }
    result<T> take_result(bool by_continuation) {
        if (held_ >= holding::ticket) {
            completion::source_core& core = *core_;
            if (by_continuation && core.delivered_here()) {
                if constexpr (std::is_void_v<T>) {
                    take_resumed();
                    return {};
                } else {
                    return take_resumed();
                }
            }
            if (by_continuation)
                core.check_takeable(version_, true);
            else
                core.begin_taking(version_);
            if (core.failed()) {
                held_ = holding::nothing;
                return core.consume_code();
            }
            if constexpr (std::is_void_v<T>) {
                take_finished();
                return {};
            } else {
                return take_finished();
            }
        }
        if constexpr (std::is_void_v<T>) {
            take(by_continuation);
            return {};
        } else {
            return take(by_continuation);
        }
    }
    completion::known_value<T>
    take_value() noexcept(std::is_nothrow_move_constructible_v<completion::known_value<T>>) {
        completion::known_value<T> value(std::move(value_));
        std::destroy_at(&value_);
        return value;
    }
    void take_over(value_task& other) noexcept {
        place_ = other.place_;
        if (other.held_ == holding::value)
            std::construct_at(&value_, other.take_value());
        else if (other.held_ >= holding::ticket)
            core_ = other.core_;
        version_ = other.version_;
        held_ = std::exchange(other.held_, holding::nothing);
    }
    void let_go() noexcept {
        if (held_ >= holding::ticket) [[unlikely]]
            core_->abandon(version_, held_ == holding::registered);
        if constexpr (!std::is_trivially_destructible_v<completion::known_value<T>>)
            if (held_ == holding::value)
                std::destroy_at(&value_);
        held_ = holding::nothing;
    }
    [[noreturn]] static void used_up() {
        throw invalid_operation("value task used a second time, or never assigned");
    }

    union {
        completion::source_core* core_;   // ticket
        completion::queue_place* place_; // value: where a callback runs
    };
    std::uint32_t version_ = 0; // of the ticket's operation; the generation of the place
    holding held_ = holding::nothing;
    union {
        completion::known_value<T> value_;
    };
};

} // namespace sluice

#include <sluice/completion/callback.hpp>
