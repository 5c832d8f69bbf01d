// The way out of the ring: each completion ends an attempt of its operation, which is finished or
// starts again.
#include <sluice/platform/linux/uring_backend.hpp>
#include <sluice/platform/linux/uring_entry.hpp>

#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace sluice::platform {

using namespace uring;

void uring_backend::reap_ring(operation_list& finished) noexcept {
    if (takes_entries_ && ring_.must_enter())
        enter(0, nullptr);
    if (!ring_.is_open())
        return;
    ring_.take_completions([&](std::uint64_t tag, int result) { take(tag, result, finished); });
}

// A completion of something that this ring was not asked for: memory is corrupt, going on would
// spread it.
[[noreturn]] static void refuse_tag(std::uint64_t tag) noexcept {
    std::fprintf(stderr, "sluice: completion with the unknown tag %llx\n",
                 static_cast<unsigned long long>(tag));
    std::abort();
}

inline operation& uring_backend::take_operation(std::uint64_t tag) noexcept {
    operation& op = operation_of(tag);
    if (checks_tags)
        if (op.tag != tag || (stage_of(op) != stage::in_kernel && stage_of(op) != stage::to_cancel))
            refuse_tag(tag);
    leave_kernel(op);
    return op;
}

inline void uring_backend::take(std::uint64_t tag, int result, operation_list& finished) noexcept {
    if (kind_of(tag) == entry_kind::transfer) [[likely]] {
        operation& op = take_operation(tag);
        if (finish_whole(op, result)) [[likely]]
            return finish(op, finished);
        return end_attempt(op, result, finished);
    }
    switch (kind_of(tag)) {
    case entry_kind::transfer:
        break; // see above
    case entry_kind::refused: {
        operation& op = take_operation(tag);
        return end_attempt(op, op.result, finished);
    }
    case entry_kind::readiness:
        if (!draining_) // else its operation went to the threads long ago
            end_readiness(take_operation(tag), result, finished);
        return;
    case entry_kind::cancel:
        return end_cancel(result);
    case entry_kind::wake:
        wake_armed_ = false;
        return wake_.drain();
    }
    if (checks_tags)
        refuse_tag(tag);
}

void uring_backend::leave_kernel(operation& op) noexcept {
    (stage_of(op) == stage::to_cancel ? to_cancel_ : in_kernel_).erase(op);
    --(waits_for_readiness(op) ? watched_in_kernel_ : disk_in_kernel_);
    set_stage(op, stage::none);
}

inline void uring_backend::finish(operation& op, operation_list& finished) noexcept {
    ++ended_;
    finished.push_back(op);
}

void uring_backend::finish_cancelled(operation& op, operation_list& finished) noexcept {
    set_stage(op, stage::none);
    advance(op, -ECANCELED, true);
    finish(op, finished);
}

// Errors of the way, not of the file. True: the operation goes on.
bool uring_backend::takes_detour(operation& op, long result) noexcept {
    if (op.code > opcode::write || op.cancel_requested)
        return false;
    // RWF_DONTCACHE is only a wish. Once for each operation: another one may have taken the flag
    // back while this was on its way with it.
    if (result == -EOPNOTSUPP && op.tries == 0) {
        ++op.tries;
        op.file->transfer_flags = 0;
        start(op);
        return true;
    }
    // Some devices seek and yet have no offsets; the blocking way knows them.
    if ((result == -ESPIPE || result == -ENXIO) && op.file->seekable && op.offset != own_position) {
        send_to_threads(op, path_taken::worker);
        return true;
    }
    return false;
}

void uring_backend::end_attempt(operation& op, long result, operation_list& finished) noexcept {
    if (result == -ECANCELED && recalling_ && !op.cancel_requested && waits_for_readiness(op)) {
        op.ready = false; // our own doing: nothing was transferred
        return start(op);
    }
    if (advance(op, result, op.cancel_requested) == next_step::finished) [[likely]] {
        if (result < 0 && takes_detour(op, result))
            return;
        return finish(op, finished);
    }
    start(op);
}

// Ready, or the poll failed: either way the transfer tells more. Unless it was cancelled: by the
// user, by release(), or by the kernel because the thread that had submitted it ended.
void uring_backend::end_readiness(operation& op, int result, operation_list& finished) noexcept {
    if (op.cancel_requested)
        return finish_cancelled(op, finished);
    const bool recalled = result == -ECANCELED && (recalling_ || ++op.tries <= most_tries);
    op.ready = !recalled;
    start(op);
}

// EALREADY: the operation was being looked at in that moment, and may have gone back to sleep
// since.
void uring_backend::end_cancel(int result) noexcept {
    --cancels_in_kernel_;
    if (result != -EALREADY)
        return;
    operation_list seen = std::move(in_kernel_);
    while (!seen.empty()) {
        operation& op = seen.pop_front();
        const bool again = (op.cancel_requested || recalling_) && waits_for_readiness(op);
        set_stage(op, again ? stage::to_cancel : stage::in_kernel);
        (again ? to_cancel_ : in_kernel_).push_back(op);
    }
}

} // namespace sluice::platform
