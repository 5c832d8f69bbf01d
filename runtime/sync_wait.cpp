#include <sluice/runtime/sync_wait.hpp>

#include <stdexcept>

namespace sluice::runtime_detail {

void run_until_done(io_runtime& runtime, root::promise_type& waited_for, const bool& done) {
    // The awaitable lives in the caller's frame: whatever happens, its coroutine must be gone when
    // this returns.
    const auto drop = [&] {
        if (done)
            return;
        if (!waited_for.started())
            runtime.loop().withdraw(waited_for);
        waited_for.frame.destroy();
    };
    try {
        runtime.loop().run_until(completion::time_point::max(),
                                 completion::loop::waiting_rule::exclusive, &done);
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
