// Makes a ring as good as the kernel gives it: optional flags are dropped one by one, a ring for
// which there is no memory is halved, and memory that comes back late is waited for.
#pragma once

#include <sluice/platform/linux/uring_ring.hpp>

namespace sluice::platform::uring {

struct ring_wish {
    unsigned entries = 256;
    unsigned completions = 8192; ///< at least; never below twice the entries
    bool exclusive = false;      ///< one thread enters it: bind it to the one that calls
};

/// 0, or the negative errno of the call that failed.
struct ring_outcome {
    long result = 0;
    const char* step = "io_uring_setup";
};

/// What the kernel makes of a queue depth.
unsigned wanted_entries(unsigned queue_depth) noexcept;

ring_outcome make_ring(ring& made, const ring_wish& wish) noexcept;

} // namespace sluice::platform::uring
