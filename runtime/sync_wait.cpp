#include <sluice/runtime/sync_wait.hpp>

#include <stdexcept>

namespace sluice::runtime_detail {

void run_until_done(io_runtime& runtime, root waited_for, const bool& done) {
    completion::loop& loop = runtime.loop();
    // Before anything starts: when another thread runs the loop, nothing has happened.
    const completion::loop::run_scope running(loop, completion::loop::waiting_rule::exclusive);
    root::promise_type& promise = std::move(waited_for).start_on(runtime.get_executor());
    // The result lives in the caller's frame: whatever happens, the coroutine that writes it must
    // be gone when this returns.
    const auto drop = [&] {
        if (done)
            return;
        if (!promise.started())
            loop.withdraw(promise);
        promise.frame.destroy();
    };
    try {
        loop.run_until(running, completion::time_point::max(), &done);
    } catch (...) {
        drop();
        throw;
    }
    if (!done) {
        drop();
        throw std::runtime_error(
            "sync_wait: the runtime was stopped before the awaitable was done");
    }
}

} // namespace sluice::runtime_detail
