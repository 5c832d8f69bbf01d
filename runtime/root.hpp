// The coroutine at the bottom of a spawned or waited-for awaitable. It is started by a node on its
// executor's queue, counts as work of its runtime, and destroys itself when it ends.
#pragma once

#include <sluice/completion/executor_queue.hpp>
#include <sluice/runtime/root_registry.hpp>

#include <boost/asio/query.hpp>

#include <coroutine>
#include <exception>
#include <utility>

namespace sluice::runtime_detail {

/// The registry of the executor's context; null when that is not a native one.
template <class Executor>
root_registry* registry_of(const Executor& executor) {
    if constexpr (completion::native_executor<Executor>)
        return &executor.context().roots();
    auto& context = boost::asio::query(executor, boost::asio::execution::context);
    return boost::asio::has_service<root_registry>(context)
               ? &boost::asio::use_service<root_registry>(context)
               : nullptr;
}

/// Throws what left a detached task out of run().
void post_exception(completion::resume_queue& queue, std::exception_ptr exception);

class root {
public:
    class promise_type : public completion::ready_node, public root_node {
    public:
        promise_type() noexcept { completion::ready_node::run = &start_or_drop; }
        ~promise_type() {
            if (registry_ != nullptr && started_)
                registry_->remove(*this);
            if (queue_ != nullptr)
                end_work();
        }
        root get_return_object() noexcept {
            return root(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept {
            return {};
        } // the frame destroys itself
        void return_void() const noexcept {}
        void unhandled_exception() { post_exception(*queue_, std::current_exception()); }
        completion::resume_queue* resume_on_queue() const noexcept { return queue_; }

        bool started() const noexcept { return started_; }
        void begin(completion::resume_queue& queue, root_registry* registry, bool now = false) {
            queue.retain();
            queue_ = &queue;
            registry_ = registry;
            queue.work_started();
            frame = std::coroutine_handle<promise_type>::from_promise(*this);
            if (now && queue.running_here())
                start_or_drop(*this, true);
            else
                queue.post(*this);
        }

    private:
        // Until it is started the queue has it, and lets go of it; from then on the registry.
        static void start_or_drop(completion::ready_node& self, bool invoke) {
            auto& promise = static_cast<promise_type&>(self);
            if (!invoke)
                return promise.frame.destroy();
            promise.started_ = true;
            if (promise.registry_ != nullptr)
                promise.registry_->add(promise);
            promise.frame.resume();
        }
        void end_work() noexcept {
            queue_->work_finished();
            queue_->release();
        }

        completion::resume_queue* queue_ = nullptr;
        root_registry* registry_ = nullptr;
        bool started_ = false;
    };

    template <class Executor>
    promise_type& start_on(const Executor& executor) && {
        const completion::queue_of_executor found(executor);
        root_registry* const registry = registry_of(executor);
        promise_type& promise = std::exchange(frame_, nullptr).promise();
        promise.begin(found.queue(), registry);
        return promise;
    }
    /// Within this call where this thread runs the executor, else on its queue.
    template <class Executor>
    void start_now_or_on(const Executor& executor) && {
        const completion::queue_of_executor found(executor);
        root_registry* const registry = registry_of(executor);
        std::exchange(frame_, nullptr).promise().begin(found.queue(), registry, true);
    }
    root(root&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    root& operator=(root&&) = delete;
    ~root() {
        if (frame_)
            frame_.destroy();
    }

private:
    explicit root(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

    std::coroutine_handle<promise_type> frame_;
};

} // namespace sluice::runtime_detail
