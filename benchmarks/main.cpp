// What sluice costs beside the plain call and beside other libraries; --help tells how to ask.
#include "cases/cases.hpp"
#include "harness/heap_counter.hpp"
#include "harness/options.hpp"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace {

void add_cases(bench::catalogue& into, const bench::scratch_folder& folder) {
    bench::add_noise_case(into, folder);
    bench::add_read_cases(into, folder);
    bench::add_write_cases(into, folder);
    bench::add_batch_cases(into, folder);
    bench::add_completion_cases(into);
    bench::add_allocation_cases(into, folder);
    bench::add_memory_cases(into, folder);
}

int run(int count, char** arguments) {
    const auto chosen = bench::take_options(count, arguments);
    benchmark::Initialize(&count, arguments, bench::print_help);
    if (benchmark::ReportUnrecognizedArguments(count, arguments))
        return EXIT_FAILURE;
    if (chosen.processor)
        bench::pin_to(*chosen.processor);
    bench::check_heap_counter();

    const bench::scratch_folder folder(chosen.directory);
    benchmark::AddCustomContext("directory", chosen.directory.string());
    benchmark::AddCustomContext("file_system", folder.file_system());
    benchmark::AddCustomContext("rounds", std::to_string(chosen.rounds));
    benchmark::AddCustomContext("round_ms", std::to_string(chosen.round.count()));

    bench::summary results;
    bench::catalogue cases(chosen, results);
    add_cases(cases, folder);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();

    std::fputs(results.table().c_str(), chosen.prints_json_or_csv ? stderr : stdout);
    return chosen.strict && !results.meets_every_bar() ? EXIT_FAILURE : EXIT_SUCCESS;
}

} // namespace

int main(int count, char** arguments) {
    try {
        return run(count, arguments);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sluice_benchmarks: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
