// The public completion source: pooled or standing alone, resettable, awaitable through value
// tasks. Its owner chooses whether a continuation is resumed inline or on a queue.
//
// Threads: set_* may come from any thread, also from several at once (one wins); everything else
// from one at a time.
#pragma once

#include <sluice/completion/value_task.hpp>

#include <exception>
#include <utility>

namespace sluice {

namespace completion {

template <class T>
const source_core::verbs& public_verbs() noexcept;

/// Completes a public source as timed out when its deadline passes; nothing else can be cancelled
/// there.
void end_public_source(source_core& core, std::uint32_t version, cancel_reason reason) noexcept;

template <class T>
typed_core<T>& new_public_core(resume_queue& home, resume_mode mode) {
    typed_core<T>& core = *core_slab<T>::take(public_verbs<T>(), &home);
    core.become(public_verbs<T>());
    core.set_home(&home);
    core.own_mode(mode);
    core.set_owned(true);
    core.renew();
    return core;
}

template <class T>
const source_core::verbs& public_verbs() noexcept {
    static constexpr source_core::verbs kind{
        [](source_core& core) noexcept { // its owner left it to the ticket
            resume_queue& home = *core.home();
            core.renew();
            core_slab<T>::put(static_cast<typed_core<T>&>(core));
            home.release();
        },
        &end_public_source,
        [](source_core& core) noexcept { result_traits<T>::discard(core); },
    };
    return kind;
}

} // namespace completion

/// What every holder of a public core can do with it.
template <class T>
class source_handle {
public:
    using value_type = T;

    /// A ticket on the present version. Of several the first that is awaited, read or dropped is
    /// the one that counts: the others are refused. They are used by one thread at a time; a drop
    /// may come from any.
    value_task<T> task() noexcept {
        completion::typed_core<T>& core = *core_;
        return value_task<T>(core, core.issue());
    }

    /// Completes; throws invalid_operation when that happened already since the last reset.
    template <class... Value>
        requires(std::is_void_v<T> ? sizeof...(Value) == 0 : sizeof...(Value) == 1)
    void set_result(Value&&... value) {
        if (!try_set_result(std::forward<Value>(value)...)) [[unlikely]]
            completed_before();
    }
    void set_error(error_code code) {
        if (!try_set_error(code))
            completed_before();
    }
    void set_exception(std::exception_ptr exception) {
        if (!try_set_exception(std::move(exception)))
            completed_before();
    }

    /// The same; false when it was completed already.
    template <class... Value>
        requires(std::is_void_v<T> ? sizeof...(Value) == 0 : sizeof...(Value) == 1)
    bool try_set_result(Value&&... value) {
        using claim = completion::source_core::claim;
        completion::typed_core<T>& core = *core_;
        if constexpr (completion::travels_in_word<T> &&
                      (std::is_void_v<T> ||
                       std::is_nothrow_constructible_v<completion::known_value<T>, Value&&...>)) {
            auto known = completion::known_value<T>(std::forward<Value>(value)...);
            const claim won = core.try_claim();
            if (won == claim::refused) [[unlikely]]
                return false;
            core.emplace_known(std::move(known));
            core.publish(won, true);
            return true;
        }
        const claim won = core.try_claim();
        if (won == claim::refused) [[unlikely]]
            return false;
        if constexpr (std::is_void_v<T> ||
                      std::is_nothrow_constructible_v<completion::known_value<T>, Value&&...>) {
            core.emplace(std::forward<Value>(value)...);
        } else {
            try {
                core.emplace(std::forward<Value>(value)...);
            } catch (...) {
                core.fail({.code = {}, .path = {}, .exception = std::current_exception()});
            }
        }
        core.publish(won, false);
        return true;
    }
    bool try_set_error(error_code code) {
        return try_fail({.code = code, .path = {}, .exception = {}});
    }
    bool try_set_exception(std::exception_ptr exception) {
        return try_fail({.code = {}, .path = {}, .exception = std::move(exception)});
    }

    /// Ready for the next operation: a new version, this source's own settings. Older tickets are
    /// stale from here on. Throws invalid_operation while somebody waits. Not while another thread
    /// uses a ticket of this source.
    void reset() {
        if (core_->has_waiter()) [[unlikely]]
            throw invalid_operation("completion source reset while somebody waits for it");
        if (!core_->was_consumed())
            core_->end_claims();
        discard_untaken(core_->look());
        core_->renew();
    }

    std::uint32_t version() const noexcept { return core_->version(); }
    resume_mode mode() const noexcept { return core_->own_mode(); }
    void mode(resume_mode mode) noexcept { core_->choose_mode(mode); }

protected:
    explicit source_handle(completion::typed_core<T>* core) noexcept : core_(core) {}
    source_handle(source_handle&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
    ~source_handle() = default;

    /// The holder goes away: whoever has the ticket gets the result, or errc::abandoned when there
    /// is none. True: the core is free, at a new version.
    bool let_go(completion::typed_core<T>& core) noexcept {
        if (!core.was_consumed() && !let_go_unconsumed()) [[unlikely]]
            return false;
        core.renew();
        return true;
    }

    completion::typed_core<T>* core_;

private:
    [[gnu::noinline, gnu::cold]] bool let_go_unconsumed() noexcept {
        if (!core_->ticket_is_out()) {
            core_->end_claims();
            discard_untaken(core_->look());
            return true;
        }
        try_set_error(make_error_code(errc::abandoned));
        return !core_->leave_to_consumer();
    }
    bool try_fail(completion::failure why) {
        const auto won = core_->try_claim();
        if (won == completion::source_core::claim::refused)
            return false;
        core_->fail(std::move(why));
        core_->publish(won, false);
        return true;
    }
    void discard_untaken(std::uint64_t seen) noexcept {
        using core = completion::source_core;
        if ((seen & (core::done | core::consumed)) == core::done && !core_->failed())
            completion::result_traits<T>::discard(*core_);
    }
    [[noreturn]] static void completed_before() {
        throw invalid_operation("completion source completed a second time without reset");
    }
};

/// A completion source that stands alone.
template <class T>
class completion_source : public source_handle<T> {
public:
    /// Continuations run on `executor`: inside set_* where that thread runs the executor and the
    /// mode is inline_.
    template <class Executor>
    explicit completion_source(const Executor& executor, resume_mode mode = resume_mode::inline_)
        : completion_source(completion::queue_of_executor(executor), mode) {}

    completion_source(completion_source&&) noexcept = default;
    completion_source& operator=(completion_source&& other) noexcept {
        std::swap(queue_, other.queue_);
        std::swap(this->core_, other.core_);
        return *this;
    }
    ~completion_source() {
        if (this->core_ != nullptr && this->let_go(*this->core_))
            completion::core_slab<T>::put(*this->core_);
    }

private:
    completion_source(completion::queue_of_executor queue, resume_mode mode)
        : source_handle<T>(&completion::new_public_core<T>(queue.queue(), mode)),
          queue_(std::move(queue)) {}

    completion::queue_of_executor queue_;
};

} // namespace sluice
