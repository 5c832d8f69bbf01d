#include <sluice/runtime/copying.hpp>

#include <algorithm>
#include <cerrno>
#include <new>

namespace sluice::runtime_detail {

namespace {

// What one call may still copy without a detour over a worker, and what fits beside the other data
// in a second-level cache.
constexpr std::size_t usual_piece = 128 * 1024;
// For files whose length says nothing, as in /proc, and for what is added while copying.
constexpr std::size_t least_piece = 4096;
constexpr std::size_t memory_alignment = 4096; // direct I/O asks for no more

std::size_t round_up(std::size_t size) noexcept {
    return (size + memory_alignment - 1) / memory_alignment * memory_alignment;
}

} // namespace

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

piece_memory allocate_piece(std::size_t size) {
    piece_memory memory(
        static_cast<std::byte*>(std::aligned_alloc(memory_alignment, round_up(size))));
    if (!memory)
        throw std::bad_alloc();
    return memory;
}

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

// --- the beginning and the end ---

copying::end::end(copying& whose, file_stream_strategy& of) noexcept : copy(whose) {
    stream = &of;
    cancel = [](stream_user& user) noexcept {
        io_source* const ticket = static_cast<end&>(user).copy.ticket_;
        ticket->cancel(ticket->version(), completion::cancel_reason::requested);
    };
}

copying::copying(file_stream_strategy& source, file_stream_strategy& destination,
                 const copy_options& options, io_source& ticket)
    : source_{*this, source}, destination_{*this, destination}, options_(options), ticket_(&ticket),
      loop_(source.loop()), source_path_(source.path()), destination_path_(destination.path()) {
    ticket.owner = this;
    ticket.on_cancel = [](io_source& s, completion::cancel_reason) noexcept {
        static_cast<copying*>(s.owner)->stop_.request_stop();
    };
    source.expect_user();
    if (shares_loop(destination))
        destination.expect_user();
}

copying::~copying() {
    leave();
    if (ticket_ != nullptr)
        ticket_->finish_failed({.code = cancelled_error(),
                                .operation = "copy",
                                .path = source_path_,
                                .transferred = done_,
                                .exception = {}});
}

void copying::begin() {
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

void copying::finish() {
    leave();
    if (source_.stream != nullptr && !give_back(*source_.stream, unwritten_))
        loop_.lost({"copy", source_path_.get(), why_.code, static_cast<std::size_t>(unwritten_)});
    io_source& ticket = *std::exchange(ticket_, nullptr);
    if (!failed_)
        return ticket.finish(done_);
    if (why_.code == cancelled_error())
        why_.code = completion::code_of(ticket.reason);
    ticket.finish_failed(std::move(why_));
}

// --- one piece after the other ---

void copying::read_into(const piece_memory& memory) {
    if (source_.stream == nullptr)
        throw file_error(make_error_code(errc::closed), "read", source_path_);
    reading = source_.stream->read_async({memory.get(), size_}, stop_.get_token());
    reads_ = true;
}

// Of a pipe nothing is taken before it is known that the piece before could be passed on.
void copying::read_ahead() {
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

bool copying::took(std::size_t bytes) noexcept {
    reads_ = false;
    held_ = bytes;
    unwritten_ += bytes;
    return bytes != 0;
}

void copying::write_piece() {
    at_ = phase::writing;
    if (destination_.stream == nullptr)
        throw file_error(make_error_code(errc::closed), "write", destination_path_);
    writing = destination_.stream->write_async({current_.get(), held_}, stop_.get_token());
    if (!writing.is_completed())
        read_ahead();
}

void copying::wrote_piece() {
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

// --- when it fails ---

void copying::failed() noexcept {
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

void copying::took_last(const result<std::size_t>& bytes) noexcept {
    reads_ = false;
    unwritten_ += bytes.has_value() ? *bytes : 0;
}

} // namespace sluice::runtime_detail
