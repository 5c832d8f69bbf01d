// A coroutine that computes a T: lazy, move-only, started by being awaited. After each suspension
// it is back on the executor that it was spawned on.
//
// Threads: one at a time. The stack stays bounded without tail calls: a child that ends without
// having suspended returns to its parent, it does not resume it.
#pragma once

#include <sluice/completion/resume_queue.hpp>
#include <sluice/platform/error.hpp>

#include <atomic>
#include <coroutine>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace sluice {

template <class T = void>
class task;

namespace runtime_detail {

class task_promise_base {
public:
    std::suspend_always initial_suspend() const noexcept { return {}; }

    // RACE: the child ends (here) against the parent that suspends (task::awaiter).
    //  - the child ends within the parent's await_suspend: it arrives first and leaves it to the
    //    parent to go on.
    //  - the child ends later, maybe on another thread: the parent arrived first, and is resumed
    //    from here.
    struct final_awaiter {
        bool await_ready() const noexcept { return false; }
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
            task_promise_base& promise = self.promise();
            if (promise.met_.exchange(true, std::memory_order_acq_rel))
                return promise.parent_;
            return std::noop_coroutine();
        }
        void await_resume() const noexcept {}
    };
    final_awaiter final_suspend() const noexcept { return {}; }

    /// Where this coroutine is resumed; null: where the awaited operation says.
    completion::resume_queue* resume_on_queue() const noexcept { return queue_; }
    void set_queue(completion::resume_queue* queue) noexcept { queue_ = queue; }
    void set_parent(std::coroutine_handle<> parent) noexcept { parent_ = parent; }
    bool awaited() const noexcept { return parent_ != nullptr; }
    /// True: the other side was here before.
    bool meet() noexcept { return met_.exchange(true, std::memory_order_acq_rel); }

private:
    std::coroutine_handle<> parent_;
    completion::resume_queue* queue_ = nullptr;
    std::atomic<bool> met_{false};
};

template <class T>
class task_promise : public task_promise_base {
public:
    task_promise() noexcept {}
    ~task_promise() {
        if (state_ == state::value)
            std::destroy_at(&value_);
        else if (state_ == state::exception)
            std::destroy_at(&exception_);
    }
    task_promise(const task_promise&) = delete;
    task_promise& operator=(const task_promise&) = delete;

    task<T> get_return_object() noexcept;
    template <class U = T>
    void return_value(U&& value) {
        std::construct_at(&value_, std::forward<U>(value));
        state_ = state::value;
    }
    void unhandled_exception() noexcept {
        std::construct_at(&exception_, std::current_exception());
        state_ = state::exception;
    }
    T take() {
        if (state_ == state::exception)
            std::rethrow_exception(exception_);
        return std::move(value_);
    }

private:
    enum class state : unsigned char { empty, value, exception };
    state state_ = state::empty;
    union {
        T value_;
        std::exception_ptr exception_;
    };
};

template <>
class task_promise<void> : public task_promise_base {
public:
    task<void> get_return_object() noexcept;
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { exception_ = std::current_exception(); }
    void take() const {
        if (exception_)
            std::rethrow_exception(exception_);
    }

private:
    std::exception_ptr exception_;
};

} // namespace runtime_detail

template <class T>
class [[nodiscard]] task {
public:
    using promise_type = runtime_detail::task_promise<T>;
    using value_type = T;

    task() noexcept = default;
    task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    task& operator=(task&& other) noexcept {
        std::swap(frame_, other.frame_);
        return *this;
    }
    ~task() {
        if (frame_)
            frame_.destroy();
    }

    class awaiter {
    public:
        explicit awaiter(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
        bool await_ready() const {
            if (!frame_ || frame_.promise().awaited())
                throw invalid_operation("task awaited a second time, or never assigned");
            return false;
        }
        template <class Promise>
        bool await_suspend(std::coroutine_handle<Promise> parent) {
            promise_type& child = frame_.promise();
            if constexpr (requires(Promise& p) { p.resume_on_queue(); })
                child.set_queue(parent.promise().resume_on_queue());
            child.set_parent(parent);
            frame_.resume();
            return !child.meet();
        }
        T await_resume() { return frame_.promise().take(); }

    private:
        std::coroutine_handle<promise_type> frame_;
    };
    awaiter operator co_await() && noexcept { return awaiter(frame_); }
    awaiter operator co_await() & = delete; ///< a task is awaited once: co_await std::move(it)

private:
    friend promise_type;
    explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

    std::coroutine_handle<promise_type> frame_;
};

namespace runtime_detail {

template <class T>
task<T> task_promise<T>::get_return_object() noexcept {
    return task<T>(std::coroutine_handle<task_promise>::from_promise(*this));
}
inline task<void> task_promise<void>::get_return_object() noexcept {
    return task<void>(std::coroutine_handle<task_promise>::from_promise(*this));
}

} // namespace runtime_detail
} // namespace sluice
