// Errors that last, and what they leave behind (design, 5.5): nothing lost, nothing twice, told
// once.
#include "support/child_process.hpp"
#include "support/fault_script.hpp"
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"
#include "support/transfer_faults.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <csignal>

#include <sys/resource.h>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
using platform::raw_call;
namespace data = boost::unit_test::data;

struct fixture : temp_file {
    file_stream make(stream_driver& drive) const {
        return drive.open(path, file_mode::create, file_access::read_write);
    }
};
const auto no_space = errno_code(ENOSPC);

/// Throws what the asynchronous write throws where it is taken.
void take_write(stream_driver& drive, file_stream& s, std::string_view data) {
    std::optional<value_task<void>> written;
    drive.start([&] { written.emplace(s.write_async(data)); });
    drive.run_until([&] { return written->is_completed(); });
    written->get();
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(stream_errors, fixture)

BOOST_DATA_TEST_CASE_F(fixture, failed_flush_keeps_the_bytes, data::make(buffered_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    BOOST_TEST(drive.write(s, "abc").has_value());
    {
        write_faults faults(s.native_handle(), {{ENOSPC}, {.most = 2}, {ENOSPC}});
        BOOST_TEST(faults.seen() == 0u);
        BOOST_TEST(content() == "abc"); // asking for the descriptor has flushed
        BOOST_TEST(drive.write(s, "def").has_value());
        SLUICE_TEST_ERROR(drive.flush(s), no_space);
        BOOST_TEST(s.position() == 6u);
        BOOST_TEST(s.length() == 6u);
        BOOST_TEST(content() == "abc");
        SLUICE_TEST_ERROR(drive.flush(s), no_space); // two bytes went out before it failed
        BOOST_TEST(content() == "abcde");
        BOOST_TEST(s.position() == 6u);
        BOOST_TEST(drive.flush(s).has_value());
        BOOST_TEST(faults.seen() == 4u);
    }
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST(content() == "abcdef");
}

BOOST_DATA_TEST_CASE_F(fixture, it_stays_failed, data::make(buffered_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    const int descriptor = s.native_handle();
    BOOST_TEST(drive.write(s, "abc").has_value());
    const write_faults faults(descriptor, {{ENOSPC}}, true);
    std::string buffer(2, '.');
    SLUICE_TEST_ERROR(drive.flush(s), no_space);
    SLUICE_TEST_ERROR(drive.flush(s), no_space);
    SLUICE_TEST_ERROR(drive.sync(s), no_space);
    SLUICE_TEST_ERROR(drive.sync_data(s), no_space);
    SLUICE_TEST_ERROR(drive.set_length(s, 1), no_space);
    SLUICE_TEST_ERROR(drive.read(s, bytes_in(buffer)), no_space);
    SLUICE_TEST_ERROR(drive.read_exactly(s, bytes_in(buffer)), no_space);
    BOOST_TEST(error_of([&] { s.position(0); }) == no_space);
    BOOST_TEST(error_of([&] { s.seek(0, seek_origin::end); }) == no_space);
    BOOST_TEST(error_of([&] { (void)s.native_handle(); }) == no_space);
    BOOST_TEST(error_of([&] { (void)s.release(); }) == no_space);
    BOOST_TEST(s.position() == 3u);
    BOOST_TEST(s.length() == 3u);
    BOOST_TEST(content() == "");
    SLUICE_TEST_ERROR(drive.close(s), no_space); // told once, and closed all the same
    BOOST_TEST(!s.is_open());
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST(statistics(drive.runtime).lost_bytes == 0u); // somebody heard of it
}

BOOST_DATA_TEST_CASE_F(fixture, retry_never_duplicates, data::make(buffered_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    const int descriptor = s.native_handle();
    const std::string held = pattern_of(way.buffer_size - 2, 1);
    for (const std::size_t size : {std::size_t{5}, 3 * way.buffer_size}) {
        s.position(0);
        BOOST_TEST(drive.set_length(s, 0).has_value());
        const std::string next = pattern_of(size, 2);
        BOOST_TEST(drive.write(s, held).has_value());
        {
            write_faults faults(descriptor, {{ENOSPC}});
            SLUICE_TEST_ERROR(drive.write(s, next), no_space);
            BOOST_TEST(faults.answered() == 1u);
        }
        BOOST_TEST(s.position() == held.size()); // none of its bytes
        BOOST_TEST(s.length() == held.size());
        BOOST_TEST(drive.write(s, next).has_value());
        BOOST_TEST(s.position() == held.size() + size);
        BOOST_TEST(drive.flush(s).has_value());
        BOOST_TEST((content() == held + next));
    }
}

// A part of it reached the system: that much is told and not kept either.
BOOST_DATA_TEST_CASE_F(fixture, part_of_a_write, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    const int descriptor = s.native_handle();
    const std::string held = pattern_of(way.buffer_size > 1 ? way.buffer_size - 4 : 0, 1);
    const std::string next = pattern_of(100'000, 2);
    BOOST_TEST(drive.write(s, held).has_value());
    std::size_t told = 0;
    {
        write_faults faults(descriptor, {{.most = held.size() + 2}, {ENOSPC}}, true);
        try {
            if (way.style == calling::synchronous)
                s.write(next);
            else
                take_write(drive, s, next);
            BOOST_ERROR("no error");
        } catch (const file_error& failure) {
            BOOST_TEST(failure.code() == no_space);
            BOOST_TEST(failure.operation() == std::string("write"));
            BOOST_TEST(failure.path() == path);
            told = failure.bytes_transferred();
        }
    }
    BOOST_TEST(told == 2u);
    BOOST_TEST(s.position() == held.size() + 2);
    BOOST_TEST(drive.write(s, std::string_view(next).substr(told)).has_value());
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST((content() == held + next));
}

BOOST_DATA_TEST_CASE_F(fixture, failed_sync_is_never_a_success_again,
                       data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    BOOST_TEST(drive.write(s, "abc").has_value());
    {
        fault_script script({{.call = raw_call::sync, .error = EIO, .times = always},
                             {.call = raw_call::ring_sync, .error = EIO, .times = always}});
        SLUICE_TEST_ERROR(drive.sync(s), errno_code(EIO));
    }
    BOOST_TEST(content() == "abc");
    SLUICE_TEST_ERROR(drive.sync(s), errno_code(EIO));
    SLUICE_TEST_ERROR(drive.sync_data(s), errno_code(EIO));
    BOOST_TEST(drive.write(s, "def").has_value());
    BOOST_TEST(drive.flush(s).has_value());
    SLUICE_TEST_ERROR(drive.sync(s), errno_code(EIO));
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST(content() == "abcdef");
    auto again = drive.open(path, file_mode::open, file_access::write);
    BOOST_TEST(drive.sync(again).has_value());
}

BOOST_DATA_TEST_CASE_F(fixture, nothing_to_sync, data::make(all_stream_ways()), way) {
    for (const int error : {EROFS, EINVAL, EOPNOTSUPP}) {
        stream_driver drive(way);
        auto s = make(drive);
        fault_script script({{.call = raw_call::sync, .error = error, .times = always},
                             {.call = raw_call::ring_sync, .error = error, .times = always}});
        BOOST_TEST(drive.sync(s).has_value());
        BOOST_TEST(drive.sync(s).has_value());
    }
}

BOOST_DATA_TEST_CASE_F(fixture, error_of_closing, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    const int descriptor = s.native_handle();
    BOOST_TEST(drive.write(s, "abc").has_value());
    {
        fault_script script({{.call = raw_call::close, .error = EDQUOT, .descriptor = descriptor}});
        SLUICE_TEST_ERROR(drive.close(s), errno_code(EDQUOT));
        BOOST_TEST(script.seen(raw_call::close) == 1u); // never twice
        BOOST_TEST(!s.is_open());
        BOOST_TEST(drive.close(s).has_value());
    }
    BOOST_TEST(content() == "abc");
    ::close(descriptor); // the script did not
}

BOOST_DATA_TEST_CASE_F(fixture, the_first_of_two_errors, data::make(buffered_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    const int descriptor = s.native_handle();
    BOOST_TEST(drive.write(s, "abc").has_value());
    {
        fault_script script(
            {{.call = raw_call::close, .error = EDQUOT, .descriptor = descriptor},
             {.call = raw_call::write, .error = EIO, .times = always, .descriptor = descriptor},
             {.call = raw_call::ring_write, .error = EIO, .times = always,
              .descriptor = descriptor}});
        SLUICE_TEST_ERROR(drive.close(s), errno_code(EIO));
        BOOST_TEST(script.seen(raw_call::close) == 1u);
    }
    ::close(descriptor);
}

BOOST_AUTO_TEST_CASE(text_of_an_error) {
    io_runtime runtime;
    auto s = file_stream::open(runtime.get_executor(), path,
                               {.mode = file_mode::create, .access = file_access::write});
    try {
        std::byte one{};
        s.read({&one, 1});
        BOOST_ERROR("no error");
    } catch (const file_error& failure) {
        BOOST_TEST(failure.what() == "read '" + path + "': " +
                                         make_error_code(errc::not_readable).message());
    }
    try {
        (void)file_stream::open(runtime.get_executor(), folder / "none");
        BOOST_ERROR("no error");
    } catch (const file_error& failure) {
        BOOST_TEST(failure.what() ==
                   "open '" + (folder / "none") + "': No such file or directory");
        BOOST_TEST(failure.operation() == std::string("open"));
    }
}

BOOST_DATA_TEST_CASE_F(fixture, full_disk, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = drive.open("/dev/full", file_mode::open, file_access::write);
    const auto written = drive.write(s, "abc");
    if (way.buffer_size > 1) {
        BOOST_TEST(written.has_value());
        SLUICE_TEST_ERROR(drive.flush(s), no_space);
        SLUICE_TEST_ERROR(drive.write(s, pattern_of(200'000)), no_space);
        SLUICE_TEST_ERROR(drive.close(s), no_space);
    } else {
        SLUICE_TEST_ERROR(written, no_space);
        SLUICE_TEST_ERROR(drive.write(s, "x"), no_space);
        BOOST_TEST(drive.flush(s).has_value());
        BOOST_TEST(drive.close(s).has_value());
    }
    BOOST_TEST(drive.close(s).has_value());
}

// A08 (2): a short write, then an error.
BOOST_DATA_TEST_CASE_F(fixture, limit_of_file_size, data::make(some_stream_ways()), way) {
    for (const bool append : {false, true}) {
        SLUICE_CHECK_CHILD([&] {
            signal(SIGXFSZ, SIG_IGN);
            const rlimit limit{6, 6};
            SLUICE_EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
            stream_driver drive(way);
            auto s = drive.open(path, append ? file_mode::append : file_mode::create,
                                file_access::write);
            const auto written = drive.write(s, "0123456789");
            const auto flushed = drive.flush(s);
            SLUICE_EXPECT((written ? flushed : written).error() == errno_code(EFBIG));
            SLUICE_EXPECT(content() == "012345");
            SLUICE_EXPECT(s.position() == (written ? 10u : 6u));
            SLUICE_EXPECT(drive.close(s).has_value() == !written.has_value());
            SLUICE_EXPECT(content() == "012345");
            return 0;
        });
        std::filesystem::remove(path);
    }
}

BOOST_AUTO_TEST_SUITE_END()
