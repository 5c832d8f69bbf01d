// What every strategy of a file stream has: the file, the position, the order of calls, the way of
// a call from the stream to the backend and back. A strategy says in step() what one call asks of
// the system next.
//
// Threads: one caller at a time, any thread; calls that wait belong to the thread that runs the
// loop. `started_` is written by the caller's side, `finished_` by the loop's: equal, and no
// cancellation on its way from a third thread, means that nothing is in flight, and then the
// caller's thread may touch everything. Ownership: on the heap, held by one file_stream; with calls
// in flight when that goes, the last of them deletes it.
#pragma once

#include <sluice/completion/loop.hpp>
#include <sluice/completion/value_task.hpp>
#include <sluice/platform/file_handle.hpp>
#include <sluice/strategies/operation_gate.hpp>
#include <sluice/strategies/stream_call.hpp>
#include <sluice/strategies/stream_user.hpp>
#include <sluice/strategies/system_port.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>

namespace sluice::strategies {

using completion::io_source;
using completion::shared_path;

class file_stream_strategy {
public:
    file_stream_strategy(completion::loop& loop, const platform::file_handle& file,
                         shared_path path, resume_mode mode, std::uint64_t position,
                         std::uint64_t append_floor) noexcept;
    file_stream_strategy(const file_stream_strategy&) = delete;
    file_stream_strategy& operator=(const file_stream_strategy&) = delete;

    // --- asynchronous calls ---
    virtual value_task<std::size_t> read_async(std::span<std::byte> buffer,
                                               const std::stop_token& stop) = 0;
    virtual value_task<void> write_async(std::span<const std::byte> data,
                                         const std::stop_token& stop) = 0;
    value_task<std::size_t> read_at_least_async(std::span<std::byte> buffer, std::size_t minimum,
                                                const std::stop_token& stop);
    value_task<void> read_exactly_async(std::span<std::byte> buffer, const std::stop_token& stop);
    /// flush, sync, sync_data, set_length, lock, unlock, close.
    value_task<void> control_async(verb what, std::uint64_t argument, std::uint64_t extent,
                                   const std::stop_token& stop);

    // --- synchronous calls; they throw file_error ---
    virtual std::size_t read(std::span<std::byte> buffer) = 0;
    virtual void write(std::span<const std::byte> data) = 0;
    std::size_t read_at_least(std::span<std::byte> buffer, std::size_t minimum);
    virtual int read_byte();
    void control(verb what, std::uint64_t argument = 0, std::uint64_t extent = 0);

    // --- state ---
    virtual std::uint64_t position() const = 0;
    virtual std::uint64_t length() const = 0;
    virtual void seek_to(std::uint64_t position) = 0;
    std::uint64_t seek(std::int64_t offset, seek_origin origin);
    bool is_open() const noexcept { return open_; }
    bool can_read() const noexcept { return open_ && file_.readable; }
    bool can_write() const noexcept { return open_ && file_.writable; }
    bool can_seek() const noexcept { return open_ && file_.seekable; }
    const platform::file_handle& file() const noexcept { return file_; }
    const shared_path& path() const noexcept { return path_; }
    completion::loop& loop() const noexcept { return loop_; }

    /// The descriptor, after what is buffered was written and the system's offset was set to
    /// position().
    int native_handle();
    /// Gives the descriptor away: the strategy is closed then.
    int release();
    /// Asks every call in flight to end. Any thread.
    void cancel();
    /// The stream goes away: flushes and closes; with calls in flight, cancels them and the last
    /// one closes.
    void abandon() noexcept;

    /// A user of this stream counts as a call in flight from expect_user(), which is for the
    /// caller's thread, to leave(). join() and leave() are for the thread that runs the loop.
    void expect_user() noexcept {
        started_.store(started_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    void join(stream_user& user) noexcept;
    void leave(stream_user& user) noexcept;
    bool nothing_in_flight() const noexcept {
        return started_.load(std::memory_order_relaxed) ==
                   finished_.load(std::memory_order_acquire) &&
               unbegun_.load(std::memory_order_acquire) == 0;
    }
    resume_mode mode() const noexcept { return mode_; }

protected:
    virtual ~file_stream_strategy();

    /// Goes on with a call until it is over (true) or has to wait for `op` (false).
    virtual bool step(stream_call& call, platform::request& op,
                      const system_port& port) noexcept = 0;
    /// Fixes what a call depends on at the moment it is made. give_up: the call ended before its
    /// turn. A transfer that shares may go without all three: start_transfer() fixes its position
    /// and asks for it, and operation_done() ends it when all of it came.
    virtual void prepare(stream_call&) noexcept {}
    virtual void give_up(stream_call&) noexcept {}
    /// Whether a synchronous call may run beside asynchronous ones.
    virtual bool tolerates_overlap() const noexcept = 0;
    /// Bytes in the buffer that the system does not have yet.
    virtual std::size_t pending_bytes() const noexcept { return 0; }
    virtual void forget_buffer() noexcept {}
    /// step() of the calls that are the same for all strategies: sync, set_length, lock, close.
    bool step_control(stream_call& call, platform::request& op, const system_port& port) noexcept;
    /// The file was cut to this length.
    void stay_within(std::uint64_t length) noexcept;

    operation_gate& gate_of(const stream_call& call) noexcept {
        return !file_.seekable && call.what == verb::read ? read_gate_ : gate_;
    }
    // How a call is run. start: finishes it at once or hands it to the loop.
    template <class T>
    value_task<T> start(const stream_call& made, const std::stop_token& stop) {
        if (is_for_backend(made, stop))
            return value_task<T>(start_transfer(made));
        return start_here<T>(made, stop);
    }
    // Not inline: what it needs of the stack would be made ready for the others too.
    template <class T>
    [[gnu::noinline]] value_task<T> start_here(stream_call call, const std::stop_token& stop) {
        platform::request op;
        switch (attempt(call, op, stop)) {
        case outcome::failed:
            return refuse<T>(call, code_of(call, completion::cancel_reason::none));
        case outcome::finished:
            return finished_now<T>(call.done);
        case outcome::waits:
            break;
        }
        return wait_for<T>(call, op, stop);
    }
    template <class T>
    value_task<T> wait_for(const stream_call& call, const platform::request& op,
                           const std::stop_token& stop) {
        io_source& source = rent_for(call, op);
        const std::uint32_t version = source.version();
        source.listen_to(stop);
        hand_over(source);
        return value_task<T>(source, version);
    }
    enum class outcome : std::uint8_t { finished, failed, waits };
    outcome attempt(stream_call& call, platform::request& op, const std::stop_token& stop) noexcept;
    void run_blocking(stream_call& call);
    /// Whether the fast way of a strategy may be taken: nothing that must come first is in flight.
    bool may_start(const stream_call& call) noexcept {
        return loop_.running_here() ? nothing_unbegun() && gate_of(call).open_for(call.shares)
                                    : nothing_in_flight();
    }
    /// Whether a call that is done with the buffer alone may be answered at once.
    bool at_rest() const noexcept {
        return loop_.running_here() ? nothing_unbegun() && gate_.open_for(true)
                                    : nothing_in_flight();
    }
    /// Whether no call at all is in flight. What is in the buffer belongs to a position, which a
    /// call that shares corrects when it ends short.
    bool idle() const noexcept {
        return loop_.running_here() ? nothing_unbegun() && gate_.empty() : nothing_in_flight();
    }
    /// Whether a call that copies `bytes` from or to the system may be finished at once.
    bool may_finish_here(std::size_t bytes) const noexcept {
        if (!loop_.running_here())
            return nothing_in_flight() && !loop_.shut_down();
        return loop_.inline_allowed() && nothing_unbegun() && gate_.open_for(true) &&
               bytes <= loop_.bytes_left();
    }
    /// The position after a transfer of `bytes` at `from` that was finished here. Nobody else moves
    /// it meanwhile: on the loop's thread this is one turn, elsewhere nothing is in flight.
    void move_on(std::uint64_t from, std::size_t bytes) noexcept {
        position_.store(from + bytes, std::memory_order_relaxed);
    }
    /// A transfer that can be made, and of which nothing can be finished here, because there is no
    /// budget; and nothing is to be decided any more: its turn has come, nobody cancels it.
    bool is_for_backend(const stream_call& call, const std::stop_token& stop) const noexcept {
        return loop_.running_here() && !loop_.inline_allowed() && call.shares && call.size != 0 &&
               can_transfer(call) && !loop_.shut_down() && !stop.stop_possible() &&
               nothing_unbegun() && gate_.open_for(true) && loop_.has_idle_source();
    }
    /// Why a call cannot be made; errc{} when it can.
    errc objection(const stream_call& call) const noexcept {
        return can_transfer(call) ? errc{} : find_objection(call);
    }
    /// Of a read or write; of anything else false.
    bool can_transfer(const stream_call& call) const noexcept {
        const bool allowed = call.what == verb::read    ? file_.readable
                             : call.what == verb::write ? file_.writable
                                                        : false;
        return allowed && open_ && !loop_.forked();
    }
    errc find_objection(const stream_call& call) const noexcept;
    io_source& refusal(const stream_call& call, error_code code);
    io_source& posted(std::size_t value);
    template <class T>
    value_task<T> refuse(const stream_call& call, error_code code) {
        return value_task<T>(refusal(call, code));
    }
    /// The value in the ticket; by way of the loop's queue when the budget is spent.
    template <class T>
    value_task<T> finished_now(std::size_t value) {
        if (loop_.running_here() && !loop_.spend(value)) [[unlikely]]
            return value_task<T>(posted(value));
        if constexpr (std::is_void_v<T>)
            return value_task<T>(completion::nothing{}, &loop_);
        else
            return value_task<T>(value, &loop_);
    }
    static error_code code_of(const stream_call& call, completion::cancel_reason reason) noexcept;
    [[noreturn]] void throw_error(const stream_call& call) const;
    [[noreturn]] void throw_error(errc condition, const char* operation) const;
    void require(bool condition, errc otherwise, const char* operation) const {
        if (!condition) [[unlikely]]
            throw_error(open_ ? otherwise : errc::closed, operation);
    }
    void require_at_rest(const char* operation) const;

    // The position. Advanced by the whole request when a call starts, corrected by what it did not
    // transfer.
    std::uint64_t reserve(std::size_t bytes) noexcept {
        if (loop_.running_here() || nothing_in_flight()) [[likely]] {
            const std::uint64_t at = position_.load(std::memory_order_relaxed);
            position_.store(at + bytes, std::memory_order_relaxed);
            return at;
        }
        return position_.fetch_add(bytes, std::memory_order_relaxed);
    }
    void fix_position(stream_call& call) noexcept {
        call.seeks = seeks_;
        call.argument = reserve(call.size);
    }
    /// Fills in a transfer at a position; own_position where the file keeps its own.
    void ask(platform::request& op, platform::opcode code, std::byte* data, std::size_t size,
             std::uint64_t at) noexcept {
        op = {};
        op.code = code;
        op.file = &file_;
        op.data = data;
        op.size = size;
        op.offset = at;
    }
    /// The same for what is left of a call whose position is fixed.
    void ask_at_position(stream_call& call, platform::request& op) noexcept {
        ask(op, call.what == verb::read ? platform::opcode::read : platform::opcode::write,
            call.data + call.done, call.size - call.done, call.argument + call.done);
        call.stage = call_stage::transferring;
    }
    void take_back(std::size_t bytes) noexcept {
        if (bytes != 0)
            position_.fetch_sub(bytes, std::memory_order_relaxed);
    }
    /// What a call did not transfer; nothing when the position was set since the call was made.
    void take_back(const stream_call& call) noexcept {
        if (call.done != call.size) [[unlikely]]
            correct_position(call);
    }
    void correct_position(const stream_call& call) noexcept;
    void set_position(std::uint64_t to) noexcept {
        seeks_ = static_cast<std::uint16_t>(seeks_ + 1);
        position_.store(to, std::memory_order_release);
    }

    /// Some of a write may have moved the end that an append stream is at.
    void note_append(const platform::request& op) noexcept {
        if (file_.append && op.done != 0)
            move_to_append(op);
    }
    void move_to_append(const platform::request& op) noexcept;

    completion::loop& loop_;
    platform::file_handle file_;
    std::atomic<std::uint64_t> position_;
    std::uint64_t append_floor_;                // length at open of an append stream
    platform::relaxed<std::uint16_t> seeks_{0}; // how often the position was set; by the caller
    bool open_ = true;
    /// The position is where the system's offset is: where the last append ended.
    platform::relaxed<bool> append_moved_{false};
    resume_mode mode_;
    int failed_sync_ = 0; // -errno of the first failed sync: no later one reports success

private:
    bool ask_control(stream_call& call, platform::request& op) noexcept;
    /// Its operation is what the last one left: step() fills it in.
    io_source& make_mine(io_source& source) noexcept {
        source.operation.complete = &operation_done;
        source.owner = this;
        source.on_cancel = &cancelled;
        return source;
    }
    io_source& rent_for(const stream_call& call, const platform::request& op);
    io_source& start_transfer(const stream_call& made) noexcept;
    void hand_over(io_source& source) noexcept;
    void post_to_begin(io_source& source) noexcept;
    void begin(io_source& source) noexcept;
    void run_turn(io_source& source) noexcept;
    [[gnu::noinline]] void go_on(io_source& source, stream_call& call) noexcept;
    void finish_call(io_source& source, stream_call& call) noexcept;
    void finish_failed_call(io_source& source, stream_call& call) noexcept;
    void end_call(io_source& source, const stream_call& call) noexcept;
    void end_call(io_source& source, operation_gate& gate, bool shares, bool waits) noexcept;
    bool nothing_unbegun() const noexcept { return unbegun_.load(std::memory_order_relaxed) == 0; }
    void retire_one() noexcept;
    void give_turns() noexcept;
    void cancel_all() noexcept;
    void cancel_line(operation_gate& gate) noexcept;
    bool close_may_start(io_source& source, stream_call& call) noexcept;
    void report_lost(const char* operation, error_code code, std::size_t bytes) noexcept;
    void close_now() noexcept;
    static void operation_done(platform::operation& op);
    static void begin_posted(completion::ready_node& node, bool invoke);
    static void cancelled(io_source& source, completion::cancel_reason reason) noexcept;

    operation_gate gate_;
    operation_gate read_gate_; // reads of an unseekable file wait beside its writes
    std::atomic<std::uint32_t> started_{0};
    std::atomic<std::uint32_t> finished_{0};
    // Calls and cancellations on their way to the loop's thread; by any thread. What is called on
    // that thread meanwhile goes behind them.
    std::atomic<std::uint32_t> unbegun_{0};
    bool giving_turns_ = false;
    bool orphaned_ = false;        // the stream is gone: its close deletes this
    bool doomed_ = false;          // to be deleted as soon as no turn is being given
    io_source* closing_ = nullptr; // a close that waits for the reads of an unseekable file
    stream_user* users_ = nullptr;
    shared_path path_;
};

inline io_source& file_stream_strategy::start_transfer(const stream_call& made) noexcept {
    io_source& source = make_mine(loop_.rent_idle(mode_));
    stream_call call = made;
    fix_position(call);
    ask_at_position(call, source.operation);
    source.remember(call);
    expect_user();
    loop_.admit(source);
    gate_.join(source);
    loop_.submit(source);
    return source;
}

} // namespace sluice::strategies
