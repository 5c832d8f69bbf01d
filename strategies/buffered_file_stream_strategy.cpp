// The buffered strategy but for its reads and writes: flush, seek, position, length.
#include <sluice/strategies/buffered_file_stream_strategy.hpp>

#include <algorithm>
#include <cerrno>
#include <new>

namespace sluice::strategies {

bool buffered_file_stream_strategy::step(stream_call& call, platform::request& op,
                                         const system_port& port) noexcept {
    if (call.shares)
        return unix_file_stream_strategy::step(call, op, port); // past the buffer
    switch (call.what) {
    case verb::read:
        return step_read(call, op, port);
    case verb::write:
        return step_write(call, op, port);
    default:
        return step_flushed(call, op, port);
    }
}

// flush, sync, set_length, lock, close: what is pending goes first.
bool buffered_file_stream_strategy::step_flushed(stream_call& call, platform::request& op,
                                                 const system_port& port) noexcept {
    if (call.stage == call_stage::not_asked || call.stage == call_stage::flushing) {
        const bool needs_flush = call.what != verb::lock && call.what != verb::unlock;
        switch (needs_flush ? flush(call, op, port) : progress::go_on) {
        case progress::waits:
            return false;
        case progress::failed:
            if (call.what != verb::close)
                return true;
            call.size = pending_; // lost: the file is closed all the same
            break;
        case progress::go_on:
            break;
        }
        if (needs_flush && file_.seekable)
            drop_window();
        if (call.what == verb::flush)
            return true;
        call.stage = call_stage::not_asked;
    }
    if (!step_control(call, op, port))
        return false;
    if (call.what == verb::close)
        forget_buffer();
    else if (call.what == verb::set_length && !call.failed())
        stay_within(call.argument);
    return true;
}

buffered_file_stream_strategy::progress
buffered_file_stream_strategy::flush(stream_call& call, platform::request& op,
                                     const system_port& port) noexcept {
    if (call.stage != call_stage::flushing) {
        if (pending_ == 0)
            return progress::go_on;
        ask(op, platform::opcode::write, buffer_.get(), pending_, write_offset());
        call.stage = call_stage::flushing;
        if (!port.perform(op))
            return progress::waits;
    }
    return settle_flush(call, op);
}

// A failed flush keeps what the system did not take; it is tried again by whatever needs it next.
buffered_file_stream_strategy::progress
buffered_file_stream_strategy::settle_flush(stream_call& call,
                                            const platform::request& op) noexcept {
    call.stage = call_stage::not_asked;
    const std::size_t left = pending_ - op.done;
    if (op.done != 0 && left != 0)
        std::memmove(buffer_.get(), buffer_.get() + op.done, left);
    position_.fetch_add(op.done, std::memory_order_relaxed);
    note_append(op);
    pending_ = left;
    if (op.result >= 0)
        return progress::go_on;
    call.status = static_cast<int>(op.result);
    return progress::failed;
}

bool buffered_file_stream_strategy::has_buffer(stream_call& call) noexcept {
    if (!buffer_)
        buffer_.reset(new (std::nothrow) std::byte[capacity_]);
    if (!buffer_)
        call.status = -ENOMEM;
    return buffer_ != nullptr;
}

void buffered_file_stream_strategy::forget_buffer() noexcept {
    buffer_.reset();
    read_at_ = 0;
    read_end_ = 0;
    pending_ = 0;
}

void buffered_file_stream_strategy::drop_window() noexcept {
    take_back(unread());
    read_at_ = 0;
    read_end_ = 0;
}

std::uint64_t buffered_file_stream_strategy::write_offset() const noexcept {
    return file_.seekable && !file_.append ? position_.load(std::memory_order_relaxed)
                                           : platform::own_position;
}

std::uint64_t buffered_file_stream_strategy::position() const {
    require(can_seek(), errc::not_seekable, "position");
    if (file_.append && pending_ != 0) // they will go to the end, wherever a seek went
        return system_length() + pending_;
    return system_position() - unread() + pending_;
}

std::uint64_t buffered_file_stream_strategy::length() const {
    require(can_seek(), errc::not_seekable, "length");
    const std::uint64_t of_system = system_length();
    if (pending_ == 0)
        return of_system;
    return file_.append ? of_system + pending_ : std::max(of_system, system_position() + pending_);
}

void buffered_file_stream_strategy::seek_to(std::uint64_t target) {
    require(can_seek(), errc::not_seekable, "seek");
    require_at_rest("seek");
    require_not_below_append_start(target);
    if (pending_ != 0)
        control(verb::flush);
    const std::uint64_t window_end = position_.load(std::memory_order_relaxed);
    const std::uint64_t window_begin = window_end - read_end_;
    if (target >= window_begin && target < window_end) {
        read_at_ = static_cast<std::size_t>(target - window_begin);
        return;
    }
    read_at_ = 0;
    read_end_ = 0;
    set_position(target);
    append_moved_ = false;
}

} // namespace sluice::strategies
