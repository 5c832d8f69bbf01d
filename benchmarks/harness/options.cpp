#include "options.hpp"

#include <sched.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace bench {
namespace {

constexpr const char* help =
    R"(sluice_benchmarks: what an operation costs, as a ratio to the plain call, in one run

  --directory=PATH          folder for the scratch files (default: the program's own folder);
                            a page-cached file system on a disk, ext4 for comparable numbers
  --rounds=N                rounds of each pair (default 101); every round runs both sides,
                            in alternating order
  --round-ms=N              length of one side of a round in milliseconds (default 1)
  --pin=CPU                 stay on one processor (default: the scheduler decides)
  --strict                  exit with 1 when a bar is missed or a case with a bar did not run
  --help                    this text

  --benchmark_filter=REGEX          only the cases that match, such as 'read_512' or '/sluice'
  --benchmark_list_tests            names only
  --benchmark_out=FILE              results as JSON (table.py makes a Markdown table of it)
  --benchmark_format=console|json   what standard output gets; with json the summary table goes
                                    to standard error
  and the other options of Google Benchmark, except those that decide the number of iterations:
  an iteration is one round of a pair here.

A case is named OPERATION/CONTENDER and measured against the baseline in its label. "ours" is the
contender. The ratio is the median over the rounds, [q1, q3] its quartiles; ns are medians too.
A round in which the scheduler took the processor away is measured again, up to five times; the
counter "disturbed" has the rounds that stayed so.
noise/preadv2 compares a call with itself: its spread is what this machine can tell apart.
)";

// The value of `--name=value` when `argument` is that option.
std::optional<std::string_view> value_of(std::string_view argument, std::string_view name) {
    if (!argument.starts_with(name) || !argument.substr(name.size()).starts_with('='))
        return std::nullopt;
    return argument.substr(name.size() + 1);
}

int number(std::string_view text, int least, const char* name) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least)
        throw std::invalid_argument(std::string(name) + " wants a number of at least " +
                                    std::to_string(least) + ", not \"" + std::string(text) + '"');
    return value;
}

bool take_one(options& taken, std::string_view argument) {
    if (const auto folder = value_of(argument, "--directory"))
        taken.directory = *folder;
    else if (const auto rounds = value_of(argument, "--rounds"))
        taken.rounds = static_cast<std::size_t>(number(*rounds, 1, "--rounds"));
    else if (const auto length = value_of(argument, "--round-ms"))
        taken.round = std::chrono::milliseconds(number(*length, 1, "--round-ms"));
    else if (const auto processor = value_of(argument, "--pin"))
        taken.processor = number(*processor, 0, "--pin");
    else if (argument == "--strict")
        taken.strict = true;
    else
        return false;
    return true;
}

bool asks_for_data(std::string_view format) { return format == "json" || format == "csv"; }

} // namespace

options take_options(int& count, char** arguments) {
    options taken;
    taken.directory = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    if (const char* format = std::getenv("BENCHMARK_FORMAT"))
        taken.prints_json_or_csv = asks_for_data(format);
    int kept = 1;
    for (int index = 1; index < count; ++index) {
        if (const auto format = value_of(arguments[index], "--benchmark_format"))
            taken.prints_json_or_csv = asks_for_data(*format);
        if (!take_one(taken, arguments[index]))
            arguments[kept++] = arguments[index];
    }
    count = kept;
    arguments[count] = nullptr;
    return taken;
}

void print_help() { std::fputs(help, stdout); }

void pin_to(int processor) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (processor < CPU_SETSIZE)
        CPU_SET(static_cast<std::size_t>(processor), &allowed);
    if (sched_setaffinity(0, sizeof allowed, &allowed) != 0)
        throw std::system_error(errno, std::generic_category(),
                                "--pin=" + std::to_string(processor));
}

} // namespace bench
