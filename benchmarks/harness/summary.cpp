#include "summary.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace bench {
namespace {

template <class... Values>
std::string formatted(const char* format, Values... values) {
    char text[256];
    const int length = std::snprintf(text, sizeof text, format, values...);
    return {text, std::min(static_cast<std::size_t>(length), sizeof text - 1)};
}

std::string verdict(const outcome& result) {
    if (!result.bar)
        return "";
    return result.meets_bar() ? "yes" : "NO";
}

std::string row(const outcome& result, int width) {
    const auto name = formatted("%-*s", width, result.name.c_str());
    if (!result.ran())
        return name + "  did not run: " + result.failure + '\n';
    const auto bar = result.bar ? formatted("%8.2f", *result.bar) : std::string(8, ' ');
    if (!result.ratio)
        return name + formatted(" %42.3f %s %4s\n", result.value, bar.c_str(),
                                verdict(result).c_str());
    return name
           + formatted(" %10.1f %10.1f %6.3f [%5.3f, %5.3f] %s %4s  %s\n", result.ours_ns,
                       result.baseline_ns, result.value, result.ratio->first,
                       result.ratio->third, bar.c_str(), verdict(result).c_str(),
                       result.baseline.c_str());
}

} // namespace

bool summary::meets_every_bar() const {
    return std::ranges::all_of(results_, [](const outcome& result) {
        return result.bar ? result.meets_bar() : true;
    });
}

std::string summary::table() const {
    if (results_.empty())
        return {};
    std::size_t width = 4;
    for (const auto& result : results_)
        width = std::max(width, result.name.size());
    const auto columns = static_cast<int>(width);
    std::string text = formatted("%-*s %10s %10s %6s %14s %9s %4s  %s\n", columns, "case",
                                 "ours ns", "base ns", "ratio", "[q1, q3]", "bar", "met",
                                 "baseline");
    for (const auto& result : results_)
        text += row(result, columns);
    return text;
}

} // namespace bench
