#include <sluice/completion/executor_queue.hpp>

#include <sluice/platform/fork_mutex.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>

#include <atomic>
#include <mutex>
#include <stdexcept>

namespace sluice::completion {

namespace {

// The queue of one executor that is not native. Every node is one handler of that executor, which
// decides how many of them run at once; so there is no list here.
class executor_queue final : public resume_queue {
public:
    explicit executor_queue(const boost::asio::any_io_executor& executor)
        : resume_queue(runners::several), executor_(executor) {}

    bool has_timers() const noexcept override { return false; }
    void arm(timer_node&, time_point) override { throw std::logic_error("no timers here"); }
    void disarm(timer_node&) noexcept override {}
    // Spawned tasks keep the context running, as they do a loop.
    void work_started() noexcept override {
        boost::asio::any_io_executor begun =
            boost::asio::prefer(executor_, boost::asio::execution::outstanding_work_t::tracked);
        const std::lock_guard lock(platform::process_mutex);
        if (work_++ == 0)
            tracked_.swap(begun);
    }
    void work_finished() noexcept override {
        boost::asio::any_io_executor ended;
        const std::lock_guard lock(platform::process_mutex);
        if (--work_ == 0)
            tracked_.swap(ended);
    }
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
        }

    private:
        executor_queue* queue_;
        ready_node* node_;
    };

    void post_from_elsewhere(ready_node& node) noexcept override {
        const keep_alive scope(*this);
        boost::asio::post(executor_, handler(*this, node));
    }

    boost::asio::any_io_executor executor_;
    // Guarded by process_mutex, as this is rare and spawned tasks alone ask for it.
    std::size_t work_ = 0;
    boost::asio::any_io_executor tracked_; // while there is work
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
