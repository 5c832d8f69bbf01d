// Cancelling operations of a stream: stop tokens, deadlines, cancel(), from other threads too (B01,
// B03, B04). Each operation ends exactly once.
#include "support/fault_script.hpp"
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <random>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
namespace data = boost::unit_test::data;
using namespace std::chrono_literals;

struct fixture {
    int ends[2];
    fixture() { BOOST_REQUIRE(pipe2(ends, O_CLOEXEC) == 0); }
    ~fixture() {
        ::close(ends[0]);
        ::close(ends[1]);
    }
    file_stream source(stream_driver& drive) {
        return drive.adopt(dup(ends[0]), file_access::read);
    }
    file_stream target(stream_driver& drive) {
        return drive.adopt(dup(ends[1]), file_access::write);
    }
    void put(std::string_view text) {
        BOOST_REQUIRE(::write(ends[1], text.data(), text.size()) ==
                      static_cast<ssize_t>(text.size()));
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(stream_cancels, fixture)

BOOST_DATA_TEST_CASE_F(fixture, stopped_while_it_waits, data::make(asynchronous_ways()), way) {
    stream_driver drive(way);
    auto s = source(drive);
    std::stop_source stop;
    std::string buffer(4, '.');
    value_task<std::size_t> read;
    drive.start([&] { read = s.read_async(bytes_in(buffer), stop.get_token()); });
    BOOST_TEST(!read.is_completed());
    drive.start([&] { stop.request_stop(); });
    SLUICE_TEST_ERROR(drive.wait_for(std::move(read)), cancelled_error());
    put("abcd");
    BOOST_TEST(buffer == "....");
    BOOST_TEST(drive.read_text(s, 4) == "abcd");
    BOOST_TEST(statistics(drive.runtime).cancelled == 1u);
}

BOOST_DATA_TEST_CASE_F(fixture, stopped_by_another_thread, data::make(asynchronous_ways()), way) {
    stream_driver drive(way);
    auto s = source(drive);
    for (int round = 0; round < 20; ++round) {
        std::stop_source stop;
        std::string buffer(4, '.');
        value_task<std::size_t> read;
        drive.start([&] { read = s.read_async(bytes_in(buffer), stop.get_token()); });
        std::thread other([&] { stop.request_stop(); });
        SLUICE_TEST_ERROR(drive.wait_for(std::move(read)), cancelled_error());
        other.join();
    }
    put("abcd");
    BOOST_TEST(drive.read_text(s, 4) == "abcd");
}

BOOST_DATA_TEST_CASE_F(fixture, stopped_after_the_end, data::make(asynchronous_ways()), way) {
    stream_driver drive(way);
    auto s = source(drive);
    std::stop_source stop;
    std::string buffer(4, '.');
    put("abcd");
    BOOST_TEST(drive.wait_for(s.read_async(bytes_in(buffer), stop.get_token())).value() == 4u);
    value_task<std::size_t> next;
    std::string second(4, '.');
    drive.start([&] { next = s.read_async(bytes_in(second)); });
    stop.request_stop(); // must not hit the next one, whose source may be the same
    put("efgh");
    BOOST_TEST(drive.wait_for(std::move(next)).value() == 4u);
    BOOST_TEST(second == "efgh");
}

// The race is normal: success or cancelled, once, and every byte is somewhere.
BOOST_DATA_TEST_CASE_F(fixture, stopped_at_any_time, data::make(some_stream_ways()), way) {
    std::mt19937_64 random(seed_for_test());
    stream_driver drive(way);
    auto s = source(drive);
    std::string got, sent;
    for (int round = 0; round < 300; ++round) {
        std::stop_source stop;
        std::string buffer(1, '.');
        value_task<std::size_t> read;
        drive.start([&] { read = s.read_async(bytes_in(buffer), stop.get_token()); });
        const bool stops_first = random() % 2 == 0;
        std::thread other([&, byte = static_cast<char>('a' + round % 26)] {
            if (stops_first)
                stop.request_stop();
            sent += byte;
            put(std::string(1, byte));
            stop.request_stop();
        });
        const auto ended = drive.wait_for(std::move(read));
        other.join();
        BOOST_REQUIRE((ended.has_value() || ended.error() == cancelled_error()));
        if (ended.has_value())
            got += buffer;
    }
    ::close(ends[1]);
    got += drive.read_to_end(s);
    BOOST_TEST(got == sent);
    ends[1] = dup(ends[0]);
}

BOOST_DATA_TEST_CASE_F(fixture, deadline, data::make(asynchronous_ways()), way) {
    stream_driver drive(way);
    auto s = source(drive);
    std::string buffer(4, '.');
    const auto timed_out = make_error_code(errc::timed_out);
    SLUICE_TEST_ERROR(drive.wait_for(s.read_async(bytes_in(buffer)).within(1ms)), timed_out);
    SLUICE_TEST_ERROR(drive.wait_for(s.read_exactly_async(bytes_in(buffer)).within(0ms)),
                      timed_out);
    SLUICE_TEST_ERROR(
        drive.wait_for(s.read_async(bytes_in(buffer)).deadline(std::chrono::steady_clock::now())),
        timed_out);
    put("abcd");
    BOOST_TEST(drive.wait_for(s.read_async(bytes_in(buffer)).within(1h)).value() == 4u);
    BOOST_TEST(buffer == "abcd");
}

// Bytes that came before the stop are reported, never lost.
BOOST_DATA_TEST_CASE_F(fixture, part_of_an_exact_read, data::make(asynchronous_ways()), way) {
    stream_driver drive(way);
    auto s = source(drive);
    std::stop_source stop;
    std::string buffer(8, '.');
    value_task<std::size_t> read;
    put("abc");
    drive.start([&] { read = s.read_at_least_async(bytes_in(buffer), 8, stop.get_token()); });
    for (int left = 1; left != 0;) { // taken from the pipe; the buffer is not ours to look at
        drive.runtime.poll();
        BOOST_REQUIRE(::ioctl(ends[0], FIONREAD, &left) == 0);
    }
    drive.start([&] { stop.request_stop(); });
    drive.run_until([&] { return read.is_completed(); });
    try {
        (void)read.get();
        BOOST_ERROR("no error");
    } catch (const file_error& failure) {
        BOOST_TEST(failure.code() == cancelled_error());
        BOOST_TEST(failure.bytes_transferred() == 3u);
    }
    BOOST_TEST(buffer == "abc.....");
}

BOOST_DATA_TEST_CASE_F(fixture, four_thousand_together, data::make(some_stream_ways()), way) {
    stream_driver drive(way);
    auto s = source(drive);
    std::vector<std::byte> buffer(4000);
    std::vector<value_task<std::size_t>> reads;
    reads.reserve(buffer.size());
    drive.start([&] {
        for (std::byte& byte : buffer)
            reads.push_back(s.read_async(std::span(&byte, 1)));
    });
    std::size_t given = 0;
    if (way.through_backend) { // some are answered in the same moment
        put(std::string(100, 'x'));
        given = 100;
    }
    drive.start([&] { s.cancel(); });
    std::size_t done = 0;
    for (auto& read : reads) {
        const auto ended = drive.wait_for(std::move(read));
        BOOST_REQUIRE((ended.has_value() || ended.error() == cancelled_error()));
        done += ended.has_value() ? 1 : 0;
    }
    BOOST_TEST(done <= given);
    if (given != done)
        BOOST_TEST(drive.read_text(s, 200).size() == given - done);
    s.cancel(); // nothing in flight: nothing happens
    put("ok");
    BOOST_TEST(drive.read_text(s, 4) == "ok");
}

BOOST_DATA_TEST_CASE_F(fixture, many_streams_together, data::make(some_stream_ways()), way) {
    stream_driver drive(way);
    std::vector<file_stream> streams;
    std::vector<std::byte> buffer(64);
    std::vector<value_task<std::size_t>> reads;
    for (std::size_t i = 0; i < buffer.size(); ++i)
        streams.push_back(source(drive));
    drive.start([&] {
        for (std::size_t i = 0; i < buffer.size(); ++i)
            reads.push_back(streams[i].read_async(std::span(&buffer[i], 1)));
    });
    put(std::string(8, 'x'));
    drive.start([&] {
        for (auto s = streams.rbegin(); s != streams.rend(); ++s)
            s->cancel();
    });
    std::size_t done = 0;
    for (auto& read : reads)
        done += drive.wait_for(std::move(read)).has_value() ? 1 : 0;
    BOOST_TEST(done <= 8u);
    if (done < 8)
        BOOST_TEST(drive.read_text(streams[0], 200).size() == 8 - done);
}

BOOST_DATA_TEST_CASE_F(fixture, cancel_from_another_thread, data::make(asynchronous_ways()), way) {
    stream_driver drive(way);
    auto s = source(drive);
    for (int round = 0; round < 20; ++round) {
        std::string buffer(4, '.');
        std::vector<value_task<std::size_t>> reads;
        drive.start([&] {
            for (int i = 0; i < 3; ++i)
                reads.push_back(s.read_async(bytes_in(buffer)));
        });
        std::thread other([&] { s.cancel(); });
        for (auto& read : reads)
            SLUICE_TEST_ERROR(drive.wait_for(std::move(read)), cancelled_error());
        other.join();
    }
}

// A write that fills the pipe waits; cancelled it tells how far it came.
BOOST_DATA_TEST_CASE_F(fixture, half_a_write, data::make(asynchronous_ways()), way) {
    stream_driver drive(way);
    auto s = target(drive);
    const std::string large = pattern_of(1'000'000);
    std::stop_source stop;
    value_task<void> written;
    drive.start([&] { written = s.write_async(large, stop.get_token()); });
    pollfd full{ends[1], POLLOUT, 0};
    while (poll(&full, 1, 0) != 0) // still takes some
        drive.runtime.poll();
    drive.start([&] { stop.request_stop(); });
    drive.run_until([&] { return written.is_completed(); });
    std::size_t told = 0;
    try {
        written.get();
        BOOST_ERROR("no error");
    } catch (const file_error& failure) {
        BOOST_TEST(failure.code() == cancelled_error());
        told = failure.bytes_transferred();
    }
    std::string got(large.size(), '.');
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    std::size_t there = 0;
    for (ssize_t n; (n = ::read(ends[0], got.data() + there, got.size() - there)) > 0;)
        there += static_cast<std::size_t>(n);
    BOOST_TEST(there == told);
    BOOST_TEST((got.substr(0, there) == large.substr(0, there)));
}

BOOST_DATA_TEST_CASE_F(fixture, read_never_blocks_write, data::make(asynchronous_ways()), way) {
    stream_driver drive(way);
    int pair[2];
    BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    auto here = drive.adopt(pair[0], file_access::read_write);
    auto there = drive.adopt(pair[1], file_access::read_write);
    std::string answer(5, '.'), question(4, '.');
    value_task<void> answered;
    drive.start([&] { answered = here.read_exactly_async(bytes_in(answer)); });
    BOOST_TEST(drive.wait_for(here.write_async("ping")).has_value());
    BOOST_TEST(drive.wait_for(there.read_exactly_async(bytes_in(question))).has_value());
    BOOST_TEST(drive.wait_for(there.write_async("pong!")).has_value());
    BOOST_TEST(drive.wait_for(std::move(answered)).has_value());
    BOOST_TEST(question == "ping");
    BOOST_TEST(answer == "pong!");
    // A read that never ends does not keep the stream from closing.
    value_task<void> endless;
    drive.start([&] { endless = here.read_exactly_async(bytes_in(answer)); });
    BOOST_TEST(drive.wait_for(here.close_async()).has_value());
    SLUICE_TEST_ERROR(drive.wait_for(std::move(endless)), cancelled_error());
    BOOST_TEST(drive.read_text(there, 1) == "");
}

// B20: a write right after a cancelled one.
BOOST_DATA_TEST_CASE_F(fixture, write_after_a_cancelled_one, data::make(some_stream_ways()), way) {
    const temp_folder folder;
    stream_driver drive(way);
    auto s = drive.open(folder / "file", file_mode::create, file_access::write);
    const std::string large = pattern_of(1 << 20);
    for (int round = 0; round < 30; ++round) {
        s.position(0);
        std::stop_source stop;
        value_task<void> first, second;
        drive.start([&] {
            first = s.write_async(large, stop.get_token());
            stop.request_stop();
            second = s.write_async("0123456789");
        });
        const auto ended = drive.wait_for(std::move(first));
        BOOST_REQUIRE((ended.has_value() || ended.error() == cancelled_error()));
        BOOST_REQUIRE(drive.wait_for(std::move(second)).has_value());
    }
}

BOOST_AUTO_TEST_SUITE_END()
