// A file as a stream: asynchronous through value tasks, or synchronous, on the same object.
//
// Threads: one caller at a time, any thread; cancel() and stop tokens from any. Continuations run
// on the executor. Errors: a failed operation is a file_error (operation, path, the system's
// words), thrown or delivered; conditions without an errno are errc values. Wrong arguments throw
// std::invalid_argument or std::out_of_range at the call. Lifetime: buffers must live until their
// operation is over, awaited or not. The destructor flushes and closes, and so may block; with
// operations in flight it cancels them and the last one closes. close_async reports errors.
#pragma once

#include <sluice/completion/value_task.hpp>
#include <sluice/platform/file_options.hpp>
#include <sluice/runtime/copy_options.hpp>
#include <sluice/strategies/open_options.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>

namespace sluice {

namespace strategies {
class file_stream_strategy;
enum class verb : std::uint8_t;
} // namespace strategies

class file_stream;

// A stream travels as the pointer that it is.
template <>
inline constexpr bool completion::travels_in_word<file_stream> = true;

/// Buffers of Asio.
template <class T>
concept asio_target = std::convertible_to<T, boost::asio::mutable_buffer>;
template <class T>
concept asio_source = std::convertible_to<T, boost::asio::const_buffer>;
/// Characters in a row that are no text: std::span, std::vector, std::array of char.
template <class T>
concept char_source = std::convertible_to<const T&, std::span<const char>> &&
                      !std::convertible_to<const T&, std::string_view>;

class file_stream {
public:
    using executor_type = boost::asio::any_io_executor;
    using native_handle_type = int;

    /// Closed: every operation fails with errc::closed, only closing succeeds.
    file_stream() noexcept = default;
    /// Leaves `other` closed; operations in flight go along.
    file_stream(file_stream&& other) noexcept
        : strategy_(std::exchange(other.strategy_, nullptr)) {}
    /// Ends what was open here as the destructor does, and so may block.
    file_stream& operator=(file_stream&& other) noexcept;
    ~file_stream();

    // --- opening ---
    // All of them throw std::invalid_argument for an executor that is not an io_runtime's, an empty
    // path and options that do not go together, std::out_of_range for a preallocation_size of more
    // than 63 bits.

    /// Opens on a worker, or at once when that is known not to wait. A cancelled open leaves
    /// nothing open.
    static value_task<file_stream> open_async(const executor_type& executor,
                                              const std::filesystem::path& path,
                                              const open_options& options = {},
                                              std::stop_token stop = {});
    /// May block: on a disk or a server, on a named pipe for its other end. Throws file_error.
    static file_stream open(const executor_type& executor, const std::filesystem::path& path,
                            const open_options& options = {});
    /// The same, but a failed open is returned: an errno in the system category,
    /// errc::sharing_violation or errc::forked. Wrong arguments and a lack of memory still throw.
    static result<file_stream> try_open(const executor_type& executor,
                                        const std::filesystem::path& path,
                                        const open_options& options = {});
    /// Adopts a descriptor that somebody else opened, at its present offset: pipes, terminals,
    /// standard input too. On failure (file_error; EACCES for a directory) it stays the caller's.
    /// Whether it really was opened for `access` shows at the first operation.
    file_stream(const executor_type& executor, native_handle_type descriptor, file_access access,
                std::size_t buffer_size = 4096);

    // --- asynchronous ---
    // Operations start at the call and do not block, but for what docs/semantics.md lists. What
    // fails comes with the task: besides the errors named below ECANCELED after a stop,
    // errc::closed, errc::forked and those of the system. file_error::bytes_transferred() tells how
    // far a transfer came.

    /// Reads up to buffer.size() bytes: fewer at the end of the file, or when a pipe has no more
    /// now. 0: end of file, or nothing was asked for. errc::not_readable.
    value_task<std::size_t> read_async(std::span<std::byte> buffer, std::stop_token stop = {});
    /// Goes on until `minimum` bytes are there; errc::end_of_stream when the file ends first. What
    /// there was is in the buffer then, and the position behind it. A minimum of 0 reads nothing;
    /// one larger than the buffer throws std::out_of_range.
    value_task<std::size_t> read_at_least_async(std::span<std::byte> buffer, std::size_t minimum,
                                                std::stop_token stop = {});
    /// The same for the whole buffer.
    value_task<void> read_exactly_async(std::span<std::byte> buffer, std::stop_token stop = {});
    /// Writes all of it, into the buffer or past it. A write that fails has put nothing into the
    /// buffer; what reached the system stays written. errc::not_writable.
    value_task<void> write_async(std::span<const std::byte> data, std::stop_token stop = {});
    /// Gives buffered bytes to the system, and bytes that were read ahead back; does not force the
    /// disk. Bytes that a failed flush did not get rid of stay in the buffer.
    value_task<void> flush_async(std::stop_token stop = {});
    /// Flushes and forces file and metadata to the disk; covers every write that was called before.
    /// Does no more than flush where there is nothing to force: on a stream that cannot write, on a
    /// pipe. After a failure every later sync reports the same error.
    value_task<void> sync_async(std::stop_token stop = {});
    /// sync_async without the metadata that is not needed to read the file back, such as its times.
    /// The two share their failures.
    value_task<void> sync_data_async(std::stop_token stop = {});
    /// Flushes, then cuts the file or extends it by zeros to `length` bytes: at most 63 bits, else
    /// std::out_of_range. The position stays, or moves to the new end when it was behind it.
    /// errc::not_seekable, not_writable; below_append_start when an append stream would lose what
    /// was there at opening.
    value_task<void> set_length_async(std::uint64_t length, std::stop_token stop = {});
    /// A range lock of this process, not waited for: a conflict is an error (EAGAIN). Exclusive on
    /// a stream that can write, else shared. Bytes, each at most 63 bits (std::out_of_range);
    /// length 0: to the end of the file, wherever that will be.
    value_task<void> lock_async(std::uint64_t offset, std::uint64_t length,
                                std::stop_token stop = {});
    /// Takes back what this process has locked in the range, which may be nothing. The system also
    /// does when the process closes any descriptor of the file.
    value_task<void> unlock_async(std::uint64_t offset, std::uint64_t length,
                                  std::stop_token stop = {});
    /// Copies from here to the end, through a buffer of options.buffer_size bytes (0: 128 KiB; less
    /// when less is left). Returns how many bytes. An error names the stream that failed. When it
    /// fails or is cancelled, the source stands at the first byte that the destination did not get,
    /// if it can seek. Both streams belong to the copy until it is over; closing or destroying one
    /// ends it. A copy to itself throws std::invalid_argument.
    value_task<std::uint64_t> copy_to_async(file_stream& destination,
                                            const copy_options& options = {},
                                            std::stop_token stop = {});
    /// Waits for what is in flight, flushes, closes. Reports why the flush failed, else what the
    /// system says at closing, once: the file is closed then in any case but errc::forked, and
    /// closing again succeeds. Reads that wait for an unseekable file are cancelled; the close
    /// itself never is.
    value_task<void> close_async();

    // The same with characters and with buffers of Asio. Braces never mean the latter.
    value_task<std::size_t> read_async(asio_target auto buffer, std::stop_token stop = {}) {
        return read_async(writable_bytes_of(buffer), std::move(stop));
    }
    value_task<std::size_t> read_async(std::span<char> buffer, std::stop_token stop = {}) {
        return read_async(std::as_writable_bytes(buffer), std::move(stop));
    }
    value_task<std::size_t> read_at_least_async(asio_target auto buffer, std::size_t minimum,
                                                std::stop_token stop = {}) {
        return read_at_least_async(writable_bytes_of(buffer), minimum, std::move(stop));
    }
    value_task<std::size_t> read_at_least_async(std::span<char> buffer, std::size_t minimum,
                                                std::stop_token stop = {}) {
        return read_at_least_async(std::as_writable_bytes(buffer), minimum, std::move(stop));
    }
    value_task<void> read_exactly_async(asio_target auto buffer, std::stop_token stop = {}) {
        return read_exactly_async(writable_bytes_of(buffer), std::move(stop));
    }
    value_task<void> read_exactly_async(std::span<char> buffer, std::stop_token stop = {}) {
        return read_exactly_async(std::as_writable_bytes(buffer), std::move(stop));
    }
    value_task<void> write_async(asio_source auto data, std::stop_token stop = {}) {
        return write_async(bytes_of(data), std::move(stop));
    }
    /// A null ends the text of an array.
    value_task<void> write_async(std::string_view text, std::stop_token stop = {}) {
        return write_async(std::as_bytes(std::span(text)), std::move(stop));
    }
    value_task<void> write_async(const char_source auto& data, std::stop_token stop = {}) {
        return write_async(std::as_bytes(std::span<const char>(data)), std::move(stop));
    }

    // --- synchronous: may block ---
    // The same operations on the calling thread, which need no running loop. They throw file_error;
    // errc::operation_in_progress on a buffered stream while asynchronous ones are in flight. An
    // unbuffered stream runs them beside those, not in turn.

    /// See read_async.
    std::size_t read(std::span<std::byte> buffer);
    std::size_t read(std::span<char> buffer) { return read(std::as_writable_bytes(buffer)); }
    std::size_t read(asio_target auto buffer) { return read(writable_bytes_of(buffer)); }
    /// See read_at_least_async.
    std::size_t read_at_least(std::span<std::byte> buffer, std::size_t minimum);
    std::size_t read_at_least(std::span<char> buffer, std::size_t minimum) {
        return read_at_least(std::as_writable_bytes(buffer), minimum);
    }
    std::size_t read_at_least(asio_target auto buffer, std::size_t minimum) {
        return read_at_least(writable_bytes_of(buffer), minimum);
    }
    /// See read_exactly_async.
    void read_exactly(std::span<std::byte> buffer);
    void read_exactly(std::span<char> buffer) { read_exactly(std::as_writable_bytes(buffer)); }
    void read_exactly(asio_target auto buffer) { read_exactly(writable_bytes_of(buffer)); }
    /// The next byte, or -1 at the end of the file.
    int read_byte();
    /// See write_async. On a pipe too, what fits stays in the buffer until a flush.
    void write(std::span<const std::byte> data);
    void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
    void write(asio_source auto data) { write(bytes_of(data)); }
    void write(const char_source auto& data) { write(std::as_bytes(std::span<const char>(data))); }
    void write_byte(std::byte value);
    /// See flush_async; to_disk: sync().
    void flush(bool to_disk = false);
    /// See sync_async.
    void sync();
    void sync_data();
    /// See copy_to_async.
    std::uint64_t copy_to(file_stream& destination, const copy_options& options = {});
    /// See lock_async. Does not wait for who holds the lock.
    void lock(std::uint64_t offset, std::uint64_t length);
    void unlock(std::uint64_t offset, std::uint64_t length);
    /// See close_async. errc::operation_in_progress while asynchronous operations are in flight,
    /// without a buffer too; nothing is closed then. Closed already: does nothing.
    void close();

    // --- state ---
    /// Bytes, those in the buffer included. Asks the system, also while operations are in flight.
    /// errc::not_seekable.
    std::uint64_t length() const;
    /// See set_length_async. May block.
    void set_length(std::uint64_t length);
    /// Where the next operation begins. On an unbuffered stream those in flight count as whole;
    /// what they did not transfer is taken back at their end. Asks the system only on an append
    /// stream. errc::not_seekable.
    std::uint64_t position() const;
    /// Moves it, also beyond the end: a write leaves a gap there. Flushes first, and so may block,
    /// unless nothing is pending. std::out_of_range for more than 63 bits; errc::not_seekable,
    /// below_append_start; operation_in_progress as above.
    void position(std::uint64_t position);
    /// The same, in bytes from an origin; returns the new position. errc::before_begin when that
    /// would be negative, std::invalid_argument for an origin that is none.
    std::uint64_t seek(std::int64_t offset, seek_origin origin);
    /// What the stream was opened for, and whether the file has positions; false when closed. Never
    /// asks the system.
    bool can_read() const noexcept;
    bool can_write() const noexcept;
    bool can_seek() const noexcept;
    /// False from the call of close_async on.
    bool is_open() const noexcept;
    /// As given at open, also when closed; empty for an adopted descriptor.
    std::filesystem::path path() const;
    /// The descriptor, after a flush, with the system's offset at position() unless it appends. It
    /// stays the stream's. May block; operation_in_progress as above.
    native_handle_type native_handle();
    /// Gives the descriptor away, after the same; the stream is closed then, unless it throws. A
    /// lock of `share` goes along, and nothing is deleted at a close any more.
    /// errc::operation_in_progress while anything is in flight, without a buffer too.
    native_handle_type release();
    /// What direct I/O on this file needs memory, offsets and sizes to be a multiple of: bytes.
    /// Asks the system; the block size where that does not say.
    std::size_t alignment() const;
    /// Whether operations go past the page cache. False when closed.
    bool is_direct() const noexcept;
    /// That of the runtime, also when the stream is closed. errc::closed when it was never opened
    /// or its runtime is gone.
    executor_type get_executor() const;
    /// Asks every operation in flight to end, but a close; each is delivered. Any thread, while the
    /// stream is neither moved nor destroyed. Elsewhere than on the loop's thread the request is
    /// queued for that one: what starts until then may be asked too, and synchronous calls may meet
    /// errc::operation_in_progress.
    void cancel();

private:
    friend struct completion::result_traits<file_stream>;
    friend struct file_stream_access;

    explicit file_stream(strategies::file_stream_strategy* strategy) noexcept
        : strategy_(strategy) {}
    strategies::file_stream_strategy& opened(const char* operation) const;
    value_task<void> control_async(strategies::verb what, std::uint64_t argument,
                                   std::uint64_t extent, const std::stop_token& stop);

    static std::span<std::byte> writable_bytes_of(boost::asio::mutable_buffer b) noexcept {
        return {static_cast<std::byte*>(b.data()), b.size()};
    }
    static std::span<const std::byte> bytes_of(boost::asio::const_buffer b) noexcept {
        return {static_cast<const std::byte*>(b.data()), b.size()};
    }

    strategies::file_stream_strategy* strategy_ = nullptr;
};

namespace completion {

template <>
struct result_traits<file_stream> {
    static void put(source_core& core, file_stream&& stream) noexcept {
        core.word = reinterpret_cast<std::uintptr_t>(std::exchange(stream.strategy_, nullptr));
    }
    static file_stream take(source_core& core) noexcept {
        return file_stream(
            reinterpret_cast<strategies::file_stream_strategy*>(std::exchange(core.word, 0)));
    }
    static void discard(source_core& core) noexcept { take(core); }
};

} // namespace completion

} // namespace sluice
