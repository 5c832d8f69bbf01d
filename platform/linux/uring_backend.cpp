#include <sluice/platform/linux/uring_backend.hpp>

#include <sluice/platform/linux/no_wait.hpp>
#include <sluice/platform/linux/uring.hpp>
#include <sluice/platform/linux/uring_entry.hpp>
#include <sluice/platform/posix/system_calls.hpp>
#include <sluice/platform/posix/thread_backend.hpp>

#include <cassert>
#include <utility>

namespace sluice::platform {

using namespace uring;

uring_backend::uring_backend(const backend_options& options)
    : options_(options), threads_(make_thread_backend(options, {}, &threads_finished, this)) {}

uring_backend::~uring_backend() {
    assert(in_flight_ == 0);
    threads_.reset(); // its threads call threads_finished()
    ring_.close();
    for (const int descriptor : {stranded_end_, handle_.load(std::memory_order_relaxed)})
        if (descriptor >= 0)
            sys::close(descriptor);
}

void uring_backend::submit(operation& op) noexcept {
    ++in_flight_;
    op.cancel_requested = false;
    op.path = path_taken::ring;
    start(op);
}

bool uring_backend::try_now(request& r, inline_limits limits) noexcept {
    return try_request_now(r, limits);
}

void uring_backend::cancel(operation& op) noexcept {
    if (op.path != path_taken::ring) {
        threads_->cancel(op);
        return;
    }
    if (op.cancel_requested || stage_of(op) == stage::none)
        return;
    op.cancel_requested = true;
    if (stage_of(op) == stage::stranded)
        return; // ends when the kernel lets go of it
    if (stage_of(op) == stage::waiting) {
        (waits_for_readiness(op) ? waiting_watched_ : waiting_).erase(op);
        finish_cancelled(op, finished_);
        return signal_handle();
    }
    if (stage_of(op) == stage::to_cancel)
        return;
    // RACE: the operation may complete before its cancellation is submitted, while that waits for
    // an entry, or in the kernel meanwhile. Each time its own completion ends it: leave_kernel()
    // takes it out of to_cancel_, and a cancellation that finds nothing (ENOENT) or something that
    // runs (EALREADY) is not an error.
    in_kernel_.erase(op);
    to_cancel_.push_back(op);
    set_stage(op, stage::to_cancel);
}

void uring_backend::flush() noexcept {
    if (ready_ring()) {
        fill_ring();
        while (ring_.pending() > 0 && enter(0, nullptr))
            fill_ring();
        batch_bytes_ = 0;
    }
    flush_threads(); // last: any of this may have handed something to them
}

void uring_backend::reap(operation_list& finished) noexcept {
    const int handle = handle_.load(std::memory_order_relaxed);
    if (handle >= 0) // before the queue is looked at, or an event would be lost
        sys::event_clear(handle);
    if (draining_ || !stranded_.empty()) [[unlikely]]
        look_after_abandoned();
    reap_ring(finished);
    finished.append(finished_);
    in_flight_ -= std::exchange(ended_, 0);
    reap_threads(finished);
    // Who waits for the handle hears nothing of entries that nobody submits.
    if (handle >= 0 && takes_entries_ && (ring_.pending() > 0 || wants_turn()))
        flush();
}

// RACE: the first watcher against helper threads that finish (threads_finished):
//  - finished before handle_ is there: nobody signals; the signal below says so.
//  - finished after: they signal, and the one below is one too many, which a reap takes back.
int uring_backend::wait_handle() noexcept {
    int handle = handle_.load(std::memory_order_relaxed);
    if (handle >= 0)
        return handle;
    handle = static_cast<int>(sys::event_new());
    if (handle < 0)
        return -1;
    handle_.store(handle, std::memory_order_release);
    register_handle();
    signal_handle();
    return handle;
}

backend_info uring_backend::capabilities() const {
    {
        const std::lock_guard lock(info_guard_);
        if (info_known_)
            return info_;
    }
    backend_info found = find_uring();
    if (found.kind == backend_kind::uring)
        found.entries = wanted_entries(options_.queue_depth);
    return found;
}

} // namespace sluice::platform
