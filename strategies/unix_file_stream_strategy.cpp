#include <sluice/strategies/unix_file_stream_strategy.hpp>

#include <sluice/platform/posix/whole_transfer.hpp>
#include <sluice/platform/transfer.hpp>

#include <algorithm>

namespace sluice::strategies {

// --- the fast way: finished within this call ---

// Every call between the system call and the caller counts here, see raw_system_call.hpp.
value_task<std::size_t> unix_file_stream_strategy::read_async(std::span<std::byte> buffer,
                                                              const std::stop_token& stop) {
    const std::size_t size = buffer.size();
    if (may_finish_here(size) && can_read() && file_.seekable && size != 0 && !loop_.forked() &&
        !stop.stop_requested()) [[likely]] {
        const std::uint64_t at = position_.load(std::memory_order_relaxed);
        if (platform::read_whole_now(file_, buffer.data(), size, at)) [[likely]] {
            move_on(at, size);
            loop_.count(operation_path::no_wait, size);
            return finished_now<std::size_t>(size);
        }
    }
    stream_call call = read_call(buffer);
    return start<std::size_t>(call, stop);
}

value_task<void> unix_file_stream_strategy::write_async(std::span<const std::byte> data,
                                                        const std::stop_token& stop) {
    const std::size_t size = data.size();
    if (may_finish_here(size) && can_write() && file_.seekable && !file_.append && size != 0 &&
        loop_.options().may_block_inline() && platform::may_write_here(file_, size) &&
        !loop_.forked() && !stop.stop_requested()) [[likely]] {
        const std::uint64_t at = position_.load(std::memory_order_relaxed);
        const long raw = platform::write_here(file_, data.data(), size, at);
        if (raw == static_cast<long>(size)) [[likely]] {
            move_on(at, size);
            loop_.count(operation_path::inline_, size);
            return finished_now<void>(size);
        }
        stream_call begun = write_call(data);
        platform::request op;
        fix_position(begun);
        ask_at_position(begun, op);
        return go_on_from(raw, begun, op, stop);
    }
    stream_call call = write_call(data);
    return start<void>(call, stop);
}

// A write whose first attempt was made already, and did not take all of it.
value_task<void> unix_file_stream_strategy::go_on_from(long raw, stream_call& call,
                                                       platform::request& op,
                                                       const std::stop_token& stop) {
    if (platform::advance(op, raw, false) == platform::next_step::again ||
        !step(call, op, system_port::attempting(loop_)))
        return wait_for<void>(call, op, stop);
    if (call.failed())
        return refuse<void>(call, code_of(call, completion::cancel_reason::none));
    return finished_now<void>(call.done);
}

std::size_t unix_file_stream_strategy::read(std::span<std::byte> buffer) {
    stream_call call = read_call(buffer);
    run_blocking(call);
    return call.done;
}

void unix_file_stream_strategy::write(std::span<const std::byte> data) {
    stream_call call = write_call(data);
    run_blocking(call);
}

// --- one call ---

void unix_file_stream_strategy::prepare(stream_call& call) noexcept {
    if (call.shares) {
        fix_position(call);
    } else if (call.what == verb::set_length && !file_.append) {
        // Later calls go from the new end on, so it is here and now that the position follows.
        call.extent = position_.load(std::memory_order_relaxed);
        if (call.extent > call.argument)
            set_position(call.argument);
    }
}

void unix_file_stream_strategy::give_up(stream_call& call) noexcept {
    if (call.shares)
        take_back(call);
    else if (call.what == verb::set_length && !file_.append)
        take_back_cut(call);
}

// The length stays: so does the position, unless it was used meanwhile.
void unix_file_stream_strategy::take_back_cut(const stream_call& call) noexcept {
    std::uint64_t cut = call.argument;
    if (call.extent > cut)
        position_.compare_exchange_strong(cut, call.extent, std::memory_order_relaxed);
}

bool unix_file_stream_strategy::step(stream_call& call, platform::request& op,
                                     const system_port& port) noexcept {
    switch (call.what) {
    case verb::read:
        return step_read(call, op, port);
    case verb::write:
        return step_write(call, op, port);
    case verb::flush:
        return true; // nothing is held back
    case verb::set_length:
        if (!step_control(call, op, port))
            return false;
        if (!call.failed() && file_.append)
            stay_within(call.argument);
        else if (call.failed())
            give_up(call);
        return true;
    default:
        return step_control(call, op, port);
    }
}

void unix_file_stream_strategy::ask_transfer(stream_call& call, platform::request& op) noexcept {
    ask_at_position(call, op);
    if (!call.shares)
        op.offset = platform::own_position;
}

bool unix_file_stream_strategy::step_read(stream_call& call, platform::request& op,
                                          const system_port& port) noexcept {
    for (;;) {
        if (call.stage == call_stage::not_asked) {
            if (call.done == call.size)
                break;
            ask_transfer(call, op);
            if (!port.perform(op))
                return false;
        }
        call.stage = call_stage::not_asked;
        if (op.result < 0)
            call.status = static_cast<int>(op.result);
        else
            call.done += static_cast<std::size_t>(op.result);
        // Short of the minimum: only another request tells the end of the file from an error.
        if (op.result <= 0 || call.done >= call.minimum)
            break;
    }
    if (!call.failed() && call.done < call.minimum)
        call.condition = errc::end_of_stream;
    if (call.shares)
        take_back(call);
    return true;
}

bool unix_file_stream_strategy::step_write(stream_call& call, platform::request& op,
                                           const system_port& port) noexcept {
    if (call.stage == call_stage::not_asked) {
        if (call.size == 0)
            return true;
        ask_transfer(call, op);
        if (!port.perform(op))
            return false;
    }
    call.done = op.done;
    note_append(op);
    if (op.result < 0)
        call.status = static_cast<int>(op.result);
    if (call.shares)
        take_back(call);
    return true;
}

// --- position ---

std::uint64_t unix_file_stream_strategy::system_position() const {
    if (!append_moved_)
        return position_.load(std::memory_order_relaxed);
    // Where the last append ended only the system knows; asked for here and nowhere else.
    const long at = platform::own_position_of(file_);
    if (at < 0)
        throw file_error(system_error_from(at), "position", path());
    return static_cast<std::uint64_t>(at);
}

std::uint64_t unix_file_stream_strategy::system_length() const {
    const long length = platform::length_of(file_);
    if (length < 0)
        throw file_error(system_error_from(length), "length", path());
    return static_cast<std::uint64_t>(length);
}

std::uint64_t unix_file_stream_strategy::position() const {
    require(can_seek(), errc::not_seekable, "position");
    return system_position();
}

std::uint64_t unix_file_stream_strategy::length() const {
    require(can_seek(), errc::not_seekable, "length");
    return system_length();
}

void unix_file_stream_strategy::require_not_below_append_start(std::uint64_t position) const {
    if (position < append_floor_)
        throw file_error(make_error_code(errc::below_append_start), "seek", path());
}

void unix_file_stream_strategy::seek_to(std::uint64_t position) {
    require(can_seek(), errc::not_seekable, "seek");
    require_not_below_append_start(position);
    set_position(position);
    append_moved_ = false;
}

} // namespace sluice::strategies
