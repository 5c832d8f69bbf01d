// Streams in the child of a fork (design, 5.12; B17): refused until the context is told, at home
// afterwards; the parent never notices.
#include "support/child_process.hpp"
#include "support/sanitizers.hpp"
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"

#include <sluice/runtime/sync_wait.hpp>

#include <boost/asio/post.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>

#include <fcntl.h>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
namespace data = boost::unit_test::data;

const auto forked = make_error_code(errc::forked);

struct fixture {
    const temp_folder folder;
    const std::string path = folder / "file";
    std::string content() const { return temp_folder::content_of(path); }
};

/// Every asynchronous verb answers forked at once, without a loop that runs.
int all_asynchronous_refused(file_stream& s) {
    std::byte one{};
    const std::span buffer(&one, 1);
    auto read = s.read_async(buffer);
    auto exact = s.read_exactly_async(buffer);
    auto written = s.write_async("x");
    auto flushed = s.flush_async();
    auto synced = s.sync_async();
    auto cut = s.set_length_async(1);
    auto locked = s.lock_async(0, 1);
    auto closed = s.close_async();
    SLUICE_EXPECT(read.is_completed() && read.get_result().error() == forked);
    SLUICE_EXPECT(exact.is_completed() && exact.get_result().error() == forked);
    SLUICE_EXPECT(written.is_completed() && written.get_result().error() == forked);
    SLUICE_EXPECT(flushed.is_completed() && flushed.get_result().error() == forked);
    SLUICE_EXPECT(synced.is_completed() && synced.get_result().error() == forked);
    SLUICE_EXPECT(cut.is_completed() && cut.get_result().error() == forked);
    SLUICE_EXPECT(locked.is_completed() && locked.get_result().error() == forked);
    SLUICE_EXPECT(closed.is_completed() && closed.get_result().error() == forked);
    return 0;
}

int all_synchronous_refused(file_stream& s) {
    std::byte one{};
    const std::span buffer(&one, 1);
    SLUICE_EXPECT(error_of([&] { s.read(buffer); }) == forked);
    SLUICE_EXPECT(error_of([&] { s.read_byte(); }) == forked);
    SLUICE_EXPECT(error_of([&] { s.read_exactly(buffer); }) == forked);
    SLUICE_EXPECT(error_of([&] { s.write("x"); }) == forked);
    SLUICE_EXPECT(error_of([&] { s.flush(); }) == forked);
    SLUICE_EXPECT(error_of([&] { s.sync(); }) == forked);
    SLUICE_EXPECT(error_of([&] { s.set_length(1); }) == forked);
    SLUICE_EXPECT(error_of([&] { s.lock(0, 1); }) == forked);
    SLUICE_EXPECT(error_of([&] { s.close(); }) == forked);
    return 0;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(stream_forks, fixture)

BOOST_DATA_TEST_CASE_F(fixture, not_told, data::make(some_stream_ways()), way) {
    stream_driver drive(way);
    folder.make("file", "0123456789");
    auto s =
        std::make_unique<file_stream>(drive.open(path, file_mode::open, file_access::read_write));
    open_options temporary{.mode = file_mode::create, .access = file_access::write};
    temporary.options = file_options::delete_on_close;
    auto removed = drive.try_open(folder / "removed", temporary).value();
    BOOST_TEST(drive.read_text(*s, 2) == "01");
    BOOST_TEST(drive.write(*s, "ab").has_value());
    SLUICE_CHECK_CHILD([&] {
        SLUICE_EXPECT(all_synchronous_refused(*s) == 0);
        SLUICE_EXPECT(all_asynchronous_refused(*s) == 0);
        SLUICE_EXPECT(file_stream::try_open(drive.runtime.get_executor(), path).error() == forked);
        auto opened = file_stream::open_async(drive.runtime.get_executor(), path);
        SLUICE_EXPECT(opened.is_completed() && opened.get_result().error() == forked);
        s.reset(); // does not write what is the parent's to write
        removed = file_stream();
        return 0;
    });
    BOOST_TEST(std::filesystem::exists(folder / "removed"));
    BOOST_TEST(content() == (way.buffer_size > 1 ? "0123456789" : "01ab456789"));
    BOOST_TEST(drive.write(*s, "cd").has_value());
    BOOST_TEST(drive.close(*s).has_value());
    BOOST_TEST(content() == "01abcd6789");
}

BOOST_DATA_TEST_CASE_F(fixture, not_told_within_a_handler, data::make(some_stream_ways()), way) {
    stream_driver drive(way);
    folder.make("file", "0123456789");
    auto s = drive.open(path, file_mode::open, file_access::read_write);
    bool ran = false;
    boost::asio::post(drive.runtime.get_executor(), [&] {
        SLUICE_CHECK_CHILD(
            [&] { return all_synchronous_refused(s) + all_asynchronous_refused(s); });
        ran = true;
    });
    drive.run_until([&] { return ran; });
    BOOST_TEST(drive.read_text(s, 2) == "01");
}

BOOST_DATA_TEST_CASE_F(fixture, runtime_of_its_own, data::make(some_stream_ways()), way) {
    if (!child_may_start_threads)
        return;
    stream_driver drive(way);
    folder.make("file", "0123456789");
    auto s = drive.open(path);
    BOOST_TEST(drive.read_text(s, 2) == "01");
    SLUICE_CHECK_CHILD([&] {
        stream_driver own(way);
        auto mine = own.open(path, file_mode::open, file_access::read_write);
        SLUICE_EXPECT(own.read_text(mine, 5) == "01234");
        SLUICE_EXPECT(own.write(mine, "x").has_value());
        SLUICE_EXPECT(own.close(mine).has_value());
        return 0;
    });
    BOOST_TEST(content() == "01234x6789");
    BOOST_TEST(drive.flush(s).has_value());
    BOOST_TEST(drive.read_text(s, 20) == "234x6789");
}

BOOST_DATA_TEST_CASE_F(fixture, told, data::make(some_stream_ways()), way) {
    if (!child_may_start_threads)
        return;
    stream_driver drive(way);
    folder.make("file", "0123456789");
    auto s = drive.open(path, file_mode::open, file_access::read_write);
    BOOST_TEST(drive.read_text(s, 2) == "01");
    drive.runtime.notify_fork(boost::asio::execution_context::fork_prepare);
    SLUICE_CHECK_CHILD([&] {
        drive.runtime.notify_fork(boost::asio::execution_context::fork_child);
        SLUICE_EXPECT(drive.read_text(s, 2) == "23");
        SLUICE_EXPECT(drive.write(s, "ab").has_value());
        SLUICE_EXPECT(drive.sync(s).has_value());
        auto other = drive.open(path);
        SLUICE_EXPECT(drive.read_text(other, 8) == "0123ab67");
        SLUICE_EXPECT(drive.close(s).has_value());
        return 0;
    });
    drive.runtime.notify_fork(boost::asio::execution_context::fork_parent);
    BOOST_TEST(content() == "0123ab6789");
    BOOST_TEST(s.position() == 2u);
    for (int i = 0; i < 50; ++i) {
        s.position(0);
        BOOST_REQUIRE(drive.read_text(s, 4) == "0123");
    }
}

// What is in flight stays the parent's: the child is told that it was cut off, and nothing hangs.
BOOST_DATA_TEST_CASE_F(fixture, with_operations_in_flight, data::make(some_stream_ways()), way) {
    if (!child_may_start_threads || way.style == calling::synchronous)
        return;
    const error_code forked = make_error_code(errc::forked);
    for (const bool told : {false, true}) {
        auto drive = std::make_unique<stream_driver>(way);
        int ends[2];
        BOOST_REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
        auto source = std::make_unique<file_stream>(drive->adopt(ends[0], file_access::read));
        std::string got(4, '.');
        value_task<void> waits, next;
        drive->start([&] {
            waits = source->read_exactly_async(bytes_in(got));
            next = source->read_exactly_async(bytes_in(got));
        });
        drive->runtime.poll();
        SLUICE_CHECK_CHILD([&] {
            if (told) {
                drive->runtime.notify_fork(boost::asio::execution_context::fork_child);
                SLUICE_EXPECT(drive->wait_for(std::move(waits)).error() == forked);
                SLUICE_EXPECT(drive->wait_for(std::move(next)).error() == forked);
                auto file = drive->open(folder / "child", file_mode::create, file_access::write);
                SLUICE_EXPECT(drive->write(file, "abc").has_value());
                SLUICE_EXPECT(drive->close(file).has_value());
            }
            source.reset();
            drive.reset();
            return 0;
        });
        BOOST_REQUIRE(::write(ends[1], "abcdefgh", 8) == 8);
        BOOST_TEST(drive->wait_for(std::move(waits)).has_value());
        BOOST_TEST(drive->wait_for(std::move(next)).has_value());
        BOOST_TEST(got == "efgh");
        ::close(ends[1]);
    }
}

BOOST_AUTO_TEST_SUITE_END()
