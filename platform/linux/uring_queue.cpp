// The way into the ring: what is admitted becomes entries, the rest waits in lists.
#include <sluice/platform/linux/uring_backend.hpp>
#include <sluice/platform/linux/uring_entry.hpp>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

namespace sluice::platform {

using namespace uring;

inline bool uring_backend::admits(std::size_t copied) const noexcept {
    return ring_.has_room() && disk_in_kernel_ < disk_limit_ &&
           batch_bytes_ + copied <= largest_batch;
}

inline void uring_backend::count_issued(operation& op, std::size_t copied) noexcept {
    batch_bytes_ += copied;
    ++disk_in_kernel_;
    set_stage(op, stage::in_kernel);
    in_kernel_.push_back(op);
}

void uring_backend::issue(operation& op, std::size_t copied) noexcept {
    if (op.code <= opcode::write)
        fill_transfer(op, ring_.next_entry());
    else
        fill_sync(op, ring_.next_entry());
    count_issued(op, copied);
}

void uring_backend::start(operation& op) noexcept {
    if (op.code <= opcode::write && op.file->seekable && takes_entries_ && waiting_.empty())
        [[likely]] {
        const std::size_t rest = op.size - op.done;
        if (!wants_worker(op, rest) && admits(rest)) [[likely]] {
            fill_part(op, ring_.next_entry(), rest, 0);
            return count_issued(op, rest);
        }
    }
    start_aside(op);
}

void uring_backend::start_aside(operation& op) noexcept {
    if (op.code == opcode::call)
        return send_to_threads(op, path_taken::worker);
    if (failed_ || (!can_sync_ && op.code > opcode::write))
        return send_to_threads(op, path_taken::fallback);
    set_stage(op, stage::waiting);
    (waits_for_readiness(op) ? waiting_watched_ : waiting_).push_back(op);
    if (takes_entries_ && !recalling_)
        fill_ring();
}

void uring_backend::fill_ring() noexcept {
    if (!to_cancel_.empty())
        fill_cancels();
    if (!waiting_watched_.empty())
        fill_watched();
    while (!waiting_.empty()) {
        const std::size_t copied = inline_bytes(*waiting_.front());
        if (!admits(copied))
            break;
        issue(waiting_.pop_front(), copied);
    }
}

void uring_backend::fill_cancels() noexcept {
    while (!to_cancel_.empty() && ring_.has_room() && cancels_in_kernel_ < cancel_limit_) {
        operation& op = to_cancel_.pop_front();
        fill_cancel(op, ring_.next_entry());
        ++cancels_in_kernel_;
        set_stage(op, stage::in_kernel);
        in_kernel_.push_back(op);
    }
}

// Every one of these holds a completion entry for as long as its file pleases. Those above the
// limit go to the poller thread, which has none: waiting in a list they would never hear that their
// file is ready.
void uring_backend::fill_watched() noexcept {
    while (!waiting_watched_.empty() && ring_.has_room()) {
        operation& op = waiting_watched_.pop_front();
        if (watched_in_kernel_ < watched_limit_)
            issue_watched(op);
        else
            send_to_threads(op, path_taken::worker);
    }
}

void uring_backend::issue_watched(operation& op) noexcept {
    if (std::exchange(op.ready, false))
        fill_transfer(op, ring_.next_entry());
    else
        fill_readiness(op, ring_.next_entry());
    ++watched_in_kernel_;
    set_stage(op, stage::in_kernel);
    in_kernel_.push_back(op);
}

void uring_backend::arm_wake() noexcept {
    if (wake_armed_ || !ring_.has_room())
        return;
    fill_wake(wake_.descriptor(), ring_.next_entry());
    wake_armed_ = true;
}

bool uring_backend::wants_turn() const noexcept {
    return (!waiting_.empty() && disk_in_kernel_ < disk_limit_) || !waiting_watched_.empty() ||
           (!to_cancel_.empty() && cancels_in_kernel_ < cancel_limit_);
}

// True when the kernel took entries. In the function that goes on after the system call, see
// ring::enter().
[[gnu::always_inline]] inline bool
uring_backend::enter_here(unsigned fewest, const __kernel_timespec* limit) noexcept {
    const unsigned before = ring_.pending();
    const unsigned flags = fewest > 0 || ring_.is_bound() ? IORING_ENTER_GETEVENTS : 0;
    const long answer = ring_.enter(fewest, flags, limit);
    if (answer >= 0) [[likely]] {
        refusals_ = 0;
        return ring_.pending() < before;
    }
    if (answer == -ETIME || answer == -EINTR)
        return wait_ended(answer, flags);
    const bool short_of_memory = answer == -EAGAIN || answer == -EBUSY || answer == -ENOMEM;
    if (!short_of_memory || ++refusals_ > most_enter_retries)
        fall_back({answer, "io_uring_enter"});
    else if (fewest > 0)
        sleep_without_ring(clock::now() + refused_pause);
    return false;
}

// By its limit or a signal, which is how a wait ends, so often as it may be. A call that does not
// wait has no such end: the system does not let us in.
bool uring_backend::wait_ended(long answer, unsigned flags) noexcept {
    if (++refusals_ <= most_enter_retries)
        return false;
    refusals_ = 0;
    const unsigned before = ring_.pending();
    if (ring_.enter(0, flags, nullptr) == answer)
        fall_back({answer, "io_uring_enter"});
    return !failed_ && ring_.pending() < before;
}

bool uring_backend::enter(unsigned fewest, const __kernel_timespec* limit) noexcept {
    return enter_here(fewest, limit);
}

// Here and not in uring_backend.cpp, so that enter_here() and its system call are part of it.
void uring_backend::wait(clock::time_point until) noexcept {
    if (!ready_ring())
        return sleep_without_ring(until);
    if (!stranded_.empty()) [[unlikely]]
        until = std::min(until, clock::now() + stranded_pause);
    fill_ring();
    flush_threads();
    arm_wake();
    __kernel_timespec limit{};
    const bool endless = until == clock::time_point::max();
    const bool idle = wake_armed_ && finished_.empty() && !wants_turn() && !ring_.has_completions();
    const bool sleeps = idle && (endless || time_left(until, limit));
    const bool asleep = sleeps && wake_.begin_sleep();
    if (asleep || ring_.pending() > 0 || ring_.must_enter())
        enter_here(asleep ? 1 : 0, endless ? nullptr : &limit);
    if (sleeps)
        wake_.end_sleep();
    batch_bytes_ = 0;
}

// Nobody has seen these entries but us.
void uring_backend::take_back_pending() noexcept {
    operation_list disk;
    operation_list watched;
    const unsigned count = ring_.pending();
    for (unsigned i = 0; i < count; ++i) {
        const std::uint64_t tag = ring_.pending_entry(i).user_data;
        switch (kind_of(tag)) {
        case entry_kind::cancel:
            --cancels_in_kernel_;
            break;
        case entry_kind::wake:
            wake_armed_ = false;
            break;
        default:
            operation& op = operation_of(tag);
            leave_kernel(op);
            if (op.cancel_requested) {
                finish_cancelled(op, finished_);
                break;
            }
            set_stage(op, stage::waiting);
            (waits_for_readiness(op) ? watched : disk).push_back(op);
        }
    }
    ring_.drop_pending();
    disk.append(waiting_);
    waiting_.append(disk);
    watched.append(waiting_watched_);
    waiting_watched_.append(watched);
}

} // namespace sluice::platform
