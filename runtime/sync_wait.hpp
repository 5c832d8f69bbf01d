// Runs a runtime until one awaitable is done, and returns its result.
#pragma once

#include <sluice/runtime/io_runtime.hpp>
#include <sluice/runtime/root.hpp>

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace sluice {

namespace runtime_detail {

template <class Awaitable>
decltype(auto) awaiter_of(Awaitable&& awaitable) {
    if constexpr (requires { std::forward<Awaitable>(awaitable).operator co_await(); })
        return std::forward<Awaitable>(awaitable).operator co_await();
    else
        return std::forward<Awaitable>(awaitable);
}
template <class Awaitable>
using awaited_t = decltype(awaiter_of(std::declval<Awaitable>()).await_resume());

template <class T>
struct waited {
    bool done = false;
    std::exception_ptr exception;
    std::optional<T> value;
};
template <>
struct waited<void> {
    bool done = false;
    std::exception_ptr exception;
};

// By value: what was awaited is destroyed with this coroutine, where the runtime runs.
template <class T, class Awaitable>
root run_and_keep(Awaitable awaitable, waited<T>& result) {
    try {
        if constexpr (std::is_void_v<T>)
            co_await std::move(awaitable);
        else
            result.value.emplace(co_await std::move(awaitable));
    } catch (...) {
        result.exception = std::current_exception();
    }
    result.done = true;
}

/// Starts `waited_for` and runs the loop until done; throws when it was stopped before that.
void run_until_done(io_runtime& runtime, root waited_for, const bool& done);

} // namespace runtime_detail

/// Runs `runtime` on this thread until the awaitable is done. Throws what the awaitable throws;
/// invalid_operation when a thread (this one or another) runs this runtime already;
/// std::runtime_error when the runtime is stopped first. What a handler of the runtime throws
/// leaves it too; the awaitable is destroyed then.
template <class Awaitable>
auto sync_wait(io_runtime& runtime, Awaitable&& awaitable) {
    using result_type =
        std::remove_cvref_t<runtime_detail::awaited_t<std::remove_cvref_t<Awaitable>>>;
    if (runtime.loop().running_here())
        throw invalid_operation("sync_wait on a thread that is running this runtime");
    runtime_detail::waited<result_type> result;
    runtime_detail::run_until_done(
        runtime,
        runtime_detail::run_and_keep<result_type, std::remove_cvref_t<Awaitable>>(
            std::forward<Awaitable>(awaitable), result),
        result.done);
    if (result.exception)
        std::rethrow_exception(result.exception);
    if constexpr (!std::is_void_v<result_type>)
        return std::move(*result.value);
}

} // namespace sluice
