// Copies a file through two streams, checks the copy, and tells how it went. What surrounds that is
// in the folder of the same name.
#include "copy_file/allocations.hpp"
#include "copy_file/digest.hpp"
#include "copy_file/options.hpp"
#include "copy_file/progress_bar.hpp"
#include "copy_file/signals.hpp"
#include "copy_file/standard_streams.hpp"
#include "copy_file/target.hpp"

#include <sluice/sluice.hpp>

#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>

namespace {

using namespace copy_file;
using clock_type = std::chrono::steady_clock;
using executor = sluice::io_runtime::executor_type;

// The first reads and writes fill pools and start threads; those after them shall allocate nothing.
constexpr std::uint64_t warm_up = 32;

struct report {
    std::uint64_t bytes = 0;
    std::uint64_t operations = 0; // those whose allocations were counted
    std::uint64_t allocations = 0;
    double seconds = 0;
    double verify_seconds = 0;
    std::uint64_t digest = 0;
    bool verified = false;
};

double seconds_since(clock_type::time_point begin) {
    return std::chrono::duration<double>(clock_type::now() - begin).count();
}

// Until the source ends, whatever its length was.
sluice::task<void> copy(sluice::file_stream& from, sluice::file_stream& to,
                        std::span<std::byte> buffer, report& result, std::stop_token stop,
                        std::FILE* progress) {
    progress_bar bar(progress, from.can_seek() ? from.length() : 0);
    digest seen;
    std::uint64_t calls = 0;
    std::uint64_t allocations_before = 0;
    while (const std::size_t size = co_await from.read_async(buffer, stop)) {
        const auto piece = buffer.first(size);
        co_await to.write_async(piece, stop);
        seen.add(piece);
        result.bytes += size;
        bar.show(result.bytes);
        if ((calls += 2) == warm_up)
            allocations_before = allocations();
    }
    if (calls > warm_up) {
        result.operations = calls - warm_up;
        result.allocations = allocations() - allocations_before;
    }
    result.digest = seen.value();
}

sluice::task<std::uint64_t> digest_of(sluice::file_stream& file, std::span<std::byte> buffer,
                                      std::stop_token stop) {
    digest seen;
    while (const std::size_t size = co_await file.read_async(buffer, stop))
        seen.add(buffer.first(size));
    co_return seen.value();
}

sluice::task<report> run(executor ex, const options& wanted, std::stop_token stop,
                         std::FILE* progress) {
    report result;
    const auto begin = clock_type::now();
    const auto memory = std::make_unique_for_overwrite<std::byte[]>(wanted.buffer);
    const std::span buffer(memory.get(), wanted.buffer);

    // The source first: whoever has none must not lose a destination.
    auto from = co_await sluice::file_stream::open_async(
        ex, wanted.source, {.options = sluice::file_options::sequential_scan, .buffer_size = 0},
        stop);
    target place(wanted.destination, from.native_handle());
    auto to = co_await sluice::file_stream::open_async(ex, place.path(), place.options(), stop);
    place.opened();
    co_await copy(from, to, buffer, result, stop, progress);
    co_await to.close_async();
    co_await from.close_async();
    result.seconds = seconds_since(begin);

    if (wanted.verify && place.is_regular()) {
        const auto verify_begin = clock_type::now();
        auto written =
            co_await sluice::file_stream::open_async(ex, place.path(), {.buffer_size = 0}, stop);
        if (co_await digest_of(written, buffer, stop) != result.digest)
            throw std::runtime_error("verify '" + wanted.destination.native() +
                                     "': reading the copy back gave other bytes");
        co_await written.close_async();
        result.verify_seconds = seconds_since(verify_begin);
        result.verified = true;
    }
    place.commit();
    co_return result;
}

void print(std::FILE* to, const report& r, const options& wanted,
           const sluice::backend_info& backend) {
    const auto bytes = static_cast<double>(r.bytes);
    std::fprintf(to, "copied       %" PRIu64 " bytes (%s) in %.3f s, %s/s\n", r.bytes,
                 size_text(bytes).text, r.seconds, size_text(bytes / r.seconds).text);
    if (r.verified)
        std::fprintf(to,
                     "verified     the copy reads back the same in %.3f s, XXH64 %016" PRIx64 "\n",
                     r.verify_seconds, r.digest);
    else
        std::fprintf(to, "verified     no: %s\n",
                     wanted.verify ? "the destination is no regular file"
                                   : "--no-verify was given");
    std::fprintf(
        to, "backend      %s%s%s\n", sluice::name_of(backend.kind),
        backend.explanation.empty() ? "" : ", not io_uring: ", backend.explanation.c_str());
    if (!allocations_are_counted())
        std::fprintf(to, "allocations  not counted in this build\n");
    else if (r.operations == 0)
        std::fprintf(to, "allocations  not counted: fewer than %" PRIu64 " operations\n", warm_up);
    else
        std::fprintf(to,
                     "allocations  %.4f per operation (%" PRIu64 " in the %" PRIu64
                     " operations after warm-up)\n",
                     static_cast<double>(r.allocations) / static_cast<double>(r.operations),
                     r.allocations, r.operations);
}

// The new file beside the destination is our own affair: the user is told of the destination.
std::string words_for(const sluice::file_error& error, const options& wanted) {
    const bool in_target = error.path() != wanted.source;
    const auto& path = in_target ? wanted.destination : wanted.source;
    std::error_code ignored;
    // The library calls every directory "permission denied", as .NET does.
    const std::string reason = !in_target && std::filesystem::is_directory(path, ignored)
                                   ? std::strerror(EISDIR)
                                   : error.code().message();
    return std::string(error.operation()) + " '" + path.native() + "': " + reason;
}

// All of what was printed so far.
bool written(std::FILE* to) { return std::fflush(to) == 0 && std::ferror(to) == 0; }

std::string cannot_write(std::FILE* to) {
    return std::string("write to standard ") + (to == stdout ? "output: " : "error: ") +
           std::strerror(errno);
}

int fail(const std::string& why, int code) {
    std::fflush(stdout);
    std::fprintf(stderr, "copy_file: %s\n", why.c_str());
    return code;
}

} // namespace

int main(int argc, char** argv) {
    keep_standard_descriptors();
    static char output[BUFSIZ]; // or the first line would allocate one in the midst of counting
    std::setvbuf(stdout, output, _IOFBF, sizeof output);
    options wanted;
    try {
        wanted = parse(argc, argv);
    } catch (const wrong_usage& wrong) {
        return fail(std::string(wrong.what()) + " (see --help)", 2);
    }
    if (wanted.help) {
        std::fputs(help_text, stdout);
        return written(stdout) ? 0 : fail(cannot_write(stdout), 1);
    }
    try {
        const std::stop_token stop = stop_on_signals(&target::remove_leftover);
        std::FILE* const to = report_stream(wanted.destination);
        sluice::runtime_options how;
        how.backend = wanted.backend;
        how.worker_threads = 1; // one operation at a time is all that a copy asks for
        sluice::io_runtime runtime(how);
        const report result =
            sluice::sync_wait(runtime, run(runtime.get_executor(), wanted, stop, to));
        print(to, result, wanted, sluice::backend(runtime));
        return written(to) ? 0 : fail("copied, but: " + cannot_write(to), 3);
    } catch (const sluice::file_error& error) {
        if (const int signal = signal_received(); signal != 0)
            return fail("interrupted, nothing was copied", 128 + signal);
        return fail(words_for(error, wanted), 1);
    } catch (const std::exception& error) {
        return fail(error.what(), 1);
    }
}
