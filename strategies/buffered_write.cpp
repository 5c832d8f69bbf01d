// Writes of the buffered strategy. A write that fails has put none of its bytes into the buffer:
// calling it again, for what it did not transfer, never duplicates.
#include <sluice/strategies/buffered_file_stream_strategy.hpp>
#include <sluice/platform/posix/whole_transfer.hpp>

#include <algorithm>

namespace sluice::strategies {

value_task<void> buffered_file_stream_strategy::write_async(std::span<const std::byte> data,
                                                            const std::stop_token& stop) {
    // 1. it fits behind what is pending. (A closed stream has no pending bytes.)
    // Idle comes first: only then does no call on the loop's thread change what is pending.
    if (idle() && pending_ != 0 && data.size() <= capacity_ - pending_ && file_.seekable &&
        !loop_.forked() && !stop.stop_requested()) [[likely]] {
        hold(data.data(), data.size());
        loop_.count(operation_path::buffer, data.size());
        return finished_now<void>(data.size());
    }
    // 2. nothing is pending, and the request is as large as the buffer.
    if (data.size() >= capacity_ && file_.seekable && !file_.append && at_rest() && pending_ == 0) {
        drop_window();
        return unix_file_stream_strategy::write_async(data, stop);
    }
    // 3. the full buffer goes to a file that has been fast.
    if (drains_now(data, stop)) [[likely]]
        return drain(data, stop);
    // 4. in turn, through the buffer.
    stream_call call{
        .what = verb::write, .data = const_cast<std::byte*>(data.data()), .size = data.size()};
    return start<void>(call, stop);
}

// Whether the full buffer may be written within this call.
inline bool buffered_file_stream_strategy::drains_now(std::span<const std::byte> data,
                                                      const std::stop_token& stop) const noexcept {
    // Whether it may be finished here comes first: only then is the buffer this thread's.
    if (!may_finish_here(capacity_) || !idle())
        return false;
    const std::size_t room = capacity_ - pending_;
    return pending_ != 0 && data.size() > room && data.size() - room < capacity_ &&
           file_.seekable && !file_.append && can_write() && loop_.options().may_block_inline() &&
           platform::may_write_here(file_, capacity_) && !loop_.forked() && !stop.stop_requested();
}

// The same as step_write does with a write that does not fit: the buffer is filled up and written
// whole; step_write goes on from an answer that is not the common one.
value_task<void> buffered_file_stream_strategy::drain(std::span<const std::byte> data,
                                                      const std::stop_token& stop) {
    const std::size_t room = capacity_ - pending_;
    hold(data.data(), room);
    const std::uint64_t at = position_.load(std::memory_order_relaxed);
    const long raw = platform::write_here(file_, buffer_.get(), capacity_, at);
    if (raw == static_cast<long>(capacity_)) [[likely]] {
        move_on(at, capacity_);
        pending_ = 0;
        hold(data.data() + room, data.size() - room);
        loop_.count(operation_path::inline_, capacity_);
        return finished_now<void>(data.size());
    }
    stream_call call = write_call(data);
    call.shares = false;
    call.extent = room;
    call.stage = call_stage::topped_up;
    platform::request op;
    ask(op, platform::opcode::write, buffer_.get(), capacity_, at);
    return go_on_from(raw, call, op, stop);
}

void buffered_file_stream_strategy::write(std::span<const std::byte> data) {
    if (nothing_in_flight() && pending_ != 0 && data.size() <= capacity_ - pending_ &&
        !loop_.forked()) [[likely]]
        return hold(data.data(), data.size());
    stream_call call{
        .what = verb::write, .data = const_cast<std::byte*>(data.data()), .size = data.size()};
    run_blocking(call);
}

bool buffered_file_stream_strategy::step_write(stream_call& call, platform::request& op,
                                               const system_port& port) noexcept {
    if (file_.seekable)
        drop_window();
    // What is written asynchronously to a pipe is not held back, and goes after what was.
    const bool holds = file_.seekable || port.is_blocking();
    for (;;) {
        if (call.stage == call_stage::topped_up || call.stage == call_stage::flushing) {
            const std::size_t own = static_cast<std::size_t>(call.extent);
            const std::size_t before = pending_ - own; // bytes of earlier writes
            const progress flushed = settle_flush(call, op);
            call.extent = 0;
            if (op.done > before)
                call.done += op.done - before;
            if (flushed == progress::failed) {
                pending_ = op.done < before ? before - op.done : 0; // ours leave the buffer again
                return true;
            }
        } else if (call.stage == call_stage::past_buffer) {
            call.stage = call_stage::not_asked;
            call.done += op.done;
            position_.fetch_add(op.done, std::memory_order_relaxed);
            note_append(op);
            if (op.result < 0)
                call.status = static_cast<int>(op.result);
            return true;
        }

        const std::size_t left = call.size - call.done;
        if (left == 0)
            return true;
        if (holds && left <= capacity_ - pending_ && (pending_ != 0 || left < capacity_)) {
            if (has_buffer(call)) {
                hold(call.data + call.done, left);
                call.done = call.size;
            }
            return true;
        }
        if (pending_ != 0) {
            const std::size_t room = holds ? std::min(capacity_ - pending_, left) : 0;
            hold(call.data + call.done, room);
            call.extent = room;
            ask(op, platform::opcode::write, buffer_.get(), pending_, write_offset());
            call.stage = call_stage::topped_up;
        } else {
            ask(op, platform::opcode::write, call.data + call.done, left, write_offset());
            call.stage = call_stage::past_buffer;
        }
        if (!port.perform(op))
            return false;
    }
}

} // namespace sluice::strategies
