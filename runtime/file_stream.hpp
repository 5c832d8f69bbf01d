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

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string_view>

namespace sluice {

namespace strategies {
class file_stream_strategy;
enum class verb : std::uint8_t;
} // namespace strategies

class file_stream;

// A stream travels as the pointer that it is.
template <>
inline constexpr bool completion::travels_in_word<file_stream> = true;

class file_stream {
public:
    using executor_type = boost::asio::any_io_executor;
    using native_handle_type = int;

    /// Closed.
    file_stream() noexcept = default;
    file_stream(file_stream&& other) noexcept
        : strategy_(std::exchange(other.strategy_, nullptr)) {}
    file_stream& operator=(file_stream&& other) noexcept;
    ~file_stream();

    // --- opening ---
    /// Opens on a worker, or at once when that is known not to wait. A cancelled open leaves
    /// nothing open.
    static value_task<file_stream> open_async(const executor_type& executor,
                                              const std::filesystem::path& path,
                                              const open_options& options = {},
                                              std::stop_token stop = {});
    /// May block. Throws file_error.
    static file_stream open(const executor_type& executor, const std::filesystem::path& path,
                            const open_options& options = {});
    static result<file_stream> try_open(const executor_type& executor,
                                        const std::filesystem::path& path,
                                        const open_options& options = {});
    /// Adopts a descriptor that somebody else opened: pipes, terminals, standard input too. On
    /// failure it stays the caller's. Whether it really was opened for `access` shows at the first
    /// operation.
    file_stream(const executor_type& executor, native_handle_type descriptor, file_access access,
                std::size_t buffer_size = 4096);

    // --- asynchronous ---
    /// Reads up to buffer.size() bytes: fewer at the end of the file, or when a pipe has no more
    /// now. 0: end of file.
    value_task<std::size_t> read_async(std::span<std::byte> buffer, std::stop_token stop = {});
    /// Goes on until `minimum` bytes are there; errc::end_of_stream when the file ends first.
    value_task<std::size_t> read_at_least_async(std::span<std::byte> buffer, std::size_t minimum,
                                                std::stop_token stop = {});
    value_task<void> read_exactly_async(std::span<std::byte> buffer, std::stop_token stop = {});
    /// Writes all of it.
    value_task<void> write_async(std::span<const std::byte> data, std::stop_token stop = {});
    /// Gives buffered bytes to the system; does not force the disk.
    value_task<void> flush_async(std::stop_token stop = {});
    /// Flushes and forces file and metadata (sync_data: what is needed to read it back) to the
    /// disk; covers every write that was called before.
    value_task<void> sync_async(std::stop_token stop = {});
    value_task<void> sync_data_async(std::stop_token stop = {});
    value_task<void> set_length_async(std::uint64_t length, std::stop_token stop = {});
    /// A range lock of this process, not waited for: a conflict is an error. length 0: to the end
    /// of the file.
    value_task<void> lock_async(std::uint64_t offset, std::uint64_t length,
                                std::stop_token stop = {});
    value_task<void> unlock_async(std::uint64_t offset, std::uint64_t length,
                                  std::stop_token stop = {});
    /// Copies from here to the end, through a buffer of options.buffer_size bytes (0: 128 KiB; less
    /// when less is left). Returns how many bytes. An error names the stream that failed. When it
    /// fails or is cancelled, the source stands at the first byte that the destination did not get,
    /// if it can seek. Both streams belong to the copy until it is over; closing or destroying one
    /// ends it.
    value_task<std::uint64_t> copy_to_async(file_stream& destination,
                                            const copy_options& options = {},
                                            std::stop_token stop = {});
    /// Waits for what is in flight, flushes, closes; reports the errors of all that, once. The file
    /// is closed then in any case. Reads that wait for an unseekable file are cancelled.
    value_task<void> close_async();

    value_task<std::size_t> read_async(boost::asio::mutable_buffer buffer,
                                       std::stop_token stop = {}) {
        return read_async(bytes_of(buffer), std::move(stop));
    }
    value_task<std::size_t> read_async(std::span<char> buffer, std::stop_token stop = {}) {
        return read_async(std::as_writable_bytes(buffer), std::move(stop));
    }
    value_task<void> write_async(boost::asio::const_buffer data, std::stop_token stop = {}) {
        return write_async(bytes_of(data), std::move(stop));
    }
    value_task<void> write_async(std::string_view text, std::stop_token stop = {}) {
        return write_async(std::as_bytes(std::span(text)), std::move(stop));
    }

    // --- synchronous: may block ---
    std::size_t read(std::span<std::byte> buffer);
    std::size_t read(std::span<char> buffer) { return read(std::as_writable_bytes(buffer)); }
    std::size_t read_at_least(std::span<std::byte> buffer, std::size_t minimum);
    void read_exactly(std::span<std::byte> buffer);
    /// The next byte, or -1 at the end of the file.
    int read_byte();
    void write(std::span<const std::byte> data);
    void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
    void write_byte(std::byte value);
    void flush(bool to_disk = false);
    void sync();
    void sync_data();
    /// See copy_to_async.
    std::uint64_t copy_to(file_stream& destination, const copy_options& options = {});
    void lock(std::uint64_t offset, std::uint64_t length);
    void unlock(std::uint64_t offset, std::uint64_t length);
    /// errc::operation_in_progress while asynchronous operations are in flight. Closed already:
    /// does nothing.
    void close();

    // --- state ---
    std::uint64_t length() const;
    void set_length(std::uint64_t length);
    std::uint64_t position() const;
    void position(std::uint64_t position);
    std::uint64_t seek(std::int64_t offset, seek_origin origin);
    bool can_read() const noexcept;
    bool can_write() const noexcept;
    bool can_seek() const noexcept;
    bool is_open() const noexcept;
    /// As given at open; empty for an adopted descriptor.
    std::filesystem::path path() const;
    /// The descriptor, after a flush, with the system's offset at position().
    native_handle_type native_handle();
    /// Gives the descriptor away; the stream is closed then.
    native_handle_type release();
    /// What direct I/O on this file needs memory, offsets and sizes to be a multiple of.
    std::size_t alignment() const;
    bool is_direct() const noexcept;
    executor_type get_executor() const;
    /// Asks every operation in flight to end; each is delivered. Any thread.
    void cancel();

private:
    friend struct completion::result_traits<file_stream>;
    friend struct file_stream_access;

    explicit file_stream(strategies::file_stream_strategy* strategy) noexcept
        : strategy_(strategy) {}
    strategies::file_stream_strategy& opened(const char* operation) const;
    value_task<void> control_async(strategies::verb what, std::uint64_t argument,
                                   std::uint64_t extent, const std::stop_token& stop);

    static std::span<std::byte> bytes_of(boost::asio::mutable_buffer b) noexcept {
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
