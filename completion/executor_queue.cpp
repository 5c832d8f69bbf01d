#include <sluice/completion/executor_queue.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>

#include <atomic>
#include <stdexcept>

namespace sluice::completion {

namespace {

// The queue of one executor that is not native. Every node is one handler of that executor.
class executor_queue final : public resume_queue {
public:
    explicit executor_queue(const boost::asio::any_io_executor& executor) : executor_(executor) {}

    void arm(timer_node&, time_point) override {
        throw std::invalid_argument("deadlines need an executor of an io_runtime");
    }
    void disarm(timer_node&) noexcept override {}
    void retain() noexcept override { references_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept override {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }

private:
    // Runs the node, or lets go of it when the context is destroyed first.
    class handler {
    public:
        handler(executor_queue& queue, ready_node& node) noexcept : queue_(&queue), node_(&node) {
            queue.retain();
        }
        handler(handler&& other) noexcept
            : queue_(other.queue_), node_(std::exchange(other.node_, nullptr)) {
            queue_->retain();
        }
        handler& operator=(handler&&) = delete;
        ~handler() {
            if (node_ != nullptr)
                node_->run(*node_, false);
            queue_->release();
        }
        void operator()() {
            const running_scope here(*queue_);
            ready_node& node = *std::exchange(node_, nullptr);
            node.run(node, true);
            queue_->drain();
        }

    private:
        executor_queue* queue_;
        ready_node* node_;
    };

    // What was posted by this thread while it ran the node goes back to the executor: other work
    // gets its turn.
    void drain() {
        while (ready_head_ != nullptr) {
            ready_node& node = *ready_head_;
            ready_head_ = node.next;
            post_from_elsewhere(node);
        }
        ready_tail_ = nullptr;
    }

    void post_from_elsewhere(ready_node& node) noexcept override {
        boost::asio::post(executor_, handler(*this, node));
    }

    boost::asio::any_io_executor executor_;
    std::atomic<int> references_{1};
};

} // namespace

queue_of_executor::queue_of_executor(const boost::asio::any_io_executor& executor, erased)
    : queue_(nullptr) {
    if (!executor)
        throw std::invalid_argument("an executor is needed, and this one is empty");
    auto& context = boost::asio::query(executor, boost::asio::execution::context);
    if (boost::asio::has_service<queue_service>(context))
        queue_ = boost::asio::use_service<queue_service>(context).queue_of(executor);
    if (queue_ != nullptr)
        queue_->retain();
    else
        queue_ = new executor_queue(executor);
}

} // namespace sluice::completion
