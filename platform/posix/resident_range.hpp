// What of a file is known to be in the page cache, for a moment. A sequential reader may use the
// plain call there, which costs a sixth less than the one that can say "not now": the kernel copies
// and checks a vector for that one (docs/performance.md).
//
// It is knowledge and no promise: a page may be evicted meanwhile. So it is used only where inline
// calls may block at all, and a call that turns out slow ends that for the file, as with writes
// (adaptive_inlining.hpp).
#pragma once

#include <sluice/platform/posix/file_handle.hpp>
#include <sluice/platform/tick_clock.hpp>

#include <cstddef>
#include <cstdint>

namespace sluice::platform {

/// Of one sequential reader; used by one thread at a time.
class resident_range {
public:
    static constexpr std::size_t window = 512 * 1024; ///< asked about at once, bytes
    static constexpr unsigned first_streak = 16;      ///< cached reads before the system is asked

    /// Whether the next `size` bytes at `offset` are known to be there. To be asked once for each
    /// read of a sequence; `now` is where the time of that read begins.
    bool covers(const file_handle& file, std::uint64_t offset, std::size_t size,
                tick_clock::ticks now) noexcept {
        if (offset + size <= end_ && offset >= begin_ && now - asked_at_ < longest_trust) [[likely]]
            return true;
        if (++streak_ < needed_streak_)
            return false;
        return ask(file, offset, size, now);
    }
    /// A read did not find all of it there, or the reader went elsewhere.
    void forget() noexcept {
        begin_ = end_ = 0;
        streak_ = 0;
    }

private:
    // What was read in a row was there just now; pages of a warm file stay for milliseconds.
    static constexpr tick_clock::ticks longest_trust =
        tick_clock::surely_within(std::chrono::milliseconds(10));
    static constexpr unsigned longest_streak = 1024;

    bool ask(const file_handle& file, std::uint64_t offset, std::size_t size,
             tick_clock::ticks now) noexcept;

    std::uint64_t begin_ = 0;
    std::uint64_t end_ = 0;
    tick_clock::ticks asked_at_ = 0;
    std::uint16_t streak_ = 0;
    std::uint16_t needed_streak_ = first_streak; // doubles when it was not worth asking
};

/// Whether all of this range is in the page cache, and its last page readable: a read that is still
/// on its way from the disk has pages there too. By cachestat(2), Linux 6.5; false where the system
/// cannot tell.
bool is_resident(const file_handle& file, std::uint64_t offset, std::size_t size) noexcept;

} // namespace sluice::platform
