// The synchronous side of every strategy: checks, control calls, seek, the end of a stream.
#include <sluice/strategies/file_stream_strategy.hpp>

#include <cerrno>
#include <limits>
#include <stdexcept>

namespace sluice::strategies {

const char* name_of(verb what) noexcept {
    static constexpr const char* names[] = {"read",       "write", "flush",  "sync",  "sync_data",
                                            "set_length", "lock",  "unlock", "close", "cancel"};
    return names[static_cast<std::size_t>(what)];
}

file_stream_strategy::file_stream_strategy(completion::loop& loop,
                                           const platform::file_handle& file, shared_path path,
                                           resume_mode mode, std::uint64_t position,
                                           std::uint64_t append_floor) noexcept
    : loop_(loop), file_(file), position_(position), append_floor_(append_floor), mode_(mode),
      path_(std::move(path)) {
    file_.inlining.set_limit(loop.options().blocking_time);
    loop_.retain();
}

file_stream_strategy::~file_stream_strategy() {
    for (stream_user* user = users_; user != nullptr; user = user->next)
        user->stream = nullptr;
    loop_.release();
}

// --- checks ---

errc file_stream_strategy::find_objection(const stream_call& call) const noexcept {
    if (loop_.forked()) [[unlikely]]
        return errc::forked;
    if (!open_ && call.what != verb::close)
        return errc::closed;
    switch (call.what) {
    case verb::read:
        return file_.readable ? errc{} : errc::not_readable;
    case verb::write:
        return file_.writable ? errc{} : errc::not_writable;
    case verb::set_length:
        if (!file_.seekable)
            return errc::not_seekable;
        if (!file_.writable)
            return errc::not_writable;
        return call.argument < append_floor_ ? errc::below_append_start : errc{};
    default:
        return errc{};
    }
}

error_code file_stream_strategy::code_of(const stream_call& call,
                                         completion::cancel_reason reason) noexcept {
    if (call.condition != errc{})
        return make_error_code(call.condition);
    return call.status == -ECANCELED ? completion::code_of(reason) : system_error_from(call.status);
}

void file_stream_strategy::throw_error(const stream_call& call) const {
    throw file_error(code_of(call, completion::cancel_reason::none), name_of(call.what), path_,
                     call.done);
}

void file_stream_strategy::throw_error(errc condition, const char* operation) const {
    throw file_error(make_error_code(condition), operation, path_);
}

void file_stream_strategy::require_at_rest(const char* operation) const {
    if (loop_.forked())
        throw_error(errc::forked, operation);
    if (!nothing_in_flight() && !tolerates_overlap())
        throw_error(errc::operation_in_progress, operation);
}

// --- the position ---

// RACE: the end of a call, on the loop's thread, against a seek by the caller. A seek counts, then
// sets: seen here before the count was looked at, the call is too old; later, the exchange fails
// and looks again.
void file_stream_strategy::correct_position(const stream_call& call) noexcept {
    std::uint64_t at = position_.load(std::memory_order_acquire);
    const std::uint64_t too_much = call.size - call.done;
    while (seeks_ == call.seeks &&
           !position_.compare_exchange_weak(at, at - too_much, std::memory_order_acquire,
                                            std::memory_order_acquire)) {
    }
}

// A ring whose write ended short and then failed leaves the system's offset where it was (seen on
// 6.18): the end of the file is the better answer then.
void file_stream_strategy::move_to_append(const platform::request& op) noexcept {
    const long end = op.result < 0 ? platform::length_of(file_) : -1;
    append_moved_ = end < 0;
    if (end >= 0)
        position_.store(static_cast<std::uint64_t>(end), std::memory_order_relaxed);
}

// --- synchronous calls ---

void file_stream_strategy::run_blocking(stream_call& call) {
    if (const errc reason = objection(call); reason != errc{})
        throw_error(reason, name_of(call.what));
    require_at_rest(name_of(call.what));
    prepare(call);
    platform::request op;
    op.file = &file_;
    const bool finished = step(call, op, system_port::blocking(loop_));
    (void)finished; // a blocking port always finishes
    if (call.failed())
        throw_error(call);
}

std::size_t file_stream_strategy::read_at_least(std::span<std::byte> buffer, std::size_t minimum) {
    if (minimum > buffer.size())
        throw std::out_of_range("read_at_least: minimum is larger than the buffer");
    stream_call call{.what = verb::read,
                     .shares = file_.seekable && tolerates_overlap(),
                     .data = buffer.data(),
                     .size = buffer.size(),
                     .minimum = minimum};
    run_blocking(call);
    return call.done;
}

int file_stream_strategy::read_byte() {
    std::byte one{};
    return read({&one, 1}) == 0 ? -1 : static_cast<int>(one);
}

void file_stream_strategy::control(verb what, std::uint64_t argument, std::uint64_t extent) {
    if (what == verb::close) {
        if (!open_)
            return;
        if (loop_.forked()) // the buffer is the parent's to write, and so are the name and the lock
            throw_error(errc::forked, "close");
        if (!nothing_in_flight())
            throw_error(errc::operation_in_progress, "close");
    }
    stream_call call{.what = what, .argument = argument, .extent = extent};
    if (what == verb::close) {
        open_ = false;
        platform::request op;
        op.file = &file_;
        step(call, op, system_port::blocking(loop_));
        if (call.failed())
            throw_error(call);
        return;
    }
    run_blocking(call);
}

std::uint64_t file_stream_strategy::seek(std::int64_t offset, seek_origin origin) {
    require(can_seek(), errc::not_seekable, "seek");
    std::uint64_t base = 0;
    if (origin == seek_origin::current)
        base = position();
    else if (origin == seek_origin::end)
        base = length();
    else if (origin != seek_origin::begin)
        throw std::invalid_argument("seek: origin is none of begin, current, end");
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const auto distance = offset < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(offset)
                                     : static_cast<std::uint64_t>(offset);
    if (offset < 0 && distance > base)
        throw_error(errc::before_begin, "seek");
    if (offset > 0 && distance > most - base)
        throw std::out_of_range("seek: the position does not fit in 63 bits");
    const std::uint64_t target = offset < 0 ? base - distance : base + distance;
    seek_to(target);
    return target;
}

// --- the descriptor ---

int file_stream_strategy::native_handle() {
    require(open_, errc::closed, "native_handle");
    require_at_rest("native_handle");
    // What is pending goes to the file, and what was read ahead is given back: whoever gets the
    // descriptor may write with it.
    control(verb::flush);
    if (file_.seekable && !file_.append) // refused by some pseudo files, which is tolerated
        platform::set_own_position_of(file_, position());
    return file_.descriptor;
}

int file_stream_strategy::release() {
    require(open_, errc::closed, "release");
    if (!nothing_in_flight())
        throw_error(errc::operation_in_progress, "release");
    const int descriptor = native_handle();
    open_ = false;
    file_.descriptor = -1;
    forget_buffer();
    return descriptor;
}

// --- the end ---

void file_stream_strategy::report_lost(const char* operation, error_code code,
                                       std::size_t bytes) noexcept {
    loop_.lost({operation, path_.get(), code, bytes});
}

void file_stream_strategy::close_now() noexcept {
    if (!open_ && !file_.is_open())
        return;
    open_ = false;
    stream_call call{.what = verb::close};
    platform::request op;
    op.file = &file_;
    if (loop_.forked()) { // the buffer is the parent's to write, and so are the name and the lock
        forget_buffer();
        file_.removes = file_.unlocks = false;
    }
    step(call, op, system_port::blocking(loop_));
    if (call.failed())
        report_lost("close", code_of(call, completion::cancel_reason::none), call.size);
}

void file_stream_strategy::abandon() noexcept {
    // A loop that is shut down has nothing in flight but what is still posted to it; the frame of a
    // copy may be there all the same.
    if (nothing_in_flight() || loop_.forked() || (loop_.shut_down() && nothing_unbegun())) {
        close_now();
        delete this;
        return;
    }
    open_ = false;
    const stream_call call{.what = verb::close, .cancels_others = true};
    io_source& source = rent_for(call, {});
    const value_task<void> detached(source);
    hand_over(source);
}

} // namespace sluice::strategies
