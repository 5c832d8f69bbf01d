// A copy of one stream into another that is under way: what is read, what is written, how it ends.
// Private to copy_to.cpp, which drives it.
//
// Threads: made by the caller of copy_to_async; from begin() on it belongs to the thread that runs
// the source's loop. Ownership: held by the frame of the coroutine.
#pragma once

#include <sluice/runtime/copy_options.hpp>
#include <sluice/strategies/file_stream_strategy.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stop_token>
#include <utility>

namespace sluice::runtime_detail {

using completion::failure;
using completion::io_source;
using completion::shared_path;
using strategies::file_stream_strategy;
using strategies::stream_user;

struct freer {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
};
using piece_memory = std::unique_ptr<std::byte[], freer>;

/// How much is copied at a time.
std::size_t piece_size(const file_stream_strategy& source, const file_stream_strategy& destination,
                       std::size_t asked);
/// Not zeroed; fit for direct I/O.
piece_memory allocate_piece(std::size_t size);
/// Puts the source back to the first byte that the destination did not get. False: it cannot seek.
bool give_back(file_stream_strategy& source, std::uint64_t bytes) noexcept;

class copying {
public:
    copying(file_stream_strategy& source, file_stream_strategy& destination,
            const copy_options& options, io_source& ticket);
    copying(const copying&) = delete;
    copying& operator=(const copying&) = delete;
    /// Without finish(): the runtime goes, and nobody is there to be told.
    ~copying();

    void begin();
    /// False: the source has ended.
    bool took(std::size_t bytes) noexcept;
    void write_piece();
    void wrote_piece();
    /// Within a handler. What was read ahead may still be on its way.
    void failed() noexcept;
    bool reads_still() const noexcept { return failed_ && reads_; }
    void took_last(const result<std::size_t>& bytes) noexcept;
    void finish();

    value_task<std::size_t> reading;
    value_task<void> writing;

private:
    struct end : stream_user {
        end(copying& whose, file_stream_strategy& of) noexcept;
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
    enum class phase : std::uint8_t { reading, writing, reporting };

    // A destination of another runtime is called from here as from any thread, and not watched.
    bool shares_loop(const file_stream_strategy& stream) const noexcept {
        return &stream.loop() == &loop_;
    }
    void leave() noexcept {
        source_.leave();
        destination_.leave();
    }
    void read_into(const piece_memory& memory);
    void read_ahead();

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

} // namespace sluice::runtime_detail
