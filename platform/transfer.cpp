#include <sluice/platform/transfer.hpp>

#include <sluice/platform/file_handle.hpp>

#include <algorithm>
#include <cerrno>

namespace sluice::platform {

namespace {

next_step finish(request& r, long result) noexcept {
    r.result = result;
    return next_step::finished;
}

// After progress a read was a success, only shorter; a write was not, and `done` tells how far it
// came.
next_step fail(request& r, long error) noexcept {
    return finish(r, r.code == opcode::read && r.done > 0 ? static_cast<long>(r.done) : error);
}

next_step try_again(request& r, long error) noexcept {
    return ++r.tries >= most_tries ? fail(r, error) : next_step::again;
}

next_step after_progress(request& r, std::size_t count) noexcept {
    r.done += count;
    r.tries = 0;
    const bool enough = r.code == opcode::read && !r.file->regular;
    return r.done >= r.size || enough ? finish(r, static_cast<long>(r.done)) : next_step::again;
}

next_step after_nothing(request& r) noexcept {
    if (r.code == opcode::read || r.size == 0)
        return finish(r, static_cast<long>(r.done));
    return try_again(r, -EIO);
}

next_step after_error(request& r, long error, bool cancel_requested) noexcept {
    switch (-error) {
    case EINTR:
        return next_step::again;
    case EAGAIN:
        if (!r.file->seekable) {
            r.ready = false;
            return next_step::again;
        }
        r.must_block = true;
        return try_again(r, error);
    case ECANCELED:
        // Whether an append that was cancelled unasked has written is unknown: never write it
        // twice.
        if (cancel_requested || r.offset == own_position)
            return fail(r, error);
        return try_again(r, error);
    default:
        return fail(r, error);
    }
}

next_step advance_transfer(request& r, long raw_result, bool cancel_requested) noexcept {
    if (raw_result > 0)
        return after_progress(r, static_cast<std::size_t>(raw_result));
    return raw_result == 0 ? after_nothing(r) : after_error(r, raw_result, cancel_requested);
}

// Files that cannot be synchronised (pipes, devices, a read-only file system) have nothing to lose.
next_step advance_sync(request& r, long raw_result, bool cancel_requested) noexcept {
    switch (-raw_result) {
    case EROFS:
    case EINVAL:
    case EOPNOTSUPP:
        return finish(r, 0);
    case EINTR:
        return next_step::again;
    case EAGAIN:
        r.must_block = true;
        return try_again(r, raw_result);
    case ECANCELED:
        return cancel_requested ? finish(r, raw_result) : try_again(r, raw_result);
    default:
        return finish(r, raw_result);
    }
}

} // namespace

next_step advance_by(request& r, long raw_result, bool cancel_requested) noexcept {
    const bool transfers = r.code == opcode::read || r.code == opcode::write;
    const next_step step = transfers ? advance_transfer(r, raw_result, cancel_requested)
                                     : advance_sync(r, raw_result, cancel_requested);
    // Who asked for the end does not want the rest issued. Interrupted is how a cancelled io-wq
    // call ends.
    if (step == next_step::again && cancel_requested)
        return fail(r, -ECANCELED);
    return step;
}

} // namespace sluice::platform
