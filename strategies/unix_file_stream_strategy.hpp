// The strategy without a buffer: every call goes to the system. On seekable files calls run beside
// each other, at positions fixed when they are made; on append and unseekable ones they queue.
#pragma once

#include <sluice/strategies/file_stream_strategy.hpp>

namespace sluice::strategies {

class unix_file_stream_strategy : public file_stream_strategy {
public:
    using file_stream_strategy::file_stream_strategy;

    value_task<std::size_t> read_async(std::span<std::byte> buffer,
                                       const std::stop_token& stop) override;
    value_task<void> write_async(std::span<const std::byte> data,
                                 const std::stop_token& stop) override;
    std::size_t read(std::span<std::byte> buffer) override;
    void write(std::span<const std::byte> data) override;

    std::uint64_t position() const override;
    std::uint64_t length() const override;
    void seek_to(std::uint64_t position) override;

protected:
    bool step(stream_call& call, platform::request& op, const system_port& port) noexcept override;
    bool tolerates_overlap() const noexcept override { return true; }
    void prepare(stream_call& call) noexcept override;
    void give_up(stream_call& call) noexcept override;

    stream_call read_call(std::span<std::byte> buffer) const noexcept {
        return {.what = verb::read,
                .shares = file_.seekable,
                .data = buffer.data(),
                .size = buffer.size()};
    }
    stream_call write_call(std::span<const std::byte> data) const noexcept {
        return {.what = verb::write,
                .shares = file_.seekable && !file_.append,
                .data = const_cast<std::byte*>(data.data()),
                .size = data.size()};
    }
    value_task<void> go_on_from(long raw, stream_call& call, platform::request& op,
                                const std::stop_token& stop);
    /// Where the system's side of the stream is.
    std::uint64_t system_position() const;
    std::uint64_t system_length() const;
    void require_not_below_append_start(std::uint64_t position) const;

private:
    void ask_transfer(stream_call& call, platform::request& op) noexcept;
    void take_back_cut(const stream_call& call) noexcept;
    bool step_read(stream_call& call, platform::request& op, const system_port& port) noexcept;
    bool step_write(stream_call& call, platform::request& op, const system_port& port) noexcept;
};

} // namespace sluice::strategies
