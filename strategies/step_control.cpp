// The calls that are the same for every strategy: to the disk, length, range locks, close.
#include <sluice/strategies/file_stream_strategy.hpp>

#include <cerrno>

namespace sluice::strategies {

namespace {


void call_set_length(platform::request& op) noexcept {
    op.result = platform::set_length_of(*op.file, op.offset);
}
void call_lock(platform::request& op) noexcept {
    op.result = platform::lock_range(*op.file, op.offset, op.size);
}
void call_unlock(platform::request& op) noexcept {
    op.result = platform::unlock_range(*op.file, op.offset, op.size);
}
void call_close(platform::request& op) noexcept {
    op.result = platform::close_file(*op.file, reinterpret_cast<const char*>(op.data));
}

} // namespace

bool file_stream_strategy::ask_control(stream_call& call, platform::request& op) noexcept {
    op = {};
    op.file = &file_;
    op.code = platform::opcode::call;
    op.offset = call.argument;
    op.size = static_cast<std::size_t>(call.extent);
    switch (call.what) {
    case verb::sync:
    case verb::sync_data:
        op.code = call.what == verb::sync ? platform::opcode::sync : platform::opcode::sync_data;
        call.status = failed_sync_;
        return file_.writable && failed_sync_ == 0;
    case verb::set_length:
        op.call = &call_set_length;
        return true;
    case verb::lock:
        op.call = &call_lock;
        return true;
    case verb::unlock:
        op.call = &call_unlock;
        return true;
    case verb::close:
        op.call = &call_close;
        op.data = path_ ? reinterpret_cast<std::byte*>(const_cast<char*>(path_->c_str())) : nullptr;
        return file_.is_open();
    default:
        return false;
    }
}

// The file ends here now: so does the position, at the latest.
void file_stream_strategy::stay_within(std::uint64_t length) noexcept {
    if (append_moved_) {
        const long at = platform::own_position_of(file_);
        position_.store(at < 0 ? length : static_cast<std::uint64_t>(at),
                        std::memory_order_relaxed);
        append_moved_ = false;
    }
    if (position_.load(std::memory_order_relaxed) > length)
        position_.store(length, std::memory_order_relaxed);
}

bool file_stream_strategy::step_control(stream_call& call, platform::request& op,
                                        const system_port& port) noexcept {
    if (call.stage != call_stage::answering) {
        if (!ask_control(call, op))
            return true;
        call.stage = call_stage::answering;
        if (call.what == verb::close && platform::closes_fast(file_))
            call_close(op);
        else if (!port.perform(op))
            return false;
    }
    const long result = op.result;
    switch (call.what) {
    case verb::sync:
    case verb::sync_data:
        if (result < 0 && result != -ECANCELED)
            failed_sync_ = static_cast<int>(result);
        if (result < 0)
            call.status = static_cast<int>(result);
        return true;
    case verb::close:
        if (call.status != 0)
            return true; // the flush before it failed: that is the error to report
        break;
    default:
        break;
    }
    if (result < 0)
        call.status = static_cast<int>(result);
    return true;
}

} // namespace sluice::strategies
