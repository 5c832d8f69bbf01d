#include "catalogue.hpp"

#include "paired_rounds.hpp"

#include <benchmark/benchmark.h>

#include <exception>
#include <utility>

namespace bench {
namespace {

void show_bar(benchmark::State& state, const outcome& result) {
    if (!result.bar)
        return;
    state.counters["bar"] = *result.bar;
    state.counters["met"] = result.meets_bar() ? 1 : 0;
}

void measure(benchmark::State& state, const paired_case& pair, const options& chosen,
             outcome& result) {
    const auto ours = pair.ours();
    const auto baseline = pair.baseline();
    paired_rounds rounds(*ours, *baseline, chosen.round, pair.equal_counts);
    for (auto round : state)
        state.SetIterationTime(rounds.run_one() * 1e-9);
    result.ratio = rounds.ratio();
    result.value = result.ratio->median;
    result.ours_ns = rounds.ours_ns().median;
    result.baseline_ns = rounds.baseline_ns().median;
    state.counters["ours_ns"] = result.ours_ns;
    state.counters["baseline_ns"] = result.baseline_ns;
    state.counters["ratio"] = result.value;
    state.counters["ratio_q1"] = result.ratio->first;
    state.counters["ratio_q3"] = result.ratio->third;
    state.counters["disturbed"] = static_cast<double>(rounds.disturbed());
}

void count(benchmark::State& state, const counted_case& counted, outcome& result) {
    for (auto round : state)
        result.value = counted.count();
    state.counters["value"] = result.value;
}

// A case that cannot run (no io_uring here, no permission) is reported and does not end the others.
template <class Body>
void run_guarded(benchmark::State& state, summary& results, outcome result, const Body& body) {
    try {
        state.SetLabel(result.baseline);
        body(result);
        show_bar(state, result);
    } catch (const std::exception& error) {
        result.failure = error.what();
        state.SkipWithError(error.what());
    }
    results.add(std::move(result));
}

} // namespace

void catalogue::add(paired_case pair) {
    const auto name = pair.name;
    const auto rounds = static_cast<benchmark::IterationCount>(chosen_.rounds);
    const auto body = [pair = std::move(pair), &chosen = chosen_,
                       &results = results_](benchmark::State& state) {
        const outcome blank{.name = pair.name, .baseline = pair.baseline_name, .bar = pair.bar};
        run_guarded(state, results, blank,
                    [&](outcome& result) { measure(state, pair, chosen, result); });
    };
    benchmark::RegisterBenchmark(name.c_str(), body)->Iterations(rounds)->UseManualTime();
}

void catalogue::add(counted_case counted) {
    const auto name = counted.name;
    const auto body = [counted = std::move(counted),
                       &results = results_](benchmark::State& state) {
        const outcome blank{.name = counted.name, .bar = counted.bar};
        run_guarded(state, results, blank,
                    [&](outcome& result) { count(state, counted, result); });
    };
    benchmark::RegisterBenchmark(name.c_str(), body)->Iterations(1);
}

} // namespace bench
