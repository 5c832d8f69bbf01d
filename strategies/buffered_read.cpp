// Reads of the buffered strategy.
#include <sluice/strategies/buffered_file_stream_strategy.hpp>
#include <sluice/platform/posix/whole_transfer.hpp>

#include <algorithm>

namespace sluice::strategies {

value_task<std::size_t> buffered_file_stream_strategy::read_async(std::span<std::byte> buffer,
                                                                  const std::stop_token& stop) {
    // 1. all of it is in the buffer. (A closed stream has an empty window.)
    // Idle comes first: only then is the window this thread's to look at.
    if (idle() && buffer.size() <= unread() && buffer.size() != 0 && !loop_.forked() &&
        !stop.stop_requested()) [[likely]] {
        take_unread(buffer.data(), buffer.size());
        loop_.count(operation_path::buffer, buffer.size());
        return finished_now<std::size_t>(buffer.size());
    }
    // 2. nothing is in it, and the request is as large as it.
    if (buffer.size() >= capacity_ && file_.seekable && at_rest() && unread() == 0 &&
        pending_ == 0) {
        drop_window(); // the position moves on without it: a seek back must not find it
        return unix_file_stream_strategy::read_async(buffer, stop);
    }
    // 3. what is missing, and a full buffer of what follows, are in the page cache.
    if (fills_now(buffer, stop)) [[likely]]
        return finished_now<std::size_t>(buffer.size());
    // 4. in turn, through the buffer.
    stream_call call{.what = verb::read, .data = buffer.data(), .size = buffer.size()};
    return start<std::size_t>(call, stop);
}

inline bool buffered_file_stream_strategy::fills_now(std::span<std::byte> buffer,
                                                     const std::stop_token& stop) noexcept {
    // Whether it may be finished here comes first: only then is the buffer this thread's.
    if (!may_finish_here(buffer.size() + capacity_) || !idle())
        return false;
    const std::size_t held = unread();
    if (buffer_ == nullptr || pending_ != 0 || buffer.size() <= held ||
        buffer.size() - held >= capacity_ || !file_.seekable || !can_read() || loop_.forked() ||
        stop.stop_requested())
        return false;
    std::memcpy(buffer.data(), buffer_.get() + read_at_, held);
    if (!fill_past(buffer.data() + held, buffer.size() - held)) {
        resident_.forget();
        drop_window(); // the attempt may have written over it
        return false;
    }
    return true;
}

// What is missing for the caller, and a full buffer with it or behind it. False: not all of it was
// there.
inline bool buffered_file_stream_strategy::fill_past(std::byte* data,
                                                     std::size_t missing) noexcept {
    const std::uint64_t at = position_.load(std::memory_order_relaxed);
    if (loop_.options().may_block_inline() && platform::may_read_here(file_, capacity_)) {
        const platform::tick_clock::ticks start = platform::tick_clock::now();
        if (resident_.covers(file_, at, capacity_, start)) {
            if (platform::read_here(file_, buffer_.get(), capacity_, at, start) !=
                static_cast<long>(capacity_))
                return false;
            move_on(at, capacity_);
            read_at_ = 0;
            read_end_ = capacity_;
            take_unread(data, missing);
            loop_.count(operation_path::inline_, capacity_);
            return true;
        }
    }
    // The missing go straight to the caller, and what follows into the buffer.
    if (!platform::read_whole_now(file_, {data, missing}, {buffer_.get(), capacity_}, at))
        return false;
    move_on(at, missing + capacity_);
    read_at_ = 0;
    read_end_ = capacity_;
    loop_.count(operation_path::no_wait, missing + capacity_);
    return true;
}

std::size_t buffered_file_stream_strategy::read(std::span<std::byte> buffer) {
    if (nothing_in_flight() && buffer.size() <= unread() && buffer.size() != 0 && !loop_.forked())
        [[likely]] {
        take_unread(buffer.data(), buffer.size());
        return buffer.size();
    }
    stream_call call{.what = verb::read, .data = buffer.data(), .size = buffer.size()};
    run_blocking(call);
    return call.done;
}

int buffered_file_stream_strategy::read_byte() {
    std::byte one{};
    return read({&one, 1}) == 0 ? -1 : static_cast<int>(one);
}

bool buffered_file_stream_strategy::step_read(stream_call& call, platform::request& op,
                                              const system_port& port) noexcept {
    for (;;) {
        if (call.stage == call_stage::not_asked || call.stage == call_stage::flushing) {
            switch (flush(call, op, port)) {
            case progress::waits:
                return false;
            case progress::failed:
                return true;
            case progress::go_on:
                break;
            }
            const std::size_t held = std::min(unread(), call.size - call.done);
            if (held != 0) {
                take_unread(call.data + call.done, held);
                call.done += held;
            }
            // A pipe is never asked for more after it gave something: it could make the caller wait
            // for nothing.
            if (call.done == call.size ||
                (!file_.seekable && call.done != 0 && call.done >= call.minimum))
                return true;
            const std::size_t left = call.size - call.done;
            if (!file_.seekable || left >= capacity_) {
                drop_window();
                ask(op, platform::opcode::read, call.data + call.done, left,
                    file_.seekable ? position_.load(std::memory_order_relaxed)
                                   : platform::own_position);
                call.stage = call_stage::past_buffer;
            } else {
                if (!has_buffer(call))
                    return true;
                drop_window();
                ask(op, platform::opcode::read, buffer_.get(), capacity_,
                    position_.load(std::memory_order_relaxed));
                call.stage = call_stage::filling;
            }
            if (!port.perform(op))
                return false;
        }
        if (settle_read(call, op))
            return true;
    }
}

// The system answered. True: the call is over.
bool buffered_file_stream_strategy::settle_read(stream_call& call, platform::request& op) noexcept {
    const bool filled = call.stage == call_stage::filling;
    call.stage = call_stage::not_asked;
    if (op.result < 0) {
        if (call.done == 0 || call.minimum > call.done)
            call.status = static_cast<int>(op.result);
        return true; // what came out of the buffer is reported; the next read meets the error again
    }
    const auto got = static_cast<std::size_t>(op.result);
    if (file_.seekable)
        position_.fetch_add(got, std::memory_order_relaxed);
    if (filled) {
        read_at_ = 0;
        read_end_ = got;
        const std::size_t wanted = std::min(got, call.size - call.done);
        take_unread(call.data + call.done, wanted);
        call.done += wanted;
    } else {
        call.done += got;
    }
    if (got != 0 && call.done < call.minimum)
        return false; // only another request tells the end of the file from an error
    if (call.done < call.minimum)
        call.condition = errc::end_of_stream;
    return true;
}

} // namespace sluice::strategies
