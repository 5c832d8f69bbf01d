// How a continuation is resumed.
#pragma once

#include <cstdint>

namespace sluice {

enum class resume_mode : std::uint8_t {
    inline_, ///< on the thread that found the completion, if that runs the stream's executor; else
             ///< posted
    queued,  ///< always posted to the executor
};

} // namespace sluice
