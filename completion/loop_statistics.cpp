// What a loop tells about itself, and what it loses aloud; and how it notices a fork.
#include <sluice/completion/loop.hpp>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>

namespace sluice::completion {

runtime_statistics loop::statistics() const {
    runtime_statistics s;
    for (std::size_t i = 0; i < operation_path_count; ++i) {
        s.paths[i].operations =
            counters.own.operations[i].get() + counters.others.operations[i].get();
        s.paths[i].bytes = counters.own.bytes[i].get() + counters.others.bytes[i].get();
    }
    s.posted_by_budget = counters.posted_by_budget.get();
    s.cancelled = counters.cancelled.get();
    s.lost_bytes = counters.lost_bytes.get();
    s.lost_errors = counters.lost_errors.get();
    for (std::size_t code = 0; code < s.latency.size(); ++code)
        for (std::size_t bucket = 0; bucket < s.latency[code].size(); ++bucket)
            s.latency[code][bucket] = counters.latency[code][bucket].get();
    const std::lock_guard lock(other_threads_);
    s.in_flight = admitted_;
    // The loop's thread goes on meanwhile: the two may be of different moments.
    const std::size_t idle = idle_count_;
    s.pool_idle = idle + idle_for_others_count_;
    s.pool_rented = std::max<std::size_t>(kept_here_, idle) - idle + rented_elsewhere_;
    return s;
}

void loop::lost(const loss& what) noexcept {
    counters.lost_bytes.add_shared(what.bytes);
    counters.lost_errors.add_shared(what.code ? 1 : 0);
    void (*handler)(void*, const loss&) = nullptr;
    void* context = nullptr;
    {
        const std::lock_guard lock(other_threads_);
        handler = on_lost_;
        context = on_lost_context_;
    }
    if (handler != nullptr)
        handler(context, what);
}

void loop::on_lost(void (*handler)(void*, const loss&), void* context) noexcept {
    const std::lock_guard lock(other_threads_);
    on_lost_ = handler;
    on_lost_context_ = context;
}

// --- fork ---

void loop::after_fork_in_child() noexcept {
    backend_->forget_after_fork();
    running_.store(false, std::memory_order_relaxed);
    fork_generation_ = platform::fork_generation.load(std::memory_order_relaxed);
    // What had come back before the fork is known here too. The rest is the parent's: its copies
    // end here in the next turn, and with them those that wait behind them.
    platform::operation_list known;
    known.append(finished_);
    while (!known.empty()) {
        platform::operation& op = known.pop_front();
        io_source::of(op).submitted = false;
        finished_.push_back(op);
    }
    const std::lock_guard lock(other_threads_);
    for (const auto* at = sources_.front(); at != nullptr; at = sources_.after(*at)) {
        if (!std::exchange(at->source.submitted, false))
            continue;
        at->source.reason = cancel_reason::forked;
        at->source.operation.result = -ECANCELED;
        finished_.push_back(at->source.operation);
    }
}

} // namespace sluice::completion
