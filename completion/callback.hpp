// A plain callback as the continuation of a value task: stored inside the core when it fits, so
// that a server of callbacks allocates nothing per operation.
#pragma once

#include <sluice/completion/rent_for_callback.hpp>
#include <sluice/completion/value_task.hpp>

namespace sluice {
namespace completion {

template <class T, class Handler>
struct callback {
    static constexpr bool fits = sizeof(Handler) <= source_core::handler_space &&
                                 alignof(Handler) <= alignof(std::max_align_t) &&
                                 std::is_nothrow_move_constructible_v<Handler>;

    static void store(source_core& core, Handler&& handler) {
        if constexpr (fits)
            std::construct_at(static_cast<Handler*>(core.handler_storage()), std::move(handler));
        else
            *static_cast<Handler**>(core.handler_storage()) = new Handler(std::move(handler));
    }

    /// Takes the handler and the result out and recycles the core before the handler runs: what it
    /// starts next finds this core free, and an exception of it leaves nothing behind.
    static void run(source_core& core, bool invoke) {
        if constexpr (fits) {
            Handler& held = *std::launder(static_cast<Handler*>(core.handler_storage()));
            Handler handler(std::move(held));
            std::destroy_at(&held);
            finish(core, invoke, handler);
        } else {
            const std::unique_ptr<Handler> handler(*static_cast<Handler**>(core.handler_storage()));
            finish(core, invoke, *handler);
        }
    }

    static void finish(source_core& core, bool invoke, Handler& handler) {
        error_code code;
        if (core.failed()) {
            code = core.consume_code();
            if (invoke)
                call_with_error(handler, code);
        } else if constexpr (std::is_void_v<T>) {
            core.consume();
            if (invoke)
                std::move(handler)(code);
        } else {
            T value = take_out(core);
            if (invoke)
                std::move(handler)(code, std::move(value));
        }
    }

    static T take_out(source_core& core) {
        const consuming scope(core);
        return result_traits<T>::take(core);
    }

    static void call_with_error(Handler& handler, error_code code) {
        if constexpr (std::is_void_v<T>)
            std::move(handler)(code);
        else
            std::move(handler)(code, T{});
    }

    static void start(value_task<T>& task, Handler handler) {
        if (task.held_ == holding::nothing)
            value_task<T>::used_up();
        if (task.held_ >= holding::ticket) {
            source_core& core = *task.core_;
            attach(core, task.version_, std::move(handler));
            task.held_ = holding::nothing;
            return;
        }
        if (task.place_ == nullptr)
            return call_now(task, handler);
        if (task.place_->generation != task.version_) { // its queue is gone
            task.take_known();
            return;
        }
        source_core& core = rent_for_callback<T>(*task.place_->queue);
        const std::uint32_t version = core.version();
        if constexpr (!std::is_void_v<T>)
            result_traits<T>::put(core, task.take_known());
        else
            task.take_known();
        core.complete_sole();
        attach(core, version, std::move(handler));
    }

    static void attach(source_core& core, std::uint32_t version, Handler&& handler) {
        core.check_awaitable(version);
        store(core, std::move(handler));
        holding held = holding::ticket;
        if (core.register_waiter(version, &run, nullptr, core.home(), held) ||
            core.post_done(version))
            return;
        drop(core);
        core.check_awaitable(version);
    }

    static void drop(source_core& core) noexcept {
        if constexpr (fits)
            std::destroy_at(std::launder(static_cast<Handler*>(core.handler_storage())));
        else
            delete *static_cast<Handler**>(core.handler_storage());
    }

    static void call_now(value_task<T>& task, Handler& handler) {
        if constexpr (std::is_void_v<T>) {
            task.take_known();
            std::move(handler)(error_code{});
        } else {
            std::move(handler)(error_code{}, task.take_known());
        }
    }
};

} // namespace completion

template <class T>
template <class Handler>
void value_task<T>::on_completed(Handler&& handler) && {
    if constexpr (std::is_void_v<T>)
        static_assert(std::is_invocable_v<std::decay_t<Handler>, error_code>,
                      "the callback of a value_task<void> is called with an error_code");
    else
        static_assert(std::is_invocable_v<std::decay_t<Handler>, error_code, T> &&
                          std::is_default_constructible_v<T>,
                      "the callback of a value_task<T> is called with an error_code and a T, which "
                      "is T{} beside an error");
    completion::callback<T, std::decay_t<Handler>>::start(*this, std::forward<Handler>(handler));
}

} // namespace sluice
