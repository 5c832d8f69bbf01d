// Heap allocations per operation once everything has been used before, on all threads of the
// program. Each case runs twice, the usual way and with everything forced through the backend, and
// reports the worse. Warming up includes starting every worker: which operations need one depends
// on how busy the machine is, and a thread that starts while counting would count.
#include "cases.hpp"

#include "../harness/file_work.hpp"
#include "../harness/heap_counter.hpp"

#include <sluice/sluice.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace bench {
namespace {

constexpr std::size_t warm_up_steps = 1000;
constexpr std::size_t counted_steps = 2000;
constexpr std::size_t batch_size = 32;

enum class step_kind : std::uint8_t { read, read_batch, write, flush, seek };

struct step_name {
    step_kind kind;
    const char* text;
};
constexpr step_name steps[] = {{step_kind::read, "read"},
                               {step_kind::read_batch, "read_x32"},
                               {step_kind::write, "write"},
                               {step_kind::flush, "write_and_flush"},
                               {step_kind::seek, "seek_and_read"}};

class allocation_run {
public:
    allocation_run(sluice::backend_choice backend, bool forced, std::size_t buffer_size,
                   const std::filesystem::path& path)
        : walk_({.size = block_size}), runtime_(options_for(backend, forced)),
          stream_(sluice::file_stream::open(runtime_.get_executor(), path,
                                            options_for(buffer_size))),
          blocks_(block_size * batch_size) {
        pending_.reserve(batch_size);
        sluice::sync_wait(runtime_, start_workers(path));
    }

    double allocations_per_step(step_kind kind) {
        sluice::sync_wait(runtime_, repeat(kind));
        return static_cast<double>(allocations_) / static_cast<double>(counted_steps);
    }

private:
    static constexpr std::size_t block_size = 512;

    static sluice::runtime_options options_for(sluice::backend_choice backend, bool forced) {
        sluice::runtime_options options;
        options.backend = backend;
        if (forced)
            options.inline_budget.completions = 0;
        return options;
    }

    static sluice::open_options options_for(std::size_t buffer_size) {
        sluice::open_options options;
        options.access = sluice::file_access::read_write;
        options.buffer_size = buffer_size;
        return options;
    }

    // Reaching the disk is never tried on the calling thread, and needs a worker for each at once:
    // of as many streams, because those of one stream take turns.
    sluice::task<void> start_workers(const std::filesystem::path& path) {
        std::vector<sluice::file_stream> streams;
        for (std::size_t index = 0; index < batch_size; ++index)
            streams.push_back(
                sluice::file_stream::open(runtime_.get_executor(), path, options_for(0)));
        std::vector<sluice::value_task<void>> syncs;
        for (sluice::file_stream& stream : streams)
            syncs.push_back(stream.sync_data_async());
        for (auto& sync : syncs)
            co_await std::move(sync);
    }

    // One coroutine for everything: the frame of a second one would be an allocation of our own.
    sluice::task<void> repeat(step_kind kind) {
        std::optional<heap_counter> counter;
        const auto block = std::span(blocks_).first(block_size);
        for (std::size_t step = 0; step < warm_up_steps + counted_steps; ++step) {
            if (step == warm_up_steps)
                counter.emplace();
            switch (kind) {
            case step_kind::read:
                co_await stream_.read_async(block);
                break;
            case step_kind::read_batch:
                for (std::size_t slot = 0; slot < batch_size; ++slot)
                    pending_.push_back(stream_.read_async(batch_block(slot)));
                for (auto& one : pending_)
                    co_await std::move(one);
                pending_.clear();
                break;
            case step_kind::write:
                co_await stream_.write_async(block);
                break;
            case step_kind::flush:
                co_await stream_.write_async(block);
                co_await stream_.flush_async();
                break;
            case step_kind::seek:
                stream_.seek(static_cast<std::int64_t>(walk_.offset()), sluice::seek_origin::begin);
                co_await stream_.read_async(block);
                break;
            }
            if (walk_.advance())
                stream_.position(0);
        }
        allocations_ = counter->use().allocations;
    }

    std::span<std::byte> batch_block(std::size_t slot) {
        return std::span(blocks_).subspan(slot * block_size, block_size);
    }

    file_walk walk_;
    sluice::io_runtime runtime_;
    sluice::file_stream stream_;
    std::vector<std::byte> blocks_;
    std::vector<sluice::value_task<std::size_t>> pending_;
    std::int64_t allocations_ = 0;
};

struct configuration {
    const char* name;
    sluice::backend_choice backend;
    std::size_t buffer_size;
};

constexpr configuration configurations[] = {
    {"uring", sluice::backend_choice::uring, 0},
    {"uring_buffered", sluice::backend_choice::uring, 4096},
    {"threads", sluice::backend_choice::threads, 0},
    {"threads_buffered", sluice::backend_choice::threads, 4096},
};

} // namespace

void add_allocation_cases(catalogue& into, const scratch_folder& folder) {
    const auto path = folder.filled_file();
    for (const auto& step : steps) {
        for (const auto& chosen : configurations) {
            const auto worst = [step, chosen, path] {
                double most = 0;
                for (const bool forced : {false, true}) {
                    allocation_run run(chosen.backend, forced, chosen.buffer_size, path);
                    most = std::max(most, run.allocations_per_step(step.kind));
                }
                return most;
            };
            into.add({.name = std::string("allocations_") + step.text + '/' + chosen.name,
                      .count = worst,
                      .bar = 0.0});
        }
    }
}

} // namespace bench
