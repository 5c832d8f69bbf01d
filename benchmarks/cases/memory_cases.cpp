// What an open stream holds in memory: its own size, and what it has on the heap, without the bytes
// of its path's text. Average over many, so that what a context allocates once does not count.
#include "cases.hpp"

#include "../harness/heap_counter.hpp"

#include <sluice/sluice.hpp>

#include <sys/resource.h>

#include <stdexcept>
#include <vector>

namespace bench {
namespace {

constexpr std::size_t stream_count = 10'000;
constexpr double most_bytes = 384;

void allow_descriptors(rlim_t wanted) {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    if (limit.rlim_cur < wanted || setrlimit(RLIMIT_NOFILE, &limit) != 0)
        throw std::runtime_error("needs " + std::to_string(wanted) + " descriptors (ulimit -n)");
}

double bytes_per_stream(const std::filesystem::path& path, bool used) {
    allow_descriptors(stream_count + 100);
    sluice::io_runtime runtime;
    sluice::open_options options;
    options.buffer_size = 0;
    std::vector<sluice::file_stream> streams;
    streams.reserve(stream_count);
    std::byte byte{};

    // One before counting starts: the first stream of a context brings the service to life.
    auto first = sluice::file_stream::open(runtime.get_executor(), path, options);
    first.read(std::span(&byte, 1));

    const heap_counter counter;
    for (std::size_t index = 0; index < stream_count; ++index) {
        streams.push_back(sluice::file_stream::open(runtime.get_executor(), path, options));
        if (used)
            streams.back().read(std::span(&byte, 1));
    }
    const auto on_heap = static_cast<double>(counter.use().bytes) / stream_count;
    const auto path_text = static_cast<double>(path.native().size() + 1);
    return on_heap + static_cast<double>(sizeof(sluice::file_stream)) - path_text;
}

} // namespace

void add_memory_cases(catalogue& into, const scratch_folder& folder) {
    const auto path = folder.filled_file();
    into.add({.name = "memory_bytes/open_stream",
              .count = [path] { return bytes_per_stream(path, false); },
              .bar = most_bytes});
    into.add({.name = "memory_bytes/used_stream",
              .count = [path] { return bytes_per_stream(path, true); },
              .bar = most_bytes});
}

} // namespace bench
