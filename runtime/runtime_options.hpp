// How a context does file operations.
#pragma once

#include <sluice/completion/resume_mode.hpp>
#include <sluice/platform/backend.hpp>
#include <sluice/platform/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>

namespace sluice {

/// What may be finished within the call on the thread that runs the loop, before the loop is given
/// a turn. Calls made elsewhere take no turn from it: they finish what does not wait.
struct inline_budget {
    /// In a row; 0: none, every operation goes to the backend.
    int completions = 64;
    /// Copied in a row.
    std::int64_t bytes = 1024 * 1024;
    /// A call that could block is made inline while the last ones on its file took no longer than
    /// this and 1 us per 4 KiB (docs/performance.md); at most a second. 0: none is made inline.
    std::chrono::microseconds blocking_time{50};
};

/// Bytes or an error that nobody was there to hear of: a stream destroyed with unwritten bytes, a
/// detached write.
struct lost_report {
    const char* operation;
    std::filesystem::path path;
    error_code code;
    std::size_t bytes;
};

struct runtime_options {
    unsigned queue_depth = 256; ///< ring submission entries
    /// 0: chosen by the number of processors; started only when needed.
    unsigned worker_threads = 0;
    unsigned max_in_flight = 4096; ///< operations given to the system at once; more wait
    backend_choice backend = backend_choice::auto_;
    resume_mode resume = resume_mode::inline_;
    sluice::inline_budget inline_budget{};
    std::size_t registered_memory = 0; ///< bytes for buffer arenas; no effect yet
    /// Called on the thread that loses it; must not throw.
    std::function<void(const lost_report&)> on_lost{};
};

} // namespace sluice
