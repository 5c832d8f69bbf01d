// Reads the file that is named by its argument, through the include prefix that users have.

#include <sluice/runtime/file_stream.hpp>
#include <sluice/sluice.hpp>

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>

namespace {

sluice::task<std::size_t> size_of(sluice::io_runtime::executor_type executor,
                                  std::filesystem::path path) {
    auto file = co_await sluice::file_stream::open_async(executor, path);
    std::array<std::byte, 512> buffer;
    std::size_t total = 0;
    while (auto size = co_await file.read_async(std::span(buffer)))
        total += size;
    co_await file.close_async();
    co_return total;
}

} // namespace

int main(int, char** argv) {
    sluice::io_runtime runtime;
    const auto size = sluice::sync_wait(runtime, size_of(runtime.get_executor(), argv[1]));
    return size == std::filesystem::file_size(argv[1]) ? 0 : 1;
}
