#include "options.hpp"

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

namespace copy_file {

const char help_text[] =
    R"(Usage: copy_file SOURCE DESTINATION [--buffer BYTES] [--backend NAME] [--no-verify]

Copies a file, checks the copy by reading it back, and tells how it went.

  --buffer BYTES   read and write so many bytes at a time (default 256K; K, M and G are understood)
  --backend NAME   auto (default), uring or threads
  --no-verify      do not read the copy back
  --help           print this

The copy is written to a new file beside DESTINATION and takes its name when it is complete and
checked. So whatever happens before that, an existing DESTINATION stays as it was, and what was
copied so far is removed. In the end it is a new file: with the permissions of the old one (of
SOURCE, if there was none), owned by the caller; other hard links keep the old content, a symbolic
link keeps pointing to it. It is not forced to the disk. A device, pipe or terminal is written to
directly and can not be checked. Progress and report go to standard output, or to standard error
where the copy goes to standard output.

Exit code: 0 copied, 1 not copied, 2 wrong usage, 3 copied but the report could not be written,
128 + N ended by signal N.
)";

namespace {

std::size_t parse_bytes(std::string_view text) {
    constexpr std::size_t most = std::size_t{1} << 30;
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    const std::size_t factor = unit.empty()                 ? 1
                               : unit == "k" || unit == "K" ? std::size_t{1} << 10
                               : unit == "m" || unit == "M" ? std::size_t{1} << 20
                               : unit == "g" || unit == "G" ? std::size_t{1} << 30
                                                            : 0;
    if (error != std::errc() || factor == 0 || value == 0 || value > most / factor)
        throw wrong_usage("--buffer takes a number of bytes, from 1 to 1G, not '" +
                          std::string(text) + "'");
    return value * factor;
}

sluice::backend_choice parse_backend(std::string_view name) {
    if (name == "auto")
        return sluice::backend_choice::auto_;
    if (name == "uring")
        return sluice::backend_choice::uring;
    if (name == "threads")
        return sluice::backend_choice::threads;
    throw wrong_usage("--backend takes auto, uring or threads, not '" + std::string(name) + "'");
}

} // namespace

options parse(int argc, char** argv) {
    options result;
    std::vector<std::filesystem::path> files;
    bool only_files = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (only_files || argument.empty() || argument[0] != '-') {
            files.emplace_back(argument);
            continue;
        }
        const std::size_t equals = argument.find('=');
        const std::string_view name = argument.substr(0, equals);
        const auto value = [&]() -> std::string_view {
            if (equals != std::string_view::npos)
                return argument.substr(equals + 1);
            if (i + 1 == argc)
                throw wrong_usage(std::string(name) + " needs a value");
            return argv[++i];
        };
        if (name == "--buffer")
            result.buffer = parse_bytes(value());
        else if (name == "--backend")
            result.backend = parse_backend(value());
        else if (argument == "--no-verify")
            result.verify = false;
        else if (argument == "--help" || argument == "-h")
            result.help = true;
        else if (argument == "--")
            only_files = true;
        else
            throw wrong_usage("there is no option '" + std::string(argument) + "'");
    }
    if (result.help)
        return result;
    if (files.size() != 2 || files[0].empty() || files[1].empty())
        throw wrong_usage("a source and a destination are needed");
    result.source = files[0];
    result.destination = files[1];
    return result;
}

} // namespace copy_file
