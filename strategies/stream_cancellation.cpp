// How calls that are in flight are asked to end: one by its token or deadline, all by the stream.
#include <sluice/strategies/file_stream_strategy.hpp>

#include <cerrno>
#include <utility>

namespace sluice::strategies {

void file_stream_strategy::cancelled(io_source& source, completion::cancel_reason) noexcept {
    auto& strategy = *static_cast<file_stream_strategy*>(source.owner);
    auto& call = source.memo<stream_call>();
    if (call.what == verb::close)
        return; // a close that has begun goes to its end
    if (!call.waits)
        return strategy.loop_.backend().cancel(source.operation);
    strategy.give_up(call);
    call.status = -ECANCELED;
    strategy.finish_call(source, call);
}

// RACE: cancel() by a third thread against the caller, who goes past the gate where he finds
// nothing_in_flight(). `started_` is written by the caller's side without a read-modify-write, so
// the request has a count of its own, `unbegun_`: from before it is posted until the loop's thread
// has carried it out.
//  - count | the caller looks: he keeps off. An asynchronous call is queued for the loop's thread,
//    synchronous ones of a buffered stream and a close() are refused, and the end of the stream,
//    before which cancel() has returned, posts a close, which deletes the strategy after the
//    request. (Of a loop that is forked abandon() does not look at the count.)
//  - the caller looks | count: he goes on beside the request. It meets empty lines and no user
//    there, which is all it looks at, and he touches neither.
//  - a call is handed over, begins | the request: ended by it.
//  - the request | a call begins: not ended. Those of the loop's own thread go behind a request
//    that is counted.
//  - this thread looks | a call is counted: to this thread it is later than the cancellation, and
//    goes on.
//  - uncount | the caller looks: he acquires what the request did, and may delete the strategy:
//    begin() touches nothing of it after the subtraction.
void file_stream_strategy::cancel() {
    if (nothing_in_flight())
        return;
    if (loop_.running_here())
        return cancel_all();
    const stream_call call{.what = verb::cancel, .cancels_others = true};
    io_source& source = rent_for(call, {});
    const value_task<void> detached(source);
    post_to_begin(source);
}

void file_stream_strategy::cancel_all() noexcept {
    for (stream_user* user = users_; user != nullptr; user = user->next)
        user->cancel(*user);
    cancel_line(read_gate_);
    cancel_line(gate_);
}

void file_stream_strategy::cancel_line(operation_gate& gate) noexcept {
    const bool outermost =
        !std::exchange(giving_turns_, true); // nobody gets a turn between two cancellations
    for (io_source *source = gate.first(), *next = nullptr; source != nullptr; source = next) {
        next = gate.after(*source);
        source->cancel(source->version(), completion::cancel_reason::requested);
    }
    if (outermost) {
        give_turns();
    }
}

} // namespace sluice::strategies
