// Waits for several awaitables at once. Value tasks are under way already; tasks are started in
// order.
#pragma once

#include <sluice/completion/value_task.hpp>
#include <sluice/runtime/sync_wait.hpp>
#include <sluice/runtime/task.hpp>

#include <atomic>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {

namespace runtime_detail {

// Counts the parts that are not done, and one for the parent that is still starting them.
//
// RACE: parts that end, maybe on other threads, against the parent that starts them and suspends
// (when_all_awaiter) and against each other. Each subtracts itself, the one that leaves nothing
// acts, and as all subtractions acquire and release it has the results of the others.
//  - every part | parent: the parent is last; it goes on without suspending, nobody resumes it.
//  - parent | last part: that part resumes the parent, on its own thread, maybe while the parent's
//    thread is still inside await_suspend(); which touches nothing of the frame after it arrived.
//  - a part ends before the next one is started: the parent is counted, so it is not the last.
//  - part | last part: the first touches neither the counter nor its own frame after it arrived,
//    as the parent may have destroyed both. It is suspended by then, and so may be destroyed.
// `parent_` is written before the first part is started, and read by a part that arrived last.
class when_all_counter {
public:
    explicit when_all_counter(std::size_t parts) noexcept : left_(parts + 1) {}
    void set_parent(std::coroutine_handle<> parent) noexcept { parent_ = parent; }
    /// True: this was the last one.
    bool arrive() noexcept { return left_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
    std::coroutine_handle<> parent() const noexcept { return parent_; }

private:
    std::atomic<std::size_t> left_;
    std::coroutine_handle<> parent_;
};

// One part: awaits, keeps the result, and resumes the parent when it is the last.
template <class T>
class when_all_part {
public:
    using kept = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

    class promise_type {
    public:
        when_all_part get_return_object() noexcept {
            return when_all_part(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        struct final_awaiter {
            bool await_ready() const noexcept { return false; }
            std::coroutine_handle<>
            await_suspend(std::coroutine_handle<promise_type> self) const noexcept {
                when_all_counter& counter = *self.promise().counter_;
                return counter.arrive() ? counter.parent() : std::noop_coroutine();
            }
            void await_resume() const noexcept {}
        };
        final_awaiter final_suspend() const noexcept { return {}; }
        template <class U>
        void return_value(U&& value) {
            result_.emplace(std::forward<U>(value));
        }
        void unhandled_exception() noexcept { exception_ = std::current_exception(); }
        completion::resume_queue* resume_on_queue() const noexcept { return queue_; }

    private:
        friend when_all_part;
        when_all_counter* counter_ = nullptr;
        completion::resume_queue* queue_ = nullptr;
        std::optional<kept> result_;
        std::exception_ptr exception_;
    };

    when_all_part(when_all_part&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    when_all_part& operator=(when_all_part&&) = delete;
    ~when_all_part() {
        if (frame_)
            frame_.destroy();
    }
    void start(when_all_counter& counter, completion::resume_queue* queue) {
        frame_.promise().counter_ = &counter;
        frame_.promise().queue_ = queue;
        frame_.resume();
    }
    std::exception_ptr exception() const noexcept { return frame_.promise().exception_; }
    kept take() { return std::move(*frame_.promise().result_); }

private:
    explicit when_all_part(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
    std::coroutine_handle<promise_type> frame_;
};

template <class Awaitable>
using part_result = std::remove_cvref_t<awaited_t<Awaitable>>;

template <class Awaitable>
when_all_part<part_result<Awaitable>> await_part(Awaitable awaitable) {
    if constexpr (std::is_void_v<part_result<Awaitable>>) {
        co_await std::move(awaitable);
        co_return std::monostate{};
    } else {
        co_return co_await std::move(awaitable);
    }
}

// Starts every part, then suspends until the last is done; does not suspend when all of them ended
// at once.
template <class StartAll>
class when_all_awaiter {
public:
    when_all_awaiter(when_all_counter& counter, StartAll start_all) noexcept
        : counter_(counter), start_all_(start_all) {}
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) {
        completion::resume_queue* queue = nullptr;
        if constexpr (completion::brings_queue<Promise>)
            queue = parent.promise().resume_on_queue();
        counter_.set_parent(parent);
        start_all_(queue);
        return !counter_.arrive();
    }
    void await_resume() const noexcept {}

private:
    when_all_counter& counter_;
    StartAll start_all_;
};

} // namespace runtime_detail

/// Awaits all of them; the result is a tuple (std::monostate for void). All are over when it ends;
/// the first exception, in the order of the arguments, is thrown then.
template <class... Awaitables>
auto when_all(Awaitables... awaitables) -> task<std::tuple<
    typename runtime_detail::when_all_part<runtime_detail::part_result<Awaitables>>::kept...>> {
    using namespace runtime_detail;
    when_all_counter counter(sizeof...(Awaitables));
    std::tuple<when_all_part<part_result<Awaitables>>...> parts{
        await_part(std::move(awaitables))...};
    auto start_all = [&](completion::resume_queue* queue) {
        std::apply([&](auto&... part) { (part.start(counter, queue), ...); }, parts);
    };
    when_all_awaiter<decltype(start_all)> all(counter, start_all);
    co_await all;
    std::apply(
        [](auto&... part) {
            (..., (part.exception() ? std::rethrow_exception(part.exception()) : void()));
        },
        parts);
    co_return std::apply([](auto&... part) { return std::tuple{part.take()...}; }, parts);
}

/// The same for any number of one kind; void ones give std::monostate.
template <class Awaitable>
auto when_all(std::vector<Awaitable> awaitables) -> task<std::vector<
    typename runtime_detail::when_all_part<runtime_detail::part_result<Awaitable>>::kept>> {
    using namespace runtime_detail;
    using part = when_all_part<part_result<Awaitable>>;
    when_all_counter counter(awaitables.size());
    std::vector<part> parts;
    parts.reserve(awaitables.size());
    for (Awaitable& awaitable : awaitables)
        parts.push_back(await_part(std::move(awaitable)));
    auto start_all = [&](completion::resume_queue* queue) {
        for (part& one : parts)
            one.start(counter, queue);
    };
    when_all_awaiter<decltype(start_all)> all(counter, start_all);
    co_await all;
    std::vector<typename part::kept> results;
    results.reserve(parts.size());
    for (part& one : parts)
        if (one.exception())
            std::rethrow_exception(one.exception());
    for (part& one : parts)
        results.push_back(one.take());
    co_return results;
}

} // namespace sluice
