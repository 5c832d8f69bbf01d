// The asynchronous side of every strategy: the way of a call from the stream through its turn to
// the backend, and back.
#include <sluice/strategies/file_stream_strategy.hpp>

#include <cerrno>
#include <utility>

namespace sluice::strategies {

value_task<std::size_t> file_stream_strategy::read_at_least_async(std::span<std::byte> buffer,
                                                                  std::size_t minimum,
                                                                  const std::stop_token& stop) {
    stream_call call{.what = verb::read,
                     .shares = file_.seekable && tolerates_overlap(),
                     .data = buffer.data(),
                     .size = buffer.size(),
                     .minimum = minimum};
    return start<std::size_t>(call, stop);
}

value_task<void> file_stream_strategy::read_exactly_async(std::span<std::byte> buffer,
                                                          const std::stop_token& stop) {
    stream_call call{.what = verb::read,
                     .shares = file_.seekable && tolerates_overlap(),
                     .data = buffer.data(),
                     .size = buffer.size(),
                     .minimum = buffer.size()};
    return start<void>(call, stop);
}

value_task<void> file_stream_strategy::control_async(verb what, std::uint64_t argument,
                                                     std::uint64_t extent,
                                                     const std::stop_token& stop) {
    stream_call call{.what = what, .argument = argument, .extent = extent};
    if (what != verb::close || stop.stop_requested() || loop_.forked())
        return start<void>(call, stop);
    if (!std::exchange(open_, false))
        return finished_now<void>(0); // closed before: nothing to do, nothing to report again
    return start<void>(call, {});     // a close that has begun goes to its end
}

file_stream_strategy::outcome file_stream_strategy::attempt(stream_call& call,
                                                            platform::request& op,
                                                            const std::stop_token& stop) noexcept {
    if (stop.stop_requested()) {
        call.status = -ECANCELED;
        return outcome::failed;
    }
    call.condition = objection(call);
    if (call.condition != errc{})
        return outcome::failed;
    prepare(call);
    op.file = &file_;
    if (loop_.shut_down()) { // nobody would ever finish it; but a stream can always be closed
        if (call.what != verb::close) {
            give_up(call);
            call.condition = errc::closed;
            return outcome::failed;
        }
        step(call, op, system_port::blocking(loop_));
        return call.failed() ? outcome::failed : outcome::finished;
    }
    if (!may_start(call) || !step(call, op, system_port::attempting(loop_)))
        return outcome::waits;
    return call.failed() ? outcome::failed : outcome::finished;
}

// --- sources ---

io_source& file_stream_strategy::refusal(const stream_call& call, error_code code) {
    io_source& source = loop_.rent(mode_);
    source.fail({.code = code,
                 .operation = name_of(call.what),
                 .path = path_,
                 .transferred = call.done,
                 .exception = {}});
    source.complete_sole();
    return source;
}

io_source& file_stream_strategy::posted(std::size_t value) {
    io_source& source = loop_.rent(mode_);
    source.word = value;
    loop_.counters.posted_by_budget.add(1);
    loop_.admit(source);
    loop_.post_completion(source);
    return source;
}

io_source& file_stream_strategy::rent_for(const stream_call& call, const platform::request& op) {
    io_source& source = make_mine(loop_.rent(mode_));
    source.remember(call);
    static_cast<platform::request&>(source.operation) = op;
    source.operation.file = &file_;
    return source;
}

void file_stream_strategy::hand_over(io_source& source) noexcept {
    expect_user();
    if (loop_.running_here() && nothing_unbegun()) [[likely]]
        return begin(source);
    post_to_begin(source);
}

void file_stream_strategy::post_to_begin(io_source& source) noexcept {
    source.run = &begin_posted;
    unbegun_.fetch_add(1, std::memory_order_relaxed);
    loop_.post_behind(source);
}

void file_stream_strategy::begin_posted(completion::ready_node& node, bool invoke) {
    io_source& source = io_source::of(node);
    source.run_as_continuation();
    if (!invoke)
        source.reason =
            completion::cancel_reason::requested; // the loop ends: nothing is started any more
    auto& strategy = *static_cast<file_stream_strategy*>(source.owner);
    if (source.memo<stream_call>().what != verb::cancel) // that counts until it was carried out
        strategy.unbegun_.fetch_sub(1, std::memory_order_relaxed);
    strategy.begin(source);
}

// A call is over. Looked at before it is counted: from then on another thread may find nothing in
// flight, and delete this. An orphan has nobody else, and the last one deletes it; the frame of a
// copy on a loop that has ended may stay for ever.
inline void file_stream_strategy::retire_one() noexcept {
    const bool last =
        doomed_ && !giving_turns_ && nothing_unbegun() &&
        (loop_.shut_down() ||
         started_.load(std::memory_order_relaxed) - finished_.load(std::memory_order_relaxed) == 1);
    finished_.store(finished_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    if (last) [[unlikely]]
        delete this;
}

// --- users ---

void file_stream_strategy::join(stream_user& user) noexcept {
    user.previous = nullptr;
    user.next = users_;
    if (users_ != nullptr)
        users_->previous = &user;
    users_ = &user;
}

void file_stream_strategy::leave(stream_user& user) noexcept {
    (user.previous != nullptr ? user.previous->next : users_) = user.next;
    if (user.next != nullptr)
        user.next->previous = user.previous;
    retire_one();
}

// --- turns ---

void file_stream_strategy::begin(io_source& source) noexcept {
    loop_.admit(source);
    auto& call = source.memo<stream_call>();
    if (call.cancels_others) {
        orphaned_ = call.what == verb::close;
        cancel_all();
    }
    if (call.what == verb::cancel) {
        unbegun_.fetch_sub(1, std::memory_order_release);
        return source.finish(0);
    }
    if (gate_of(call).enter(source, call.shares))
        run_turn(source);
    else
        call.waits = true;
}

void file_stream_strategy::run_turn(io_source& source) noexcept {
    auto& call = source.memo<stream_call>();
    platform::operation& op = source.operation;
    const bool attempted = call.stage != call_stage::not_asked;
    if (source.reason != completion::cancel_reason::none && call.what != verb::close) {
        if (attempted) { // a part may have been read
            op.result = op.code == platform::opcode::read && op.done != 0
                            ? static_cast<long>(op.done)
                            : -ECANCELED;
            if (step(call, op, system_port::deferred(loop_)))
                return finish_call(source, call);
        }
        give_up(call);
        call.status = -ECANCELED;
        return finish_call(source, call);
    }
    if (!close_may_start(source, call))
        return;
    if (attempted)
        return loop_.submit(source);
    // Of a loop that has ended only a close is left, and nobody would reap it.
    const auto port =
        loop_.shut_down() ? system_port::blocking(loop_) : system_port::attempting(loop_);
    if (step(call, op, port))
        return finish_call(source, call);
    loop_.submit(source);
}

// The last that the strategy does for a call: it may be gone afterwards.
inline void file_stream_strategy::end_call(io_source& source, operation_gate& gate, bool shares,
                                           bool waits) noexcept {
    gate.leave(source, shares, waits);
    const bool others = gate_.has_waiting() || read_gate_.has_waiting() || closing_ != nullptr;
    if (others && !giving_turns_) [[unlikely]]
        give_turns();
    retire_one();
}

void file_stream_strategy::operation_done(platform::operation& op) {
    io_source& source = io_source::of(op);
    auto& strategy = *static_cast<file_stream_strategy*>(source.owner);
    auto& call = source.memo<stream_call>();
    static constexpr operation_path paths[] = {operation_path::worker, operation_path::ring,
                                               operation_path::worker, operation_path::fallback};
    strategy.loop_.counters.finished(paths[static_cast<std::size_t>(op.path)], op.done, true);
    if (call.shares && op.result == static_cast<long>(call.size)) [[likely]] {
        // All of it came, to its own position: step() would say the same.
        const std::size_t size = call.size;
        strategy.end_call(source, strategy.gate_, true, false);
        return source.finish(size);
    }
    strategy.go_on(source, call);
}

void file_stream_strategy::go_on(io_source& source, stream_call& call) noexcept {
    platform::operation& op = source.operation;
    const auto port = source.reason == completion::cancel_reason::none
                          ? system_port::attempting(loop_)
                          : system_port::deferred(loop_);
    if (step(call, op, port))
        return finish_call(source, call);
    if (source.reason != completion::cancel_reason::none && call.what != verb::close) {
        op.result = -ECANCELED; // the next part is not even started
        if (!step(call, op, port))
            call.status = -ECANCELED;
        return finish_call(source, call);
    }
    loop_.submit(source);
}

void file_stream_strategy::finish_call(io_source& source, stream_call& call) noexcept {
    if (call.failed()) [[unlikely]]
        return finish_failed_call(source, call);
    const std::size_t done = call.done;
    end_call(source, call);
    source.finish(done);
}

void file_stream_strategy::end_call(io_source& source, const stream_call& call) noexcept {
    if (orphaned_ && call.what == verb::close)
        doomed_ = true;
    end_call(source, gate_of(call), call.shares, call.waits);
}

void file_stream_strategy::finish_failed_call(io_source& source, stream_call& call) noexcept {
    completion::failure why{.code = code_of(call, source.reason),
                            .operation = name_of(call.what),
                            .path = path_,
                            .transferred = call.done,
                            .exception = {}};
    if (call.status == -ECANCELED)
        loop_.counters.cancelled.add(1);
    else if (source.was_detached())
        report_lost(why.operation, why.code, call.lost());
    if (source.reason == completion::cancel_reason::forked)
        gate_of(call).forked();
    end_call(source, call);
    source.finish_failed(std::move(why));
}

void file_stream_strategy::give_turns() noexcept {
    giving_turns_ = true;
    const auto waits = [](io_source& s) { return s.memo<stream_call>().waits; };
    const auto shares = [](io_source& s) { return s.memo<stream_call>().shares; };
    for (operation_gate* gate : {&read_gate_, &gate_}) {
        while (io_source* next = gate->next_turn(waits, shares)) {
            next->memo<stream_call>().waits = false;
            run_turn(*next);
        }
    }
    if (closing_ != nullptr && read_gate_.empty())
        run_turn(*std::exchange(closing_, nullptr));
    giving_turns_ = false;
}

// Reads of an unseekable file may never be answered: a close ends them, and goes on when the last
// is over.
bool file_stream_strategy::close_may_start(io_source& source, stream_call& call) noexcept {
    if (call.what != verb::close || read_gate_.empty())
        return true;
    closing_ = &source;
    cancel_line(read_gate_);
    return false;
}

} // namespace sluice::strategies
