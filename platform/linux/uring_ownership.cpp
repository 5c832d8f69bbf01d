// Which thread may enter the ring. A bound ring belongs to one thread from acquire(true) to
// release(); outside of that it never has an operation in flight, so that it can be closed and
// remade for another thread at any time.
#include <sluice/platform/linux/uring_backend.hpp>

#include <sluice/platform/linux/uring_check.hpp>
#include <sluice/platform/linux/uring_entry.hpp>
#include <sluice/platform/posix/system_calls.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace sluice::platform {

using namespace uring;

namespace {

// Thread ids are used again after a thread ended; these are not.
std::uint64_t this_thread_number() noexcept {
    static std::atomic<std::uint64_t> last{0};
    thread_local const std::uint64_t mine = last.fetch_add(1, std::memory_order_relaxed) + 1;
    return mine;
}

// The completion queue holds everything that can be in flight, so it never overflows.
unsigned wanted_completions(const backend_options& options) noexcept {
    const unsigned in_flight = std::bit_ceil(std::clamp(options.max_in_flight, 8u, most_entries));
    return std::max(2 * in_flight, 2 * wanted_entries(options.queue_depth));
}

} // namespace

bool uring_backend::ready_ring() noexcept {
    if (takes_entries_) [[likely]]
        return true;
    if (failed_ || ring_.is_open() || (waiting_.empty() && waiting_watched_.empty()))
        return false;
    open_ring();
    return takes_entries_;
}

void uring_backend::open_ring() noexcept {
    const check_outcome checked = check();
    if (checked.result < 0)
        return fall_back(checked);
    can_sync_ = checked.can_sync;
    const ring_wish wish{options_.queue_depth, wanted_completions(options_), exclusive_};
    if (const ring_outcome made = make_ring(ring_, wish); made.result < 0)
        return fall_back(made);
    ring_exclusive_ = exclusive_;
    owner_ = this_thread_number();
    takes_entries_ = true;
    set_limits();
    register_handle();
    const std::lock_guard lock(info_guard_);
    if (!failed_) {
        info_ = {backend_kind::uring, 0, {}, ring_.entries()};
        info_known_ = true;
    }
}

void uring_backend::set_limits() noexcept {
    const unsigned all = ring_.completions();
    const unsigned spare = spare_completions(all);
    disk_limit_ = std::max(1u, std::min(options_.max_in_flight, all / 2));
    cancel_limit_ = spare - 1; // the other one is the wake event's
    watched_limit_ = all - all / 2 - spare;
}

void uring_backend::close_ring() noexcept {
    take_back_pending();
    ring_.close();
    takes_entries_ = wake_armed_ = false;
    cancels_in_kernel_ = 0;
}

void uring_backend::acquire(bool exclusive) noexcept {
    exclusive_ = exclusive;
    if (failed_ || !ring_.is_open())
        return;
    const bool quiet = in_kernel_.empty() && to_cancel_.empty();
    if (!ring_.is_bound()) {
        // Any thread may go on with it; one that stays is better served by a ring of its own.
        if (exclusive && !ring_exclusive_ && quiet && rebinds_ < most_rebinds) {
            ++rebinds_;
            close_ring();
        }
        return;
    }
    if (exclusive && owner_ == this_thread_number()) {
        takes_entries_ = true;
        return;
    }
    if (quiet)
        close_ring();
    else // its thread ended without release(): nobody will ever enter this ring again
        abandon_ring();
}

void uring_backend::release() noexcept {
    exclusive_ = false;
    if (!takes_entries_ || !ring_.is_bound())
        return;
    recall_watched();
    takes_entries_ = false;
}

// What waits for a file that may never answer is taken back and waits for the next acquire(); what
// a device has to answer is waited for. Results stay in finished_.
void uring_backend::recall_watched() noexcept {
    recalling_ = true;
    takes_entries_ = false;
    take_back_pending();
    operation_list seen = std::move(in_kernel_);
    while (!seen.empty()) {
        operation& op = seen.pop_front();
        const bool recall = waits_for_readiness(op) || op.cancel_requested;
        set_stage(op, recall ? stage::to_cancel : stage::in_kernel);
        (recall ? to_cancel_ : in_kernel_).push_back(op);
    }
    while (!failed_ && (!in_kernel_.empty() || !to_cancel_.empty())) {
        fill_cancels();
        enter(1, nullptr);
        reap_ring(finished_);
    }
    recalling_ = false;
}

void uring_backend::register_handle() noexcept {
    const int handle = handle_.load(std::memory_order_relaxed);
    if (handle < 0 || !takes_entries_)
        return;
    if (const long answer = ring_.control(IORING_REGISTER_EVENTFD, &handle, 1); answer < 0)
        fall_back({answer, "io_uring_register (eventfd)"});
}

void uring_backend::forget_after_fork() noexcept {
    // Mapped and open here too, but the parent's: unmapped and closed, never entered.
    ring_.close();
    takes_entries_ = recalling_ = draining_ = wake_armed_ = exclusive_ = false;
    disk_in_kernel_ = watched_in_kernel_ = cancels_in_kernel_ = 0;
    for (operation_list* list :
         {&waiting_, &waiting_watched_, &in_kernel_, &to_cancel_, &finished_, &stranded_})
        list->clear();
    batch_bytes_ = ended_ = in_flight_ = 0;
    for (const int descriptor : {stranded_end_, handle_.exchange(-1)})
        if (descriptor >= 0)
            sys::close(descriptor);
    stranded_end_ = -1;
    wake_.renew_after_fork();
    threads_->forget_after_fork();
}

} // namespace sluice::platform
