// What a file contender does: one action, of one size, along one scratch file and back again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>

namespace bench {

enum class file_action : std::uint8_t {
    read,       ///< along a file that lies in the page cache
    overwrite,  ///< along a file whose blocks exist already
    extend,     ///< behind the end of a file that was truncated before the round
};

/// Small enough to stay in the page cache and mostly in the processor's: the time of the call
/// counts, not that of memory.
inline constexpr std::uint64_t scratch_length = 1U << 20U;

struct file_work {
    file_action action = file_action::read;
    std::size_t size = 0;         ///< bytes of one operation
    std::size_t at_once = 1;      ///< operations in flight
    std::size_t buffer_size = 0;  ///< of the stream; 0: none
    std::filesystem::path path{};

    bool reads() const { return action == file_action::read; }
    bool extends() const { return action == file_action::extend; }
};

/// Walks the offsets of a file; every contender turns around at the same places.
class file_walk {
public:
    explicit file_walk(const file_work& work)
        : step_(work.size),
          limit_(work.extends() ? std::numeric_limits<std::uint64_t>::max() : scratch_length) {}

    std::uint64_t offset() const { return offset_; }
    void restart() { offset_ = 0; }

    /// Past one operation. True when the next one is at the start of the file again.
    bool advance() {
        offset_ += step_;
        if (offset_ < limit_)
            return false;
        offset_ = 0;
        return true;
    }

private:
    std::uint64_t offset_ = 0;
    std::uint64_t step_;
    std::uint64_t limit_;
};

} // namespace bench
