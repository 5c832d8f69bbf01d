// Finds the queue of an executor: the native one, or a queue made for any other Asio executor.
#pragma once

#include <sluice/completion/resume_queue.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include <concepts>
#include <utility>

namespace sluice::completion {

/// Executors whose context is a loop of this library.
template <class Executor>
concept native_executor = requires(const Executor& e) {
    { e.queue() } -> std::convertible_to<resume_queue&>;
};

/// What a context registers to be found through a type-erased executor.
class queue_service : public boost::asio::execution_context::service {
public:
    using key_type = queue_service;
    static inline boost::asio::execution_context::id id;
    /// The context's own queue, if the executor is the context's own and not one that wraps it (a
    /// strand).
    using finder = resume_queue* (*)(boost::asio::execution_context& context,
                                     const boost::asio::any_io_executor& executor) noexcept;

    explicit queue_service(boost::asio::execution_context& context, finder find = nullptr)
        : service(context), find_(find) {}
    resume_queue* queue_of(const boost::asio::any_io_executor& executor) noexcept {
        return find_ == nullptr ? nullptr : find_(context(), executor);
    }

private:
    void shutdown() override {}

    finder find_;
};

/// Holds the queue of an executor, counted.
class queue_of_executor {
public:
    template <native_executor Executor>
    explicit queue_of_executor(const Executor& executor) noexcept : queue_(&executor.queue()) {
        queue_->retain();
    }
    template <class Executor>
        requires(!native_executor<Executor>)
    explicit queue_of_executor(const Executor& executor)
        : queue_of_executor(boost::asio::any_io_executor(executor), erased{}) {}

    queue_of_executor(queue_of_executor&& other) noexcept
        : queue_(std::exchange(other.queue_, nullptr)) {}
    queue_of_executor& operator=(queue_of_executor&& other) noexcept {
        std::swap(queue_, other.queue_);
        return *this;
    }
    ~queue_of_executor() {
        if (queue_ != nullptr)
            queue_->release();
    }

    resume_queue& queue() const noexcept { return *queue_; }

private:
    struct erased {};
    queue_of_executor(const boost::asio::any_io_executor& executor, erased);

    resume_queue* queue_;
};

} // namespace sluice::completion
