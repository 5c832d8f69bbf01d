// A coroutine type that knows nothing of sluice, as a user of the library might have one: runs at
// once, keeps what it threw, is destroyed with its object wherever it is.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace sluice::test {

class home_coroutine {
public:
    struct promise_type {
        home_coroutine get_return_object() noexcept {
            return home_coroutine(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() noexcept { failure = std::current_exception(); }
        std::exception_ptr failure;
    };

    home_coroutine(home_coroutine&& other) noexcept
        : frame_(std::exchange(other.frame_, nullptr)) {}
    ~home_coroutine() { destroy(); }

    bool done() const noexcept { return frame_.done(); }
    /// Throws what left the coroutine.
    void check() const {
        if (frame_.promise().failure)
            std::rethrow_exception(frame_.promise().failure);
    }
    void destroy() noexcept {
        if (auto frame = std::exchange(frame_, nullptr))
            frame.destroy();
    }

private:
    explicit home_coroutine(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

    std::coroutine_handle<promise_type> frame_;
};

} // namespace sluice::test
