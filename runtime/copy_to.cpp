// Copies one stream into another. The asynchronous way is a coroutine on the source's executor that
// reads ahead while a write has to wait; its ticket is an I/O source like that of any other call.
#include <sluice/runtime/file_stream.hpp>

#include <sluice/completion/rent_for_callback.hpp>
#include <sluice/runtime/io_runtime.hpp>
#include <sluice/runtime/root.hpp>
#include <sluice/strategies/file_stream_strategy.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>

namespace sluice {

namespace {

using completion::failure;
using completion::io_source;
using completion::shared_path;
using strategies::file_stream_strategy;
using strategies::stream_user;

// What one call may still copy without a detour over a worker, and what fits beside the other data
// in a second-level cache.
constexpr std::size_t usual_piece = 128 * 1024;
// For files whose length says nothing, as in /proc, and for what is added while copying.
constexpr std::size_t least_piece = 4096;
constexpr std::size_t memory_alignment = 4096; // direct I/O asks for no more

std::size_t round_up(std::size_t size) noexcept {
    return (size + memory_alignment - 1) / memory_alignment * memory_alignment;
}

std::size_t piece_size(const file_stream_strategy& source, const file_stream_strategy& destination,
                       std::size_t asked) {
    std::size_t size = asked != 0 ? asked : usual_piece;
    if (source.can_seek()) {
        const std::uint64_t length = source.length();
        const std::uint64_t position = source.position();
        const std::uint64_t left = length > position ? length - position : 0;
        size = static_cast<std::size_t>(
            std::min<std::uint64_t>(size, std::max<std::uint64_t>(left, least_piece)));
    }
    return source.file().is_direct || destination.file().is_direct ? round_up(size) : size;
}

struct freer {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
};
using piece_memory = std::unique_ptr<std::byte[], freer>;

piece_memory allocate_piece(std::size_t size) {
    piece_memory memory(
        static_cast<std::byte*>(std::aligned_alloc(memory_alignment, round_up(size))));
    if (!memory)
        throw std::bad_alloc();
    return memory;
}

shared_path path_of(const file_stream_strategy* stream) {
    return stream != nullptr ? stream->path() : nullptr;
}

// Why there can be no copy; no code: nothing is in the way.
failure objection(const file_stream_strategy* source, const file_stream_strategy* destination) {
    const auto because = [](errc code, const file_stream_strategy* stream) {
        return failure{.code = make_error_code(code),
                       .operation = "copy",
                       .path = path_of(stream),
                       .transferred = 0,
                       .exception = {}};
    };
    for (const file_stream_strategy* stream : {source, destination}) {
        if (stream == nullptr || !stream->is_open())
            return because(errc::closed, stream);
        if (stream->loop().forked())
            return because(errc::forked, stream);
    }
    if (source == destination)
        throw std::invalid_argument("copy_to: a stream cannot be copied to itself");
    if (!source->can_read())
        return because(errc::not_readable, source);
    if (!destination->can_write())
        return because(errc::not_writable, destination);
    return {};
}

// Puts the source back to the first byte that the destination did not get. False: it cannot seek.
bool give_back(file_stream_strategy& source, std::uint64_t bytes) noexcept {
    if (bytes == 0)
        return true;
    if (!source.can_seek())
        return false;
    try {
        source.seek_to(source.position() - bytes);
    } catch (const std::exception&) {
        // Other calls are in flight and have moved it on; they say where it is now.
    }
    return true;
}

// --- the asynchronous copy ---

class copying {
public:
    copying(file_stream_strategy& source, file_stream_strategy& destination,
            const copy_options& options, io_source& ticket)
        : source_{*this, source}, destination_{*this, destination}, options_(options),
          ticket_(&ticket), loop_(source.loop()), source_path_(source.path()),
          destination_path_(destination.path()) {
        ticket.owner = this;
        ticket.on_cancel = [](io_source& s, completion::cancel_reason) noexcept {
            static_cast<copying*>(s.owner)->stop_.request_stop();
        };
        source.expect_user();
        if (shares_loop(destination))
            destination.expect_user();
    }
    copying(const copying&) = delete;
    copying& operator=(const copying&) = delete;
    /// Without finish(): the runtime goes, and nobody is there to be told.
    ~copying() {
        leave();
        if (ticket_ != nullptr)
            ticket_->finish_failed({.code = cancelled_error(),
                                    .operation = "copy",
                                    .path = source_path_,
                                    .transferred = done_,
                                    .exception = {}});
    }

    void begin() {
        loop_.admit(*ticket_);
        source_.join();
        if (shares_loop(*destination_.stream))
            destination_.join();
        if (ticket_->reason != completion::cancel_reason::none)
            stop_.request_stop();
        size_ = piece_size(*source_.stream, *destination_.stream, options_.buffer_size);
        current_ = allocate_piece(size_);
        read_into(current_);
    }
    /// False: the source has ended.
    bool took(std::size_t bytes) noexcept {
        reads_ = false;
        held_ = bytes;
        unwritten_ += bytes;
        return bytes != 0;
    }
    void write_piece() {
        at_ = phase::writing;
        if (destination_.stream == nullptr)
            throw file_error(make_error_code(errc::closed), "write", destination_path_);
        writing = destination_.stream->write_async({current_.get(), held_}, stop_.get_token());
        if (!writing.is_completed())
            read_ahead();
    }
    void wrote_piece() {
        done_ += held_;
        unwritten_ -= held_;
        at_ = phase::reporting;
        if (options_.progress)
            options_.progress(done_);
        at_ = phase::reading;
        if (reads_)
            std::swap(current_, other_);
        else
            read_into(current_);
    }
    /// Within a handler. What was read ahead may still be on its way.
    void failed() noexcept {
        failed_ = true;
        stop_.request_stop();
        if (at_ == phase::reading)
            reads_ = false;
        why_ = {.code = system_error_from(-ENOMEM),
                .operation = "copy",
                .path = at_ == phase::writing ? destination_path_ : source_path_,
                .transferred = done_,
                .exception = {}};
        try {
            throw;
        } catch (const file_error& error) {
            if (at_ == phase::reporting) {
                why_.exception = std::current_exception();
                return;
            }
            why_.code = error.code();
            why_.operation = error.operation();
            if (at_ == phase::writing) {
                done_ += error.bytes_transferred();
                unwritten_ -= error.bytes_transferred();
                why_.transferred = done_;
            }
        } catch (const std::bad_alloc&) {
        } catch (...) { // thrown by `progress`
            why_.exception = std::current_exception();
        }
    }
    bool reads_still() const noexcept { return failed_ && reads_; }
    void took_last(const result<std::size_t>& bytes) noexcept {
        reads_ = false;
        unwritten_ += bytes.has_value() ? *bytes : 0;
    }
    void finish() {
        leave();
        if (source_.stream != nullptr && !give_back(*source_.stream, unwritten_))
            loop_.lost({"copy", source_path_.get(), why_.code, static_cast<std::size_t>(unwritten_)});
        io_source& ticket = *std::exchange(ticket_, nullptr);
        if (!failed_)
            return ticket.finish(done_);
        if (why_.code == cancelled_error() && ticket.reason == completion::cancel_reason::deadline)
            why_.code = make_error_code(errc::timed_out);
        ticket.finish_failed(std::move(why_));
    }

    value_task<std::size_t> reading;
    value_task<void> writing;

private:
    struct end : stream_user {
        end(copying& whose, file_stream_strategy& of) noexcept : copy(whose) {
            stream = &of;
            cancel = [](stream_user& user) noexcept {
                io_source* const ticket = static_cast<end&>(user).copy.ticket_;
                ticket->cancel(ticket->version(), completion::cancel_reason::requested);
            };
        }
        void join() noexcept {
            stream->join(*this);
            joined = true;
        }
        void leave() noexcept {
            if (std::exchange(joined, false) && stream != nullptr)
                stream->leave(*this);
        }
        copying& copy;
        bool joined = false;
    };

    // A destination of another runtime is called from here as from any thread, and not watched.
    bool shares_loop(const file_stream_strategy& stream) const noexcept {
        return &stream.loop() == &loop_;
    }
    void leave() noexcept {
        source_.leave();
        destination_.leave();
    }
    void read_into(const piece_memory& memory) {
        if (source_.stream == nullptr)
            throw file_error(make_error_code(errc::closed), "read", source_path_);
        reading = source_.stream->read_async({memory.get(), size_}, stop_.get_token());
        reads_ = true;
    }
    // Of a pipe nothing is taken before it is known that the piece before could be passed on.
    void read_ahead() {
        if (source_.stream == nullptr || !source_.stream->can_seek())
            return;
        try {
            if (!other_)
                other_ = allocate_piece(size_);
            read_into(other_);
        } catch (const std::bad_alloc&) {
            // Read after the write, then: that still has its buffer.
        }
    }

    enum class phase : std::uint8_t { reading, writing, reporting };

    end source_;
    end destination_;
    copy_options options_;
    io_source* ticket_;
    completion::loop& loop_;
    shared_path source_path_;
    shared_path destination_path_;
    std::stop_source stop_;
    piece_memory current_;
    piece_memory other_;
    std::size_t size_ = 0;
    std::size_t held_ = 0;        // in `current_`
    std::uint64_t unwritten_ = 0; // read, and not written
    std::uint64_t done_ = 0;
    phase at_ = phase::reading;
    bool reads_ = false; // a read is on its way
    bool failed_ = false;
    failure why_{};
};

runtime_detail::root run_copy(std::unique_ptr<copying> owned) {
    copying& copy = *owned;
    try {
        copy.begin();
        while (copy.took(co_await std::move(copy.reading))) {
            copy.write_piece();
            co_await std::move(copy.writing);
            copy.wrote_piece();
        }
    } catch (...) {
        copy.failed();
    }
    if (copy.reads_still()) {
        const result<std::size_t> last = co_await std::move(copy.reading).as_result();
        copy.took_last(last);
    }
    copy.finish();
}

} // namespace

value_task<std::uint64_t> file_stream::copy_to_async(file_stream& destination,
                                                     const copy_options& options,
                                                     std::stop_token stop) {
    failure why = objection(strategy_, destination.strategy_);
    if (!why.code && strategy_->loop().shut_down())
        why.code = make_error_code(errc::closed);
    if (!why.code && stop.stop_requested())
        why = {.code = cancelled_error(),
               .operation = "copy",
               .path = strategy_->path(),
               .transferred = 0,
               .exception = {}};
    if (why.code && strategy_ == nullptr)
        return value_task<std::uint64_t>(completion::failed_core<std::uint64_t>(std::move(why)));

    io_source& source = strategy_->loop().rent();
    if (why.code) {
        source.fail(std::move(why));
        source.complete_sole();
        return value_task<std::uint64_t>(source);
    }
    source.own_mode(strategy_->mode());
    value_task<std::uint64_t> ticket(source);
    auto copy = std::make_unique<copying>(*strategy_, *destination.strategy_, options, source);
    source.listen_to(stop);
    auto& runtime = *static_cast<io_runtime*>(strategy_->loop().context());
    run_copy(std::move(copy)).start_now_or_on(runtime.get_executor());
    return ticket;
}

std::uint64_t file_stream::copy_to(file_stream& destination, const copy_options& options) {
    if (const failure why = objection(strategy_, destination.strategy_); why.code)
        why.raise();
    const std::size_t size = piece_size(*strategy_, *destination.strategy_, options.buffer_size);
    const piece_memory memory = allocate_piece(size);
    std::uint64_t done = 0;
    while (const std::size_t held = strategy_->read({memory.get(), size})) {
        try {
            destination.strategy_->write({memory.get(), held});
        } catch (const file_error& error) {
            give_back(*strategy_, held - error.bytes_transferred());
            throw;
        }
        done += held;
        if (options.progress)
            options.progress(done);
    }
    return done;
}

} // namespace sluice
