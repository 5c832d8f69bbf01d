// Command line of the benchmark: our options first, what is left goes to Google Benchmark.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>

namespace bench {

struct options {
    std::filesystem::path directory;        ///< where the scratch files live
    std::size_t rounds = 101;               ///< of each pair
    std::chrono::milliseconds round{1};     ///< length of one side of a round
    std::optional<int> processor;           ///< to stay on
    bool strict = false;                    ///< a missed bar fails the program
    bool prints_json_or_csv = false;        ///< standard output must hold nothing else
};

/// Removes what it understood from the arguments. Throws std::invalid_argument.
options take_options(int& count, char** arguments);

void print_help();

/// Throws std::system_error when the processor does not exist.
void pin_to(int processor);

} // namespace bench
