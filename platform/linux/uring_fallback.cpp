// Life without a ring: when none could be made, when the kernel stops to take entries, when its
// thread is gone.
//
// What the kernel has not seen moves to the threads at once, and so do the polls: no buffer belongs
// to them. A transfer in the kernel still owns its buffer. An unbound ring goes on showing
// completions in its mapped queue (draining_) until the devices have answered. A bound ring does
// not, and one whose descriptor is gone cannot be waited for: it is closed, and once the pipe that
// it held hangs up the kernel has let go of everything; then the transfers are made again, and
// those whose effect is unknown (at the file's own position) end as cancelled.
#include <sluice/platform/linux/uring_backend.hpp>

#include <sluice/platform/linux/uring_entry.hpp>
#include <sluice/platform/linux/uring_explain.hpp>
#include <sluice/platform/posix/system_calls.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace sluice::platform {

using namespace uring;

namespace {

bool has_hung_up(int descriptor) noexcept {
    const timespec at_once{};
    return sys::poll_one(descriptor, 0, &at_once) > 0;
}

long poll_several(pollfd* descriptors, nfds_t count, const timespec* limit) noexcept {
    return pass({raw_call::poll}, [&](std::size_t) {
        return sys::answer(::ppoll(descriptors, count, limit, nullptr));
    });
}

} // namespace

void uring_backend::fall_back(const ring_outcome& failed) noexcept {
    if (std::exchange(failed_, true))
        return;
    {
        const std::lock_guard lock(info_guard_);
        info_ = {backend_kind::threads, static_cast<int>(-failed.result), explain(failed), 0};
        info_known_ = true;
    }
    // No ring behind the descriptor, or a filter that answers so.
    if (ring_.is_open() && (failed.result == -EBADF || failed.result == -EOPNOTSUPP))
        ring_.look_at_descriptor();
    abandon_ring();
    for (operation_list* list : {&waiting_, &waiting_watched_})
        while (!list->empty())
            send_to_threads(list->pop_front(), path_taken::fallback);
}

void uring_backend::abandon_ring() noexcept {
    if (!ring_.is_open())
        return;
    takes_entries_ = false;
    take_back_pending();
    reap_ring(finished_);
    in_kernel_.append(to_cancel_);
    restart_polls();
    wake_armed_ = false;
    cancels_in_kernel_ = 0;
    draining_ = true;
    look_after_abandoned();
    signal_handle();
}

void uring_backend::restart_polls() noexcept {
    operation_list seen = std::move(in_kernel_);
    while (!seen.empty()) {
        operation& op = seen.pop_front();
        in_kernel_.push_back(op);
        set_stage(op, stage::in_kernel);
        if (kind_of(op.tag) != entry_kind::readiness)
            continue;
        leave_kernel(op);
        if (op.cancel_requested)
            finish_cancelled(op, finished_);
        else
            start(op);
    }
}

void uring_backend::look_after_abandoned() noexcept {
    if (draining_) {
        reap_ring(finished_);
        const bool only_watched = disk_in_kernel_ == 0 && ring_.has_end_descriptor();
        in_kernel_.append(to_cancel_);
        if (in_kernel_.empty() || ring_.is_bound() || !ring_.has_descriptor() || only_watched)
            strand();
    }
    if (!stranded_.empty() && (stranded_end_ < 0 || has_hung_up(stranded_end_)))
        revive_stranded();
}

void uring_backend::strand() noexcept {
    while (!in_kernel_.empty()) {
        operation& op = in_kernel_.pop_front();
        set_stage(op, stage::stranded);
        stranded_.push_back(op);
    }
    disk_in_kernel_ = watched_in_kernel_ = 0;
    draining_ = false;
    const int end = ring_.take_end_descriptor();
    ring_.close();
    if (stranded_end_ >= 0)
        sys::close(stranded_end_);
    stranded_end_ = end;
    if (stranded_.empty())
        return;
    const timespec limit{abandon_pause.count(), 0};
    sys::uninterrupted([&] { return sys::poll_one(end, 0, &limit); });
}

void uring_backend::revive_stranded() noexcept {
    sys::close(std::exchange(stranded_end_, -1));
    operation_list free = std::move(stranded_);
    while (!free.empty()) {
        operation& op = free.pop_front();
        set_stage(op, stage::none);
        end_attempt(op, -ECANCELED, finished_);
    }
    signal_handle();
}

void uring_backend::send_to_threads(operation& op, path_taken path) noexcept {
    set_stage(op, stage::none);
    op.path = path;
    threads_->submit(op);
}

void uring_backend::flush_threads() noexcept {
    if (threads_->in_flight() > 0)
        threads_->flush();
}

// The threads call every way theirs; what would have gone through the ring is a fallback.
void uring_backend::reap_threads(operation_list& finished) noexcept {
    const std::size_t before = threads_->in_flight();
    if (before == 0)
        return;
    operation_list arrived;
    threads_->reap(arrived);
    in_flight_ -= before - threads_->in_flight();
    for (operation* op = arrived.front(); op != nullptr; op = arrived.after(*op))
        if (op->code != opcode::call && (failed_ || (op->code > opcode::write && !can_sync_)))
            op->path = path_taken::fallback;
    finished.append(arrived);
}

void uring_backend::threads_finished(void* self) noexcept {
    auto& that = *static_cast<uring_backend*>(self);
    that.wake_.wake();
    that.signal_handle();
}

void uring_backend::signal_handle() noexcept {
    if (const int handle = handle_.load(std::memory_order_acquire); handle >= 0)
        sys::event_signal(handle);
}

void uring_backend::sleep_without_ring(clock::time_point until) noexcept {
    flush_threads();
    timespec limit{};
    const bool endless = until == clock::time_point::max();
    if (!finished_.empty() || (!endless && !time_left(until, limit)))
        return;
    pollfd watched[3] = {{wake_.descriptor(), POLLIN, 0},
                         {stranded_.empty() ? -1 : stranded_end_, 0, 0},
                         {draining_ ? ring_.descriptor() : -1, POLLIN, 0}};
    if (wake_.begin_sleep())
        poll_several(watched, 3, endless ? nullptr : &limit);
    wake_.end_sleep();
    if (watched[0].revents != 0)
        wake_.drain();
}

} // namespace sluice::platform
