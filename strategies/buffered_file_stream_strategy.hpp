// The strategy with a buffer: one, for reading or for writing, allocated when first needed and
// never zeroed. Calls queue, except that requests as large as the buffer, when nothing is held in
// it, go past it and overlap.
//
// Invariant: unread bytes and pending bytes are never both there. position_ is where the system's
// side is: the end of the read window, or where the pending bytes will be written.
#pragma once

#include <sluice/platform/posix/resident_range.hpp>
#include <sluice/strategies/unix_file_stream_strategy.hpp>

#include <atomic>
#include <cstring>
#include <memory>

namespace sluice::strategies {

/// Written by the side that owns the stream at the time, read by position() from the caller's
/// thread at any.
class shared_size {
public:
    operator std::size_t() const noexcept { return value_.load(std::memory_order_relaxed); }
    shared_size& operator=(std::size_t value) noexcept {
        value_.store(value, std::memory_order_relaxed);
        return *this;
    }

private:
    std::atomic<std::size_t> value_{0};
};

class buffered_file_stream_strategy final : public unix_file_stream_strategy {
public:
    buffered_file_stream_strategy(completion::loop& loop, const platform::file_handle& file,
                                  shared_path path, resume_mode mode, std::uint64_t position,
                                  std::uint64_t append_floor, std::size_t buffer_size) noexcept
        : unix_file_stream_strategy(loop, file, std::move(path), mode, position, append_floor),
          capacity_(buffer_size) {}

    value_task<std::size_t> read_async(std::span<std::byte> buffer,
                                       const std::stop_token& stop) override;
    value_task<void> write_async(std::span<const std::byte> data,
                                 const std::stop_token& stop) override;
    std::size_t read(std::span<std::byte> buffer) override;
    void write(std::span<const std::byte> data) override;
    int read_byte() override;

    std::uint64_t position() const override;
    std::uint64_t length() const override;
    void seek_to(std::uint64_t position) override;

protected:
    bool step(stream_call& call, platform::request& op, const system_port& port) noexcept override;
    bool tolerates_overlap() const noexcept override { return false; }
    void prepare(stream_call& call) noexcept override {
        if (call.shares)
            unix_file_stream_strategy::prepare(call);
    }
    std::size_t pending_bytes() const noexcept override { return pending_; }
    void forget_buffer() noexcept override;

private:
    enum class progress : std::uint8_t { go_on, waits, failed };

    bool step_read(stream_call& call, platform::request& op, const system_port& port) noexcept;
    bool step_write(stream_call& call, platform::request& op, const system_port& port) noexcept;
    bool step_flushed(stream_call& call, platform::request& op, const system_port& port) noexcept;
    bool fills_now(std::span<std::byte> buffer, const std::stop_token& stop) noexcept;
    bool fill_past(std::byte* data, std::size_t missing) noexcept;
    bool drains_now(std::span<const std::byte> data, const std::stop_token& stop) const noexcept;
    value_task<void> drain(std::span<const std::byte> data, const std::stop_token& stop);
    bool settle_read(stream_call& call, platform::request& op) noexcept;
    progress flush(stream_call& call, platform::request& op, const system_port& port) noexcept;
    progress settle_flush(stream_call& call, const platform::request& op) noexcept;
    bool has_buffer(stream_call& call) noexcept;

    std::size_t unread() const noexcept { return read_end_ - read_at_; }
    void take_unread(std::byte* to, std::size_t size) noexcept {
        if (size != 0) // memcpy knows no null, not even for nothing
            std::memcpy(to, buffer_.get() + read_at_, size);
        read_at_ = read_at_ + size;
    }
    void hold(const std::byte* from, std::size_t size) noexcept {
        if (size != 0)
            std::memcpy(buffer_.get() + pending_, from, size);
        pending_ = pending_ + size;
    }
    /// Gives unread bytes back: the system's side is where the stream is.
    void drop_window() noexcept;
    std::uint64_t write_offset() const noexcept;

    std::unique_ptr<std::byte[]> buffer_;
    std::size_t capacity_;
    shared_size read_at_; // the read window in the buffer
    shared_size read_end_;
    platform::resident_range resident_; // where the plain call may fill the buffer
    shared_size pending_; // bytes at the front of the buffer that the system does not have yet
};

} // namespace sluice::strategies
