#include <sluice/platform/linux/processor_wait.hpp>

#include <sluice/platform/fault_seam.hpp>

#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace sluice::platform {

namespace {

// Where there is no such file, nothing is explained by it. Not through the fault seam: no operation
// depends on it.
std::int64_t time_on_run_queue() noexcept {
    const int file = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    char text[96];
    const ssize_t size = ::read(file, text, sizeof text - 1);
    ::close(file);
    if (size <= 0)
        return 0;
    text[size] = '\0';
    char* next = text;
    std::strtoull(next, &next, 10); // time on a processor, then time waiting for one, ns
    return static_cast<std::int64_t>(std::strtoull(next, nullptr, 10));
}

// What was explained before does not explain again.
thread_local constinit std::int64_t accounted_for = 0;

} // namespace

void judge_call(adaptive_inlining& inlining, std::size_t bytes,
                adaptive_inlining::clock::time_point start,
                adaptive_inlining::clock::time_point end) noexcept {
    // A delay that a test scripted is not to be explained away.
    if (!fault_seam_built && (end - start).count() > inlining.limit_for(bytes)) [[unlikely]] {
        const std::int64_t waited = time_on_run_queue();
        const std::chrono::nanoseconds elsewhere(waited - accounted_for);
        accounted_for = waited;
        if ((end - start - elsewhere).count() <= inlining.limit_for(bytes))
            return;
    }
    inlining.learn(bytes, start, end);
}

} // namespace sluice::platform
