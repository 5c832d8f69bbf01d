// Starts a task on an executor. It runs on its own from there: the caller keeps nothing.
#pragma once

#include <sluice/runtime/root.hpp>
#include <sluice/runtime/task.hpp>

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

namespace sluice {

namespace runtime_detail {

template <class T>
root run_detached(task<T> work) {
    co_await std::move(work);
}

template <class T, class Handler>
root run_with_handler(task<T> work, Handler handler) {
    std::exception_ptr exception;
    if constexpr (std::is_void_v<T>) {
        try {
            co_await std::move(work);
        } catch (...) {
            exception = std::current_exception();
        }
        std::move(handler)(exception);
    } else {
        T value{};
        try {
            value = co_await std::move(work);
        } catch (...) {
            exception = std::current_exception();
        }
        std::move(handler)(exception, std::move(value));
    }
}

} // namespace runtime_detail

/// Starts the task on the executor, not inside this call. An exception that leaves it leaves run().
/// A task that has not ended counts as work; the runtime's destructor destroys it. Any thread.
template <class Executor, class T>
void spawn(const Executor& executor, task<T> work) {
    runtime_detail::run_detached(std::move(work)).start_on(executor);
}

/// The same; at the end calls handler(std::exception_ptr) or handler(std::exception_ptr, T) on the
/// executor. Beside an exception T is T{}.
template <class Executor, class T, class Handler>
    requires(std::is_void_v<T>
                 ? std::invocable<Handler, std::exception_ptr>
                 : std::invocable<Handler, std::exception_ptr, std::add_rvalue_reference_t<T>>)
void spawn(const Executor& executor, task<T> work, Handler handler) {
    static_assert(std::is_void_v<T> || std::is_default_constructible_v<T>,
                  "the handler gets a T{} beside an exception: T needs a default constructor");
    runtime_detail::run_with_handler(std::move(work), std::move(handler)).start_on(executor);
}

} // namespace sluice
