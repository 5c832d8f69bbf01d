// The verbs of a file stream in each of the calling styles, so that one test body serves all: made
// synchronously, awaited in a coroutine, with a callback started on the loop, with a callback
// started outside of it. Every verb answers a result and throws only for wrong arguments.
#pragma once

#include <sluice/runtime/file_stream.hpp>
#include <sluice/runtime/io_runtime.hpp>

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {

enum class calling { synchronous, awaited, callback, outside };

/// One row of the matrix. The backend comes from SLUICE_BACKEND, which ctest sets.
struct stream_way {
    calling style = calling::awaited;
    std::size_t buffer_size = 4096;
    resume_mode resume = resume_mode::inline_;
    bool through_backend = false; ///< nothing is finished inline
};
std::ostream& operator<<(std::ostream& out, const stream_way& way);

/// Every style with every buffer size, resume mode and budget; `buffered_ways`: those with a
/// buffer.
const std::vector<stream_way>& all_stream_ways();
const std::vector<stream_way>& buffered_ways();
const std::vector<stream_way>& unbuffered_ways();
/// A few that differ in everything that matters to a test that is about something else.
const std::vector<stream_way>& some_stream_ways();
const std::vector<stream_way>& asynchronous_ways();

runtime_options options_for(const stream_way& way);

class stream_driver {
public:
    explicit stream_driver(const stream_way& how, runtime_options options)
        : way(how), runtime(options) {}
    explicit stream_driver(const stream_way& how) : stream_driver(how, options_for(how)) {}

    /// `options.buffer_size` is the way's.
    result<file_stream> try_open(const std::string& path, open_options options = {});
    file_stream open(const std::string& path, file_mode mode = file_mode::open,
                     file_access access = file_access::read);
    file_stream adopt(int descriptor, file_access access) {
        return {runtime.get_executor(), descriptor, access, way.buffer_size};
    }

    result<std::size_t> read(file_stream& s, std::span<std::byte> buffer);
    result<std::size_t> read_at_least(file_stream& s, std::span<std::byte> buffer, std::size_t n);
    result<void> read_exactly(file_stream& s, std::span<std::byte> buffer);
    result<void> write(file_stream& s, std::span<const std::byte> data);
    result<void> write(file_stream& s, std::string_view text) {
        return write(s, std::as_bytes(std::span(text)));
    }
    result<void> flush(file_stream& s);
    result<void> sync(file_stream& s);
    result<void> sync_data(file_stream& s);
    result<void> set_length(file_stream& s, std::uint64_t length);
    result<void> lock(file_stream& s, std::uint64_t offset, std::uint64_t length);
    result<void> unlock(file_stream& s, std::uint64_t offset, std::uint64_t length);
    result<void> close(file_stream& s);
    /// The next byte, -1 at the end.
    int read_byte(file_stream& s);
    result<void> write_byte(file_stream& s, int value);
    /// One read of at most so many bytes, as text; throws what fails.
    std::string read_text(file_stream& s, std::size_t size);
    std::string read_to_end(file_stream& s, std::size_t piece = 1000);

    /// Waits for a task in the way's style (the synchronous one: awaited).
    template <class T>
    result<T> wait_for(value_task<T> task) {
        return asynchronous<T>([&] { return std::move(task); });
    }
    /// Runs a function where the style starts its operations: on the loop, or on this thread while
    /// nobody runs the loop. What it starts there is in flight when this returns, as far as it was
    /// not finished at once.
    void start(const std::function<void()>& body);
    /// Runs the loop until the condition holds.
    void run_until(const std::function<bool()>& condition);
    template <class T>
    result<T> asynchronous(const std::function<value_task<T>()>& start);

    const stream_way way;
    io_runtime runtime;

private:
    bool blocks() const noexcept { return way.style == calling::synchronous; }
};

extern template result<std::size_t>
stream_driver::asynchronous(const std::function<value_task<std::size_t>()>&);
extern template result<void> stream_driver::asynchronous(const std::function<value_task<void>()>&);
extern template result<file_stream>
stream_driver::asynchronous(const std::function<value_task<file_stream>()>&);

/// Bytes that are the same for the same size and seed, and differ from their neighbours.
std::string pattern_of(std::size_t size, unsigned seed = 1);
inline std::span<std::byte> bytes_in(std::string& text) {
    return std::as_writable_bytes(std::span(text));
}
inline std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
}

/// The code that a call throws as file_error; empty when it does not.
template <class Call>
error_code error_of(Call&& call) {
    try {
        call();
    } catch (const file_error& failure) {
        return failure.code();
    }
    return {};
}
inline error_code errno_code(int number) { return {number, boost::system::system_category()}; }

/// A test's seed: SLUICE_SEED or a random one; printed.
std::uint64_t seed_for_test();

} // namespace sluice::test

/// The result of a verb is this error: a sluice::errc, or an errno.
#define SLUICE_TEST_ERROR(result, code) \
    BOOST_TEST((result).error() == ::boost::system::error_code(code))
