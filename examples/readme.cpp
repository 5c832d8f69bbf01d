#include <sluice/sluice.hpp>
#include <array>
#include <cstdio>

sluice::task<void> print_file(sluice::io_runtime& runtime, std::filesystem::path path) {
    auto file = co_await sluice::file_stream::open_async(runtime.get_executor(), path);
    std::array<char, 16384> text;
    while (auto size = co_await file.read_async(std::as_writable_bytes(std::span(text))))
        std::fwrite(text.data(), 1, size, stdout);
    co_await file.close_async();
}

int main(int argc, char** argv) try {
    sluice::io_runtime runtime;
    for (int i = 1; i < argc; ++i)
        sluice::sync_wait(runtime, print_file(runtime, argv[i]));
} catch (const std::exception& error) { // what a file refuses is a sluice::file_error
    return std::fprintf(stderr, "%s\n", error.what()), 1;
}
