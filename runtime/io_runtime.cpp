#include <sluice/runtime/io_runtime.hpp>

#include <sluice/completion/executor_queue.hpp>
#include <sluice/runtime/root_registry.hpp>

#include <boost/asio/any_io_executor.hpp>

namespace sluice {

namespace {

completion::loop_options loop_options_of(const runtime_options& options) {
    completion::loop_options result;
    result.backend = {options.backend, options.queue_depth, options.worker_threads,
                      options.max_in_flight};
    result.resume = options.resume;
    result.budget = {options.inline_budget.completions, options.inline_budget.bytes};
    result.blocking_time = options.inline_budget.blocking_time;
    return result;
}

// Makes the runtime's loop be found through a type-erased executor, and through the context.
completion::resume_queue* native_queue(boost::asio::execution_context& context,
                                       const boost::asio::any_io_executor& executor) noexcept {
    const auto* native = executor.target<io_runtime::executor_type>();
    return native != nullptr && &native->context() == &context ? &native->queue() : nullptr;
}

// The context's way to its loop, and to news of a fork.
class loop_service : public boost::asio::execution_context::service {
public:
    using key_type = loop_service;
    static inline boost::asio::execution_context::id id;

    explicit loop_service(boost::asio::execution_context& context, completion::loop* loop = nullptr)
        : service(context), loop_(loop) {}
    completion::loop* loop() const noexcept { return loop_; }

private:
    void shutdown() override {}
    void notify_fork(boost::asio::execution_context::fork_event event) override {
        if (event == boost::asio::execution_context::fork_child && loop_ != nullptr)
            loop_->after_fork_in_child();
    }

    completion::loop* loop_;
};

completion::loop& loop_of(const boost::asio::execution_context& context) {
    auto& mutable_context = const_cast<boost::asio::execution_context&>(context);
    if (boost::asio::has_service<loop_service>(mutable_context))
        if (completion::loop* loop = boost::asio::use_service<loop_service>(mutable_context).loop();
            loop != nullptr)
            return *loop;
    throw std::invalid_argument("this context does no file operations");
}

} // namespace

io_runtime::io_runtime(const runtime_options& options)
    : loop_(new completion::loop(loop_options_of(options))), roots_(new root_registry(*this)),
      on_lost_(options.on_lost) {
    loop_->context(this);
    boost::asio::add_service(*this, new completion::queue_service(*this, &native_queue));
    boost::asio::add_service(*this, new loop_service(*this, loop_));
    boost::asio::add_service(*this, roots_);
    if (on_lost_)
        loop_->on_lost(
            [](void* handler, const completion::loss& what) {
                const auto& report =
                    *static_cast<std::function<void(const lost_report&)>*>(handler);
                report({what.operation,
                        what.path != nullptr ? std::filesystem::path(*what.path)
                                             : std::filesystem::path(),
                        what.code, what.bytes});
            },
            &on_lost_);
}

io_runtime::~io_runtime() {
    loop_->context(nullptr);
    // No buffer is in use after the first step; then the coroutines that own the buffers may go.
    loop_->end_operations();
    roots_->destroy_all();
    shutdown();
    loop_->drop_posted();
    destroy();
    loop_->on_lost(nullptr, nullptr);
    loop_->release();
}

std::size_t io_runtime::run() {
    return loop_->run_until(completion::time_point::max(),
                            completion::loop::waiting_rule::exclusive);
}

std::size_t io_runtime::run_until(std::chrono::steady_clock::time_point until) {
    return loop_->run_until(until, completion::loop::waiting_rule::shared);
}

std::size_t io_runtime::poll() { return loop_->poll(); }

backend_info backend(const boost::asio::execution_context& context) {
    return loop_of(context).backend().capabilities();
}

runtime_statistics statistics(const boost::asio::execution_context& context) {
    return loop_of(context).statistics();
}

std::vector<backend_availability> available_backends() { return platform::available_backends(); }

} // namespace sluice
