// Timers of a runtime.
#pragma once

#include <sluice/completion/executor_queue.hpp>
#include <sluice/completion/value_task.hpp>

#include <chrono>
#include <stop_token>

namespace sluice {

namespace runtime_detail {
value_task<void> sleep_on(completion::resume_queue& queue,
                          std::chrono::steady_clock::time_point until, const std::stop_token& stop);
}

/// Completes at `until`; as cancelled when the token asks for it first. Like every operation it
/// goes on when its value task is dropped, and counts as work until then. The executor is one of an
/// io_runtime, else std::invalid_argument. Any thread.
template <class Executor>
value_task<void> sleep_until(const Executor& executor, std::chrono::steady_clock::time_point until,
                             std::stop_token stop = {}) {
    const completion::queue_of_executor found(executor);
    return runtime_detail::sleep_on(found.queue(), until, stop);
}

template <class Executor, class Rep, class Period>
value_task<void> sleep_for(const Executor& executor, std::chrono::duration<Rep, Period> duration,
                           std::stop_token stop = {}) {
    return sleep_until(executor, completion::time_after(duration), std::move(stop));
}

} // namespace sluice
