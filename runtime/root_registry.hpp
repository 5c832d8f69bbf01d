// The coroutines at the bottom of a runtime: spawned tasks that were started and have not ended.
// The runtime destroys those that are left when it goes.
#pragma once

#include <sluice/completion/executor_queue.hpp>
#include <sluice/platform/fork_mutex.hpp>

#include <boost/asio/execution_context.hpp>

#include <coroutine>

namespace sluice {

/// Embedded in the promise of a root.
struct root_node {
    root_node* next = nullptr;
    root_node* previous = nullptr;
    std::coroutine_handle<> frame;
};

struct root_registry : boost::asio::execution_context::service {
    using key_type = root_registry;
    static inline boost::asio::execution_context::id id;
    explicit root_registry(boost::asio::execution_context& context) : service(context) {}

    void add(root_node& root) noexcept;
    void remove(root_node& root) noexcept;
    void destroy_all() noexcept;

private:
    void shutdown() override { destroy_all(); }

    platform::fork_mutex mutex_;
    root_node* first_ = nullptr;
};

} // namespace sluice
