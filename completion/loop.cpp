#include <sluice/completion/loop.hpp>

#include <algorithm>
#include <utility>

namespace sluice::completion {

loop::loop(const loop_options& options)
    : resume_queue(runners::one), options_(options),
      backend_(platform::make_backend(options.backend)) {
    set_budget(options.budget);
}

// One thread runs the loop; the next may only after this one left.
loop::run_scope::run_scope(loop& running, waiting_rule rule)
    : loop_(running), exclusive_(rule == waiting_rule::exclusive) {
    if (loop_.forked())
        throw boost::system::system_error(make_error_code(errc::forked));
    if (loop_.running_.exchange(true, std::memory_order_acquire))
        throw invalid_operation("this runtime is being run already: one thread at a time");
    scope_.emplace(loop_);
    loop_.backend_->acquire(exclusive_);
    loop_.take_posted(); // before anything that is posted from here
}

loop::run_scope::~run_scope() {
    if (exclusive_)
        loop_.backend_->release();
    scope_.reset();
    loop_.running_.store(false, std::memory_order_release);
}

namespace {
// poll() goes on while there is something to run; run_for until its time.
bool over(time_point until, std::size_t ran) noexcept {
    if (until == time_point::min())
        return ran == 0;
    return until != time_point::max() && std::chrono::steady_clock::now() >= until;
}
} // namespace

inline std::size_t loop::turn(time_point until, const bool* done) {
    clock_is_fresh_ = false; // what timers and the turn before left over submits too
    std::size_t ran = run_batch(); // left over when a handler threw
    ran += run_finished();
    take_posted();
    if (!timers_.empty())
        ran += fire_timers();
    if (ready_head_ != nullptr) {
        clock_is_fresh_ = false;
        ran += run_ready();
        ran += run_batch();
    }

    const bool ending = stopped() || (done != nullptr && *done);
    const bool may_wait = !ending && ready_head_ == nullptr && batch_head_ == nullptr &&
                          until != time_point::min() &&
                          posted_.load(std::memory_order_relaxed) == nullptr && !out_of_work();
    if (may_wait) {
        backend_->wait(timers_.empty() ? until : std::min(until, timers_.earliest()));
        clock_is_fresh_ = false;
    } else if (backend_->in_flight() != 0) {
        backend_->flush();
    }
    if (backend_->in_flight() != 0)
        backend_->reap(finished_);
    return ran + run_finished();
}

std::size_t loop::run_until(time_point until, waiting_rule rule, const bool* done) {
    return run_until(run_scope(*this, rule), until, done);
}

std::size_t loop::run_until(const run_scope&, time_point until, const bool* done) {
    std::size_t ran = 0;
    while (!stopped() && !(done != nullptr && *done)) {
        const std::size_t ran_now = turn(until, done);
        ran += ran_now;
        if ((out_of_work() && !timer_is_due()) || over(until, ran_now))
            break;
    }
    return ran;
}

bool loop::out_of_work() const noexcept {
    return admitted_ == 0 && ready_head_ == nullptr && batch_head_ == nullptr &&
           finished_.empty() && outside_work_.load(std::memory_order_acquire) == 0 &&
           posted_.load(std::memory_order_acquire) == nullptr;
}

// A deadline is no work of its own, but one that is armed late shall not wait for the next run.
bool loop::timer_is_due() const noexcept {
    return !timers_.empty() && timers_.earliest() <= std::chrono::steady_clock::now();
}

// --- nodes ---

std::size_t loop::run_ready() {
    // What these nodes post runs in the next turn, after the backend was looked at.
    ready_node* const last = ready_tail_;
    std::size_t ran = 0;
    while (ready_head_ != nullptr) {
        ready_node& node = *ready_head_;
        ready_head_ = node.next;
        const bool was_last = &node == last;
        ++ran;
        node.run(node, true);
        if (was_last || stopped())
            break;
    }
    return ran;
}

std::size_t loop::run_batch() {
    std::size_t ran = 0;
    while (batch_head_ != nullptr) {
        ready_node& node = *batch_head_;
        batch_head_ = node.next;
        ++ran;
        node.run(node, true);
    }
    return ran;
}

std::size_t loop::run_finished() {
    if (finished_.empty())
        return 0;
    std::size_t count = 0;
    const platform::tick_clock::ticks now = read_clock();
    auto started = now; // of the last one: those of one turn began at one time
    std::size_t bucket = loop_counters::bucket_of({});
    while (!finished_.empty()) {
        platform::operation& op = finished_.pop_front();
        if (op.started != started) {
            started = op.started;
            // Counters of two processors may differ a little.
            const auto ticks = now > started ? now - started : 0;
            bucket = loop_counters::bucket_of(platform::tick_clock::duration_of(ticks));
        }
        counters.took(op.code, bucket);
        ++count;
        io_source::of(op).submitted = false;
        op.complete(op);
    }
    return count + run_batch();
}

std::size_t loop::fire_timers() {
    const time_point now = std::chrono::steady_clock::now();
    std::size_t fired = 0;
    while (!timers_.empty() && timers_.earliest() <= now) {
        timer_node& timer = timers_.pop();
        timer.expired(timer, true);
        ++fired;
    }
    return fired;
}

void loop::run_after_batch(ready_node& node) noexcept {
    node.next = nullptr;
    (batch_head_ != nullptr ? batch_tail_->next : batch_head_) = &node;
    batch_tail_ = &node;
}

// RACE: post from another thread against the loop that goes to sleep.
//  - pushed before the loop looked at `posted_`: the loop takes it and does not sleep.
//  - pushed after: wake() ends the wait that is going on or the next one (see the backend's own
//    RACE block).
// What runs the node may end the loop before this returns, hence the reference.
void loop::post_from_elsewhere(ready_node& node) noexcept {
    const keep_alive scope(*this);
    node.next = posted_.load(std::memory_order_relaxed);
    while (!posted_.compare_exchange_weak(node.next, &node, std::memory_order_seq_cst,
                                          std::memory_order_relaxed)) {
    }
    if (orphaned_.load(std::memory_order_seq_cst)) [[unlikely]]
        return drop_late_posts();
    backend_->wake();
}

bool loop::take_posted() noexcept {
    if (posted_.load(std::memory_order_relaxed) == nullptr)
        return false;
    ready_node* taken = posted_.exchange(nullptr, std::memory_order_acquire);
    ready_node* first = nullptr; // in the order of posting
    ready_node* last = taken;
    while (taken != nullptr) {
        ready_node* const next = taken->next;
        taken->next = first;
        first = taken;
        taken = next;
    }
    (ready_head_ != nullptr ? ready_tail_->next : ready_head_) = first;
    ready_tail_ = last;
    return true;
}

void loop::withdraw(ready_node& node) noexcept {
    take_posted();
    ready_node* before = nullptr;
    for (ready_node* at = ready_head_; at != nullptr; before = at, at = at->next) {
        if (at != &node)
            continue;
        (before != nullptr ? before->next : ready_head_) = at->next;
        if (ready_tail_ == at)
            ready_tail_ = before;
        return;
    }
}

void loop::stop() noexcept {
    stopped_.store(true, std::memory_order_release);
    backend_->wake();
}

void loop::work_finished() noexcept {
    if (outside_work_.fetch_sub(1, std::memory_order_acq_rel) == 1 && !running_here())
        backend_->wake();
}

void loop::arm(timer_node& timer, time_point when) { timers_.arm(timer, when); }

// --- sources ---

void loop::post_completion(io_source& source) noexcept {
    source.run = [](ready_node& node, bool) {
        io_source& posted = io_source::of(node);
        posted.run_as_continuation();
        posted.finish(posted.word);
    };
    post(source);
}

} // namespace sluice::completion
