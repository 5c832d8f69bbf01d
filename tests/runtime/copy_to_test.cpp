// copy_to and copy_to_async: what arrives, where both streams stand afterwards, and how it ends.
#include <sluice/sluice.hpp>

#include "support/pipe_ends.hpp"
#include "support/temp_folder.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <unistd.h>

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
namespace data = boost::unit_test::data;

std::string pattern(std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i)
        text[i] = static_cast<char>(i * 7 + i / 251);
    return text;
}

constexpr open_options for_writing{.mode = file_mode::create, .access = file_access::write};

struct fixture {
    temp_folder folder;
    io_runtime runtime;

    file_stream source(std::size_t size, std::size_t buffer_size = 4096) {
        const std::string path = folder.make("source", pattern(size));
        return file_stream::open(runtime.get_executor(), path, {.buffer_size = buffer_size});
    }
    file_stream destination(std::size_t buffer_size = 4096) {
        open_options options = for_writing;
        options.buffer_size = buffer_size;
        return file_stream::open(runtime.get_executor(), folder / "destination", options);
    }
    std::string copied() const { return temp_folder::content_of(folder / "destination"); }

    std::uint64_t copy(bool synchronous, file_stream& from, file_stream& to,
                       const copy_options& options = {}) {
        return synchronous ? from.copy_to(to, options)
                           : sync_wait(runtime, from.copy_to_async(to, options));
    }
};

// The code of what `call` throws, and whether it names `path`.
template <class Call>
error_code code_thrown(Call call, const std::string& path = "") {
    try {
        call();
    } catch (const file_error& error) {
        BOOST_TEST(error.path().native() == path);
        return error.code();
    }
    BOOST_ERROR("nothing was thrown");
    return {};
}

const auto both_ways = data::make({false, true});
const auto buffer_sizes = data::make<std::size_t>({0, 10, 4096, 65536});

BOOST_FIXTURE_TEST_SUITE(copy_to, fixture)

BOOST_DATA_TEST_CASE_F(fixture, everything_arrives,
                       both_ways* buffer_sizes* data::make<std::size_t>({0, 1, 4095, 4097, 700001}),
                       synchronous, buffer_size, size) {
    auto from = source(size, buffer_size);
    auto to = destination(buffer_size);
    BOOST_TEST(copy(synchronous, from, to) == size);
    BOOST_TEST(from.position() == size);
    BOOST_TEST(to.position() == size);
    BOOST_TEST(copy(synchronous, from, to) == 0u);
    to.close();
    BOOST_TEST((copied() == pattern(size)));
}

BOOST_DATA_TEST_CASE_F(fixture, pieces_and_progress,
                       both_ways* data::make<std::size_t>({1000, 4096, 65536, 1u << 20}),
                       synchronous, piece) {
    constexpr std::size_t size = 100000;
    auto from = source(size);
    auto to = destination();
    std::uint64_t last = 0;
    unsigned calls = 0;
    auto note = [&](std::uint64_t done) {
        BOOST_TEST(done > last);
        last = done;
        ++calls;
    };
    BOOST_TEST(copy(synchronous, from, to, {.buffer_size = piece, .progress = note}) == size);
    BOOST_TEST(last == size);
    BOOST_TEST(calls == (size + piece - 1) / piece);
    to.close();
    BOOST_TEST((copied() == pattern(size)));
}

BOOST_DATA_TEST_CASE_F(fixture, begins_at_the_position_with_what_is_in_the_buffer, both_ways,
                       synchronous) {
    auto from = source(20000);
    auto to = destination();
    std::string first(5, '\0');
    from.read_exactly(std::as_writable_bytes(std::span(first)));
    to.write(first);
    BOOST_TEST(copy(synchronous, from, to) == 19995u);
    to.close();
    BOOST_TEST((copied() == pattern(20000)));
}

BOOST_DATA_TEST_CASE_F(fixture, what_is_pending_in_the_source_is_written_first, both_ways,
                       synchronous) {
    const std::string path = folder.make("source", "0123456789");
    auto from =
        file_stream::open(runtime.get_executor(), path, {.access = file_access::read_write});
    auto to = destination();
    from.write("abc");
    BOOST_TEST(copy(synchronous, from, to) == 7u);
    to.close();
    BOOST_TEST(copied() == "3456789");
    BOOST_TEST(temp_folder::content_of(path) == "abc3456789");
}

BOOST_DATA_TEST_CASE_F(fixture, a_file_whose_length_says_nothing, both_ways, synchronous) {
    auto from = file_stream::open(runtime.get_executor(), "/proc/self/maps");
    auto to = destination();
    BOOST_TEST(copy(synchronous, from, to) > 100u);
}

BOOST_DATA_TEST_CASE_F(fixture, what_cannot_be_copied_is_said_first, both_ways, synchronous) {
    auto from = source(10);
    auto to = destination();
    auto read_only = source(10);
    auto write_only = file_stream::open(runtime.get_executor(), folder / "other", for_writing);
    auto closed = file_stream::open(runtime.get_executor(), folder / "closed", for_writing);
    closed.close();
    file_stream never_opened;
    const auto code = [&](file_stream& a, file_stream& b, const std::string& path) {
        return code_thrown([&] { copy(synchronous, a, b); }, path);
    };
    BOOST_TEST((code(write_only, to, folder / "other") == errc::not_readable));
    BOOST_TEST((code(from, read_only, folder / "source") == errc::not_writable));
    BOOST_TEST((code(from, closed, folder / "closed") == errc::closed));
    BOOST_TEST((code(closed, to, folder / "closed") == errc::closed));
    BOOST_TEST((code(never_opened, to, "") == errc::closed));
    BOOST_TEST((code(from, never_opened, "") == errc::closed));
    BOOST_CHECK_THROW(copy(synchronous, from, from), std::invalid_argument);
    BOOST_TEST(copy(synchronous, from, to) == 10u);
}

BOOST_DATA_TEST_CASE_F(fixture, a_failed_write_names_the_destination,
                       both_ways* data::make<std::size_t>({0, 4096}), synchronous, buffer_size) {
    auto from = source(50000, buffer_size);
    auto to = file_stream::open(runtime.get_executor(), "/dev/full",
                                {.access = file_access::write, .buffer_size = 0});
    const error_code code = code_thrown([&] { copy(synchronous, from, to); }, "/dev/full");
    BOOST_TEST(code.value() == ENOSPC);
    BOOST_TEST(from.position() == 0u); // nothing arrived
}

BOOST_DATA_TEST_CASE_F(fixture, a_failed_progress_is_passed_on, both_ways, synchronous) {
    auto from = source(50000);
    auto to = destination();
    auto fail = [](std::uint64_t done) {
        if (done >= 20000)
            throw std::runtime_error("enough");
    };
    BOOST_CHECK_THROW(copy(synchronous, from, to, {.buffer_size = 10000, .progress = fail}),
                      std::runtime_error);
    BOOST_TEST(from.position() == 20000u);
    BOOST_TEST(to.position() == 20000u);
}

// --- asynchronous only ---

BOOST_AUTO_TEST_CASE(stopped_before_the_start) {
    auto from = source(100);
    auto to = destination();
    std::stop_source stop;
    stop.request_stop();
    auto copy = from.copy_to_async(to, {}, stop.get_token());
    BOOST_TEST((copy.get_result().error() == cancelled_error()));
    BOOST_TEST(from.position() == 0u);
}

BOOST_DATA_TEST_CASE_F(fixture, stopped_in_between_both_stand_where_the_bytes_ended, buffer_sizes,
                       buffer_size) {
    auto from = source(500000, buffer_size);
    auto to = destination(buffer_size);
    std::stop_source stop;
    auto halt = [&](std::uint64_t done) {
        if (done >= 100000)
            stop.request_stop();
    };
    const error_code code = code_thrown(
        [&] {
            sync_wait(runtime, from.copy_to_async(to, {.buffer_size = 7000, .progress = halt},
                                                  stop.get_token()));
        },
        folder / "source");
    BOOST_TEST((code == cancelled_error()));
    BOOST_TEST(from.position() == 105000u);
    BOOST_TEST(to.position() == 105000u);
    BOOST_TEST(sync_wait(runtime, from.copy_to_async(to)) == 395000u);
    to.close();
    BOOST_TEST((copied() == pattern(500000)));
}

// A pipe that nobody writes to: a copy that waits until the test ends it.
struct waiting_copy : fixture {
    pipe_ends pipe;
    file_stream from{runtime.get_executor(), ::dup(pipe.source.descriptor), file_access::read};
    file_stream to = destination();

    void expect(value_task<std::uint64_t> copy, error_code code) {
        runtime.restart();
        runtime.run_for(5s);
        BOOST_REQUIRE(copy.is_completed());
        const result<std::uint64_t> ended = copy.get_result();
        BOOST_TEST((ended.error() == code), ended.error().message());
    }
};

BOOST_FIXTURE_TEST_CASE(a_deadline_ends_it, waiting_copy) {
    expect(from.copy_to_async(to).within(20ms), make_error_code(errc::timed_out));
}

BOOST_FIXTURE_TEST_CASE(a_stop_from_another_thread_ends_it, waiting_copy) {
    std::stop_source stop;
    auto copy = from.copy_to_async(to, {}, stop.get_token());
    runtime.poll(); // it waits now
    const std::jthread elsewhere([&] { stop.request_stop(); });
    expect(std::move(copy), cancelled_error());
}

BOOST_FIXTURE_TEST_CASE(cancelling_either_stream_ends_it, waiting_copy) {
    for (file_stream* stream : {&from, &to}) {
        auto copy = from.copy_to_async(to);
        runtime.poll();
        stream->cancel();
        expect(std::move(copy), cancelled_error());
    }
}

BOOST_FIXTURE_TEST_CASE(destroying_either_stream_ends_it, waiting_copy) {
    auto copy = from.copy_to_async(to);
    runtime.poll();
    {
        const file_stream gone(std::move(to));
    }
    expect(std::move(copy), cancelled_error());
    to = destination();
    auto second = from.copy_to_async(to);
    runtime.poll();
    {
        const file_stream gone(std::move(from));
    }
    expect(std::move(second), cancelled_error());
}

BOOST_FIXTURE_TEST_CASE(the_streams_are_busy_meanwhile, waiting_copy) {
    std::stop_source stop;
    auto copy = from.copy_to_async(to, {}, stop.get_token());
    runtime.poll();
    const auto code = code_thrown([&] { to.write("x"); }, folder / "destination");
    BOOST_TEST((code == errc::operation_in_progress));
    BOOST_TEST((code_thrown([&] { from.close(); }) == errc::operation_in_progress));
    stop.request_stop();
    expect(std::move(copy), cancelled_error());
    to.write("x");
    to.close();
    BOOST_TEST(copied() == "x");
}

BOOST_FIXTURE_TEST_CASE(whoever_waits_is_destroyed, waiting_copy) {
    const auto wait = [](file_stream source, file_stream target) -> task<void> {
        co_await source.copy_to_async(target);
    };
    {
        io_runtime other;
        file_stream source(other.get_executor(), ::dup(pipe.source.descriptor), file_access::read);
        auto target = file_stream::open(other.get_executor(), folder / "other", for_writing);
        spawn(other.get_executor(), wait(std::move(source), std::move(target)));
        other.poll();
    }
    {
        io_runtime other; // not even begun
        file_stream source(other.get_executor(), ::dup(pipe.source.descriptor), file_access::read);
        auto target = file_stream::open(other.get_executor(), folder / "other", for_writing);
        auto copy = source.copy_to_async(target);
    }
}

BOOST_FIXTURE_TEST_CASE(a_pipe_to_its_end, waiting_copy) {
    auto copy = from.copy_to_async(to);
    runtime.poll();
    BOOST_REQUIRE(::write(pipe.target.descriptor, "hello", 5) == 5);
    runtime.run_for(20ms);
    BOOST_TEST(!copy.is_completed());
    pipe.close_target();
    runtime.restart();
    runtime.run_for(5s);
    BOOST_REQUIRE(copy.is_completed());
    BOOST_TEST(copy.get() == 5u);
    to.close();
    BOOST_TEST(copied() == "hello");
}

BOOST_AUTO_TEST_CASE(into_a_stream_of_another_runtime) {
    io_runtime other;
    auto from = source(300000);
    auto to = file_stream::open(other.get_executor(), folder / "destination", for_writing);
    auto work = boost::asio::require(other.get_executor(),
                                     boost::asio::execution::outstanding_work.tracked);
    std::jthread runs([&] { other.run(); });
    BOOST_TEST(sync_wait(runtime, from.copy_to_async(to, {.buffer_size = 1000})) == 300000u);
    other.stop();
    runs.join();
    to.close();
    BOOST_TEST((copied() == pattern(300000)));
}

BOOST_AUTO_TEST_CASE(two_at_once_from_one_loop) {
    auto from = source(300000);
    auto second = file_stream::open(runtime.get_executor(), folder / "source");
    auto to = destination();
    auto other = file_stream::open(runtime.get_executor(), folder / "other", for_writing);
    const auto both = [&]() -> task<void> {
        co_await when_all(from.copy_to_async(to, {.buffer_size = 5000}),
                          second.copy_to_async(other, {.buffer_size = 3000}));
    };
    sync_wait(runtime, both());
    to.close();
    other.close();
    BOOST_TEST((copied() == pattern(300000)));
    BOOST_TEST((temp_folder::content_of(folder / "other") == pattern(300000)));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace sluice::test
