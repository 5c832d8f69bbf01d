// The stream contract: flush, close, the end of a stream, range locks (reference, 7.7).
#include "support/child_process.hpp"
#include "support/open_descriptors.hpp"
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
namespace data = boost::unit_test::data;

struct fixture : temp_file {
    file_stream make(stream_driver& drive) const {
        return drive.open(path, file_mode::create, file_access::read_write);
    }
};

/// Whether another process could lock the range, for writing or for reading.
bool another_can_lock(const std::string& path, short type, off_t at, off_t size) {
    const auto child = run_in_child([&] {
        const int file = ::open(path.c_str(), type == F_WRLCK ? O_RDWR : O_RDONLY);
        struct ::flock range{};
        range.l_type = type;
        range.l_start = at;
        range.l_len = size;
        return fcntl(file, F_SETLK, &range) == 0 ? 0 : 1;
    });
    BOOST_REQUIRE(child.signal == 0);
    return child.exit_code == 0;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(stream_ends, fixture)

BOOST_DATA_TEST_CASE_F(fixture, flush_gives_to_the_system, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    const std::string text = pattern_of(way.buffer_size / 2 + 1);
    BOOST_TEST(drive.flush(s).has_value());
    BOOST_TEST(drive.write(s, text).has_value());
    BOOST_TEST(s.length() == text.size());
    BOOST_TEST(content().size() == (way.buffer_size > 1 ? 0u : text.size()));
    BOOST_TEST(drive.flush(s).has_value());
    BOOST_TEST((content() == text));
    BOOST_TEST(drive.flush(s).has_value());
    BOOST_TEST(drive.sync(s).has_value());
    BOOST_TEST(drive.sync_data(s).has_value());
    BOOST_TEST(s.position() == text.size());
}

BOOST_DATA_TEST_CASE_F(fixture, sync_flushes_first, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    BOOST_TEST(drive.write(s, "abc").has_value());
    BOOST_TEST(drive.sync(s).has_value()); // #77373: must not skip anything
    BOOST_TEST(content() == "abc");
    BOOST_TEST(drive.write(s, "def").has_value());
    BOOST_TEST(drive.sync_data(s).has_value());
    BOOST_TEST(content() == "abcdef");
}

BOOST_DATA_TEST_CASE_F(fixture, flush_of_a_reader, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    folder.make("file", "0123456789");
    auto s = drive.open(path);
    BOOST_TEST(drive.flush(s).has_value());
    BOOST_TEST(drive.read_text(s, 2) == "01");
    BOOST_TEST(drive.flush(s).has_value());
    BOOST_TEST(drive.sync(s).has_value());
    BOOST_TEST(s.position() == 2u);
    BOOST_TEST(drive.read_text(s, 3) == "234");
}

// What another wrote meanwhile is seen after a flush: the buffer was let go.
BOOST_DATA_TEST_CASE_F(fixture, flush_drops_the_window, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    folder.make("file", "0123456789");
    auto s = drive.open(path);
    BOOST_TEST(drive.read_text(s, 2) == "01");
    folder.make("file", "ABCDEFGHIJ");
    BOOST_TEST(drive.flush(s).has_value());
    BOOST_TEST(drive.read_text(s, 2) == "CD");
}

BOOST_DATA_TEST_CASE_F(fixture, close_flushes, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    const std::size_t before = open_descriptors();
    auto s = make(drive);
    BOOST_TEST(drive.write(s, "abc").has_value());
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST(content() == "abc");
    BOOST_TEST(!s.is_open());
    BOOST_TEST(!s.can_read());
    BOOST_TEST(!s.can_write());
    BOOST_TEST(!s.can_seek());
    BOOST_TEST(s.path() == path);
    BOOST_TEST(error_of([&] { (void)s.native_handle(); }) == make_error_code(errc::closed));
    BOOST_TEST(error_of([&] { (void)s.release(); }) == make_error_code(errc::closed));
    SLUICE_TEST_ERROR(drive.flush(s), errc::closed);
    SLUICE_TEST_ERROR(drive.sync(s), errc::closed);
    SLUICE_TEST_ERROR(drive.sync_data(s), errc::closed);
    SLUICE_TEST_ERROR(drive.lock(s, 0, 1), errc::closed);
    SLUICE_TEST_ERROR(drive.unlock(s, 0, 1), errc::closed);
    for (int i = 0; i < 2; ++i) { // in any order, as often as one likes
        BOOST_TEST(drive.close(s).has_value());
        s.close();
    }
    if (way.style == calling::synchronous) // else the loop's own are open by now
        BOOST_TEST(open_descriptors() == before);
}

BOOST_DATA_TEST_CASE_F(fixture, destructor_flushes, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    {
        auto s = make(drive);
        BOOST_TEST(drive.write(s, "abc").has_value());
        BOOST_TEST(drive.read_text(s, 5) == "");
        BOOST_TEST(drive.write(s, "def").has_value());
    }
    BOOST_TEST(content() == "abcdef");
    BOOST_TEST(statistics(drive.runtime).lost_bytes == 0u);
    BOOST_TEST(statistics(drive.runtime).lost_errors == 0u);
}

BOOST_DATA_TEST_CASE_F(fixture, close_before_any_use, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    BOOST_TEST(drive.close(s).has_value());
    file_stream never_opened;
    BOOST_TEST(drive.close(never_opened).has_value());
    BOOST_TEST(!never_opened.is_open());
    BOOST_TEST(never_opened.path().empty());
}

BOOST_DATA_TEST_CASE_F(fixture, moved, data::make(some_stream_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    BOOST_TEST(drive.write(s, "abc").has_value());
    file_stream moved = std::move(s);
    BOOST_TEST(!s.is_open());
    SLUICE_TEST_ERROR(drive.write(s, "x"), errc::closed);
    BOOST_TEST(drive.write(moved, "def").has_value());
    auto other = drive.open(folder / "other", file_mode::create, file_access::write);
    BOOST_TEST(drive.write(other, "other").has_value());
    other = std::move(moved); // what it was is closed at once
    BOOST_TEST(temp_folder::content_of(folder / "other") == "other");
    BOOST_TEST(!moved.is_open());
    BOOST_TEST(drive.write(other, "ghi").has_value());
    other = file_stream();
    BOOST_TEST(content() == "abcdefghi");
}

BOOST_DATA_TEST_CASE_F(fixture, native_handle_flushes, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    BOOST_TEST(drive.write(s, "abcdef").has_value());
    const int descriptor = s.native_handle();
    BOOST_TEST(content() == "abcdef");
    BOOST_TEST(lseek(descriptor, 0, SEEK_CUR) == 6);
    s.position(0);
    BOOST_TEST(drive.read_text(s, 2) == "ab");
    BOOST_TEST(lseek(s.native_handle(), 0, SEEK_CUR) == 2);
    BOOST_TEST(drive.read_text(s, 2) == "cd");
}

BOOST_DATA_TEST_CASE_F(fixture, native_handle_gives_back_what_was_read_ahead,
                       data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    BOOST_TEST(drive.write(s, "abcdefgh").has_value());
    s.position(0);
    BOOST_TEST(drive.read_text(s, 2) == "ab");
    BOOST_REQUIRE(pwrite(s.native_handle(), "CD", 2, 2) == 2);
    BOOST_TEST(drive.read_text(s, 3) == "CDe");
}

BOOST_DATA_TEST_CASE_F(fixture, released_and_adopted, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    BOOST_TEST(drive.write(s, "abcdef").has_value());
    s.position(2);
    BOOST_TEST(drive.write(s, "X").has_value());
    const int descriptor = s.release();
    BOOST_TEST(!s.is_open());
    SLUICE_TEST_ERROR(drive.write(s, "x"), errc::closed);
    BOOST_TEST(content() == "abXdef");
    auto again = drive.adopt(descriptor, file_access::read_write);
    BOOST_TEST(again.path().empty());
    BOOST_TEST(again.position() == 3u);
    BOOST_TEST(drive.read_text(again, 9) == "def");
    BOOST_TEST(drive.close(again).has_value());
    BOOST_TEST(fcntl(descriptor, F_GETFD) == -1);
}

// Adopting does not check the access, the first operation meets it; the descriptor is closed.
BOOST_DATA_TEST_CASE_F(fixture, adopted_for_too_much, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    folder.make("file", "abc");
    BOOST_CHECK_THROW(drive.adopt(-1, file_access::read), std::invalid_argument);
    BOOST_TEST(error_of([&] { drive.adopt(987654, file_access::read); }) == errno_code(EBADF));
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    BOOST_CHECK_THROW(drive.adopt(descriptor, static_cast<file_access>(4)), std::invalid_argument);
    BOOST_TEST(fcntl(descriptor, F_GETFD) != -1);
    auto s = drive.adopt(descriptor, file_access::write);
    const auto written = drive.write(s, "x");
    BOOST_TEST(written.has_value() == (way.buffer_size > 1));
    if (written.has_value()) {
        SLUICE_TEST_ERROR(drive.flush(s), errno_code(EBADF));
        SLUICE_TEST_ERROR(drive.close(s), errno_code(EBADF));
    } else {
        SLUICE_TEST_ERROR(written, errno_code(EBADF));
        BOOST_TEST(s.position() == 0u);
    }
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST(fcntl(descriptor, F_GETFD) == -1);
    BOOST_TEST(content() == "abc");
}

BOOST_DATA_TEST_CASE_F(fixture, ranges, data::make(some_stream_ways()), way) {
    stream_driver drive(way);
    folder.make("file", "0123456789");
    auto s = drive.open(path, file_mode::open, file_access::read_write);
    BOOST_TEST(drive.write(s, "a").has_value());
    BOOST_TEST(drive.lock(s, 2, 4).has_value());
    BOOST_TEST(drive.lock(s, 100, 10).has_value()); // beyond the end
    for (const off_t at : {0, 1, 2, 3, 5})
        BOOST_TEST(!another_can_lock(path, F_WRLCK, at, 3) == (at != 5 ? at + 3 > 2 : true));
    BOOST_TEST(another_can_lock(path, F_WRLCK, 0, 2));
    BOOST_TEST(another_can_lock(path, F_WRLCK, 6, 4));
    BOOST_TEST(!another_can_lock(path, F_WRLCK, 0, 0));
    BOOST_TEST(!another_can_lock(path, F_RDLCK, 105, 1));
    BOOST_TEST(drive.unlock(s, 2, 4).has_value());
    BOOST_TEST(another_can_lock(path, F_WRLCK, 0, 100));
    BOOST_TEST(drive.unlock(s, 100, 10).has_value());
    BOOST_TEST(drive.lock(s, 5, 0).has_value()); // to the end, wherever that is
    BOOST_TEST(!another_can_lock(path, F_WRLCK, 1'000'000, 1));
    BOOST_TEST(drive.unlock(s, 0, 0).has_value());
    BOOST_TEST(another_can_lock(path, F_WRLCK, 0, 0));
    BOOST_CHECK_THROW(s.lock(~std::uint64_t{0}, 1), std::out_of_range);
    BOOST_CHECK_THROW(s.unlock(0, ~std::uint64_t{0}), std::out_of_range);
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST(content() == "a123456789");
}

BOOST_DATA_TEST_CASE_F(fixture, ranges_of_readers, data::make(some_stream_ways()), way) {
    stream_driver drive(way);
    folder.make("file", "0123456789");
    auto s = drive.open(path);
    BOOST_TEST(drive.lock(s, 0, 5).has_value());
    BOOST_TEST(another_can_lock(path, F_RDLCK, 0, 5));
    BOOST_TEST(!another_can_lock(path, F_WRLCK, 4, 5));
    const auto child = run_in_child([&] {
        io_runtime runtime;
        auto theirs =
            file_stream::open(runtime.get_executor(), path, {.access = file_access::read_write});
        return error_of([&] { theirs.lock(0, 5); }) == errno_code(EAGAIN) ? 0 : 1;
    });
    BOOST_TEST(child.exit_code == 0);
    BOOST_TEST(child.errors == "");
}

BOOST_AUTO_TEST_SUITE_END()
