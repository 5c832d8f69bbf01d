#include "support/stream_driver.hpp"

#include <sluice/runtime/sync_wait.hpp>
#include <sluice/runtime/task.hpp>

#include <boost/asio/post.hpp>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <ostream>
#include <random>
#include <stdexcept>

namespace sluice::test {

namespace {

constexpr std::size_t buffer_sizes[] = {0, 1, 10, 4096, 65536};

template <class Keep>
std::vector<stream_way> ways_where(Keep keep) {
    std::vector<stream_way> ways;
    const auto add = [&](const stream_way& way) {
        if (keep(way))
            ways.push_back(way);
    };
    for (const std::size_t size : buffer_sizes) {
        add({calling::synchronous, size});
        for (const calling style : {calling::awaited, calling::callback, calling::outside})
            for (const resume_mode resume : {resume_mode::inline_, resume_mode::queued})
                for (const bool through_backend : {false, true})
                    add({style, size, resume, through_backend});
    }
    return ways;
}

template <class T>
task<result<T>> result_of(const std::function<value_task<T>()>& start) {
    co_return co_await start().as_result();
}

template <class T, class Call>
result<T> blocking(Call&& call) {
    try {
        if constexpr (std::is_void_v<T>) {
            call();
            return {};
        } else {
            return call();
        }
    } catch (const file_error& failure) {
        return failure.code();
    }
}

template <class T>
void keep_result(value_task<T> task, std::optional<result<T>>& kept, bool& done) {
    if constexpr (std::is_void_v<T>)
        std::move(task).on_completed([&](error_code code) {
            kept.emplace(code ? result<void>(code) : result<void>());
            done = true;
        });
    else
        std::move(task).on_completed([&](error_code code, T value) {
            if (code)
                kept.emplace(code);
            else
                kept.emplace(std::move(value));
            done = true;
        });
}

} // namespace

std::ostream& operator<<(std::ostream& out, const stream_way& way) {
    static constexpr const char* styles[] = {"synchronous", "awaited", "callback", "outside"};
    return out << styles[static_cast<int>(way.style)] << ", buffer " << way.buffer_size
               << (way.resume == resume_mode::queued ? ", queued" : "")
               << (way.through_backend ? ", through the backend" : "");
}

const std::vector<stream_way>& all_stream_ways() {
    static const auto ways = ways_where([](const stream_way&) { return true; });
    return ways;
}
const std::vector<stream_way>& buffered_ways() {
    static const auto ways = ways_where([](const stream_way& w) { return w.buffer_size > 1; });
    return ways;
}
const std::vector<stream_way>& unbuffered_ways() {
    static const auto ways = ways_where([](const stream_way& w) { return w.buffer_size == 0; });
    return ways;
}
const std::vector<stream_way>& asynchronous_ways() {
    static const auto ways =
        ways_where([](const stream_way& w) { return w.style != calling::synchronous; });
    return ways;
}
const std::vector<stream_way>& some_stream_ways() {
    static const std::vector<stream_way> ways = {
        {calling::synchronous, 0},
        {calling::synchronous, 10},
        {calling::awaited, 0, resume_mode::inline_, false},
        {calling::awaited, 0, resume_mode::queued, true},
        {calling::callback, 10, resume_mode::inline_, true},
        {calling::outside, 4096, resume_mode::queued, false},
        {calling::outside, 0, resume_mode::inline_, true},
    };
    return ways;
}

runtime_options options_for(const stream_way& way) {
    runtime_options options;
    options.resume = way.resume;
    if (way.through_backend)
        options.inline_budget.completions = 0;
    return options;
}

template <class T>
result<T> stream_driver::asynchronous(const std::function<value_task<T>()>& start) {
    if (way.style == calling::awaited || blocks())
        return sync_wait(runtime, result_of<T>(start));
    std::optional<result<T>> kept;
    bool done = false;
    if (way.style == calling::outside)
        keep_result(start(), kept, done);
    else
        boost::asio::post(runtime.get_executor(), [&] { keep_result(start(), kept, done); });
    runtime.loop().run_until(completion::time_point::max(),
                             completion::loop::waiting_rule::exclusive, &done);
    if (!done)
        throw std::runtime_error("the loop ended before the operation");
    return std::move(*kept);
}
template result<std::size_t>
stream_driver::asynchronous(const std::function<value_task<std::size_t>()>&);
template result<void> stream_driver::asynchronous(const std::function<value_task<void>()>&);
template result<file_stream>
stream_driver::asynchronous(const std::function<value_task<file_stream>()>&);

void stream_driver::start(const std::function<void()>& body) {
    if (way.style == calling::outside || blocks())
        return body();
    bool done = false;
    boost::asio::post(runtime.get_executor(), [&] {
        body();
        done = true;
    });
    runtime.loop().run_until(completion::time_point::max(),
                             completion::loop::waiting_rule::exclusive, &done);
}

void stream_driver::run_until(const std::function<bool()>& condition) {
    while (!condition())
        runtime.run_for(std::chrono::milliseconds(1));
}

result<file_stream> stream_driver::try_open(const std::string& path, open_options options) {
    options.buffer_size = way.buffer_size;
    if (blocks())
        return file_stream::try_open(runtime.get_executor(), path, options);
    return asynchronous<file_stream>(
        [&] { return file_stream::open_async(runtime.get_executor(), path, options); });
}

file_stream stream_driver::open(const std::string& path, file_mode mode, file_access access) {
    auto opened = try_open(path, {.mode = mode, .access = access});
    if (!opened)
        throw boost::system::system_error(opened.error(), "open " + path);
    return std::move(*opened);
}

// --- verbs ---

result<std::size_t> stream_driver::read(file_stream& s, std::span<std::byte> buffer) {
    if (blocks())
        return blocking<std::size_t>([&] { return s.read(buffer); });
    return asynchronous<std::size_t>([&] { return s.read_async(buffer); });
}
result<std::size_t> stream_driver::read_at_least(file_stream& s, std::span<std::byte> buffer,
                                                 std::size_t n) {
    if (blocks())
        return blocking<std::size_t>([&] { return s.read_at_least(buffer, n); });
    return asynchronous<std::size_t>([&] { return s.read_at_least_async(buffer, n); });
}
result<void> stream_driver::read_exactly(file_stream& s, std::span<std::byte> buffer) {
    if (blocks())
        return blocking<void>([&] { s.read_exactly(buffer); });
    return asynchronous<void>([&] { return s.read_exactly_async(buffer); });
}
result<void> stream_driver::write(file_stream& s, std::span<const std::byte> data) {
    if (blocks())
        return blocking<void>([&] { s.write(data); });
    return asynchronous<void>([&] { return s.write_async(data); });
}
result<void> stream_driver::flush(file_stream& s) {
    if (blocks())
        return blocking<void>([&] { s.flush(); });
    return asynchronous<void>([&] { return s.flush_async(); });
}
result<void> stream_driver::sync(file_stream& s) {
    if (blocks())
        return blocking<void>([&] { s.flush(true); });
    return asynchronous<void>([&] { return s.sync_async(); });
}
result<void> stream_driver::sync_data(file_stream& s) {
    if (blocks())
        return blocking<void>([&] { s.sync_data(); });
    return asynchronous<void>([&] { return s.sync_data_async(); });
}
result<void> stream_driver::set_length(file_stream& s, std::uint64_t length) {
    if (blocks())
        return blocking<void>([&] { s.set_length(length); });
    return asynchronous<void>([&] { return s.set_length_async(length); });
}
result<void> stream_driver::lock(file_stream& s, std::uint64_t offset, std::uint64_t length) {
    if (blocks())
        return blocking<void>([&] { s.lock(offset, length); });
    return asynchronous<void>([&] { return s.lock_async(offset, length); });
}
result<void> stream_driver::unlock(file_stream& s, std::uint64_t offset, std::uint64_t length) {
    if (blocks())
        return blocking<void>([&] { s.unlock(offset, length); });
    return asynchronous<void>([&] { return s.unlock_async(offset, length); });
}
result<void> stream_driver::close(file_stream& s) {
    if (blocks())
        return blocking<void>([&] { s.close(); });
    return asynchronous<void>([&] { return s.close_async(); });
}

int stream_driver::read_byte(file_stream& s) {
    if (blocks())
        return s.read_byte();
    std::byte one{};
    return read(s, {&one, 1}).value() == 0 ? -1 : static_cast<int>(one);
}

result<void> stream_driver::write_byte(file_stream& s, int value) {
    const auto one = static_cast<std::byte>(value);
    if (blocks())
        return blocking<void>([&] { s.write_byte(one); });
    return write(s, std::span(&one, 1));
}

std::string stream_driver::read_text(file_stream& s, std::size_t size) {
    std::string text(size, '\0');
    text.resize(read(s, bytes_in(text)).value());
    return text;
}

std::string stream_driver::read_to_end(file_stream& s, std::size_t piece) {
    std::string all;
    for (std::string part = read_text(s, piece); !part.empty(); part = read_text(s, piece))
        all += part;
    return all;
}

// --- data ---

std::string pattern_of(std::size_t size, unsigned seed) {
    std::string text(size, '\0');
    std::uint32_t state = seed * 2654435761u + 1;
    for (char& c : text) {
        state = state * 1664525u + 1013904223u;
        c = static_cast<char>(state >> 24);
    }
    return text;
}

std::uint64_t seed_for_test() {
    const char* given = std::getenv("SLUICE_SEED");
    const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "SLUICE_SEED=" << seed << '\n';
    return seed;
}

} // namespace sluice::test
