// The pool of I/O sources of a loop, and the store of the process that they come from and end in.
#include <sluice/completion/loop.hpp>

#include <limits>
#include <mutex>

namespace sluice::completion {

namespace {

// Linked by `link`; never returned to the system, see core_state.hpp. Guarded by process_mutex.
constinit io_source* store = nullptr;

io_source* take_from_store() {
    {
        const std::lock_guard lock(platform::process_mutex);
        io_source** at = &store;
        for (int tries = 16; *at != nullptr && tries > 0; --tries) {
            io_source* const source = *at;
            if (!source->tied()) [[likely]] {
                *at = source->link;
                return source;
            }
            at = &source->link;
        }
    }
    return new io_source;
}

void put_into_store(io_source& source) noexcept {
    const std::lock_guard lock(platform::process_mutex);
    source.link = store;
    store = &source;
}

void empty_into_store(io_source*& list) noexcept {
    while (io_source* source = list) {
        list = source->link;
        put_into_store(*source);
    }
}

} // namespace

// With other_threads_ held.
void loop::count_rented_elsewhere() noexcept {
    ++rented_elsewhere_;
    if (orphaned_.load(std::memory_order_relaxed)) [[unlikely]]
        retain(); // as drop_posted did for those that were out then
}

// By another thread, or with nothing idle.
io_source& loop::rent_carefully() {
    const bool here = running_here();
    if (here) {
        take_over_idle();
        if (idle_ != nullptr)
            return rent();
    } else {
        const std::lock_guard lock(other_threads_);
        if (io_source* source = idle_for_others_; source != nullptr) {
            idle_for_others_ = source->link;
            --idle_for_others_count_;
            source->rented_elsewhere_ = true;
            count_rented_elsewhere();
            return *source;
        }
    }
    io_source& source = *take_from_store();
    {
        const std::lock_guard lock(other_threads_);
        sources_.push_back(source.in_loop_);
        if (here)
            kept_here_ = kept_here_ + 1;
        else
            count_rented_elsewhere();
    }
    source.loop_ = this;
    source.rented_elsewhere_ = !here;
    source.operation.source = &source;
    source.set_home(this);
    source.renew();
    return source;
}

// What others rented, or gave back, and is idle: this thread's from here on.
void loop::take_over_idle() noexcept {
    {
        const std::lock_guard lock(other_threads_);
        idle_ = std::exchange(idle_for_others_, nullptr);
        idle_count_ = std::exchange(idle_for_others_count_, 0);
        kept_here_ = kept_here_ + idle_count_;
    }
    for (io_source* source = idle_; source != nullptr; source = source->link)
        source->rented_elsewhere_ = false;
}

void loop::give_back(io_source& source) noexcept {
    source.renew();
    source.reason = cancel_reason::none;
    source.on_cancel = nullptr;
    source.on_discard = nullptr;
    if (running_here() && !source.rented_elsewhere_) [[likely]] {
        if (idle_count_ >= most_idle_) [[unlikely]] {
            kept_here_ = kept_here_ - 1;
            {
                const std::lock_guard lock(other_threads_);
                sources_.erase(source.in_loop_);
            }
            return put_into_store(source);
        }
        source.link = idle_;
        idle_ = &source;
        idle_count_ = idle_count_ + 1;
        return;
    }
    bool orphaned = false;
    {
        const std::lock_guard lock(other_threads_);
        --rented_elsewhere_;
        orphaned = orphaned_.load(std::memory_order_relaxed);
        if (!orphaned && idle_for_others_count_ < most_idle_) {
            source.link = idle_for_others_;
            idle_for_others_ = &source;
            ++idle_for_others_count_;
            return;
        }
        sources_.erase(source.in_loop_);
    }
    put_into_store(source);
    if (orphaned)
        release(); // the reference that drop_posted took for it
}

// --- the end ---

// All are marked before the first one ends, or a call that waits behind it would get its turn and
// begin. Without the lock while one ends, as that may give sources back: all stay in the list
// meanwhile.
//
// RACE: this thread runs the loop, others rent and give back.
//  - `admitted`, and what else is looked at of an admitted source, is this thread's alone.
//  - one that another thread has just rented or gives back is not admitted, and not touched; the
//    list changes with the lock held, and one that joins it meanwhile has nothing in flight.
//  - `most_idle_` changes with the lock held; this thread, which writes it, reads it without.
void loop::cancel_admitted() noexcept {
    std::unique_lock lock(other_threads_);
    most_idle_ = std::numeric_limits<std::size_t>::max();
    for (auto* at = sources_.front(); at != nullptr; at = sources_.after(*at))
        at->source.is_to_end();
    for (auto* at = sources_.front(); at != nullptr; at = sources_.after(*at)) {
        lock.unlock();
        at->source.end_now();
        lock.lock();
    }
    most_idle_ = most_idle_sources;
}

void loop::end_operations() noexcept {
    if (forked())
        backend_->forget_after_fork();
    {
        const running_scope here(*this);
        if (!forked()) {
            backend_->acquire(true);
            cancel_admitted();
            while (backend_->in_flight() != 0) {
                backend_->wait(time_point::max());
                backend_->reap(finished_);
                while (!finished_.empty()) {
                    platform::operation& op = finished_.pop_front();
                    io_source::of(op).submitted = false;
                    op.complete(op);
                }
            }
            backend_->release();
        }
    }
    shut_down_.store(true, std::memory_order_release);
}

void loop::let_go_of(ready_node* first) noexcept {
    while (first != nullptr) {
        ready_node& node = *first;
        first = node.next;
        node.run(node, false);
    }
}

void loop::drop_posted() noexcept {
    {
        const running_scope here(*this);
        do {
            take_posted();
            ready_node* const batch = std::exchange(batch_head_, nullptr);
            ready_node* const ready = std::exchange(ready_head_, nullptr);
            ready_tail_ = nullptr;
            let_go_of(batch);
            let_go_of(ready);
        } while (ready_head_ != nullptr || batch_head_ != nullptr || posted_.load() != nullptr);
    }
    {
        const std::lock_guard lock(other_threads_);
        const auto outstanding = static_cast<int>(kept_here_ - idle_count_ + rented_elsewhere_);
        references_.fetch_add(outstanding, std::memory_order_relaxed);
        orphaned_.store(true, std::memory_order_seq_cst);
    }
    drop_late_posts();
    while (!timers_.empty()) {
        timer_node& timer = timers_.pop();
        timer.expired(timer, false);
    }
}

// RACE: a post from another thread against the end of the loop: that thread pushes, then looks at
// `orphaned_`; drop_posted sets `orphaned_`, then looks at what was pushed. One of them lets go of
// the node.
void loop::drop_late_posts() noexcept {
    let_go_of(posted_.exchange(nullptr, std::memory_order_seq_cst));
}

void loop::release() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
        delete this;
}

loop::~loop() {
    empty_into_store(idle_);
    empty_into_store(idle_for_others_);
}

} // namespace sluice::completion
