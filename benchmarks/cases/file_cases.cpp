// Reads, writes and batches: each operation with its baseline, for sluice with a bar, and for the
// libraries that can do it without one.
#include "cases.hpp"

#include "../contenders/contenders.hpp"
#include "../contenders/sluice_contenders.hpp"

#include <vector>

namespace bench {
namespace {

constexpr std::size_t stream_buffer = 4096;

struct file_case {
    std::string operation;
    file_work work;
    std::string baseline_name;
    file_contender_factory baseline;
    double bar = 0;
};

std::vector<file_contender> others() {
    std::vector<file_contender> all;
    for (const auto& found : {raw_uring_contenders(), asio_contenders(), libuv_contenders()})
        all.insert(all.end(), found.begin(), found.end());
    return all;
}

paired_case pair_of(const file_case& wanted, const file_contender& ours) {
    const auto& work = wanted.work;
    return {.name = wanted.operation + '/' + ours.name,
            .ours = [make = ours.make, work] { return make(work); },
            .baseline_name = wanted.baseline_name,
            .baseline = [make = wanted.baseline, work] { return make(work); },
            .bar = std::nullopt,
            .equal_counts = work.extends()};
}

void add_ours(catalogue& into, const file_case& wanted, const file_contender_factory& ours) {
    auto pair = pair_of(wanted, {"sluice", ours});
    pair.bar = wanted.bar;
    into.add(std::move(pair));
}

void add_others(catalogue& into, const file_case& wanted) {
    for (const auto& other : others()) {
        if (other.name != wanted.baseline_name)
            into.add(pair_of(wanted, other));
    }
}

std::string named(const char* operation, std::size_t size) {
    return std::string(operation) + '_' + std::to_string(size);
}

file_case unbuffered_read(const scratch_folder& folder, std::size_t size) {
    return {.operation = named("read", size),
            .work = {.action = file_action::read, .size = size, .path = folder.filled_file()},
            .baseline_name = "preadv2(RWF_NOWAIT)",
            .baseline = plain_calls,
            .bar = 1.12};
}

file_case unbuffered_write(const scratch_folder& folder, file_action action, std::size_t size) {
    const bool extends = action == file_action::extend;
    return {.operation = named(extends ? "extend" : "overwrite", size),
            .work = {.action = action,
                     .size = size,
                     .path = extends ? folder.growing_file() : folder.filled_file()},
            .baseline_name = "pwrite",
            .baseline = plain_calls,
            .bar = extends ? 1.25 : 1.20};
}

file_case buffered(const scratch_folder& folder, file_action action, std::size_t size) {
    const bool reads = action == file_action::read;
    return {.operation = named(reads ? "buffered_read" : "buffered_write", size),
            .work = {.action = action,
                     .size = size,
                     .buffer_size = stream_buffer,
                     .path = folder.filled_file()},
            .baseline_name = reads ? "fread_unlocked" : "fwrite_unlocked",
            .baseline = standard_stream,
            .bar = 1.10};
}

} // namespace

void add_noise_case(catalogue& into, const scratch_folder& folder) {
    auto read = unbuffered_read(folder, 512);
    read.operation = "noise";
    into.add(pair_of(read, {"preadv2", plain_calls}));
}

void add_read_cases(catalogue& into, const scratch_folder& folder) {
    for (const std::size_t size : {512U, 4096U}) {
        add_ours(into, unbuffered_read(folder, size), sluice_stream);
        add_others(into, unbuffered_read(folder, size));
    }
    add_ours(into, buffered(folder, file_action::read, 512), sluice_stream);
}

void add_write_cases(catalogue& into, const scratch_folder& folder) {
    for (const auto action : {file_action::overwrite, file_action::extend}) {
        for (const std::size_t size : {4096U, 16384U}) {
            add_ours(into, unbuffered_write(folder, action, size), sluice_stream);
            add_others(into, unbuffered_write(folder, action, size));
        }
    }
    add_ours(into, buffered(folder, file_action::overwrite, 512), sluice_stream);
}

void add_batch_cases(catalogue& into, const scratch_folder& folder) {
    const auto baseline = [](const file_work& work) {
        return make_named(raw_uring_contenders(), "raw_uring", work);
    };
    const file_case batch{.operation = "ring_read_512_x32",
                          .work = {.action = file_action::read,
                                   .size = 512,
                                   .at_once = 32,
                                   .path = folder.filled_file()},
                          .baseline_name = "raw_uring",
                          .baseline = baseline,
                          .bar = 1.18};
    add_ours(into, batch, sluice_batch);
    add_others(into, batch);
}

} // namespace bench
