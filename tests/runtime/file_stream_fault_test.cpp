// Every fault on every raw call that a stream makes, with each verb: one completion, no hang,
// position and content right, the descriptors back where they were.
#include "support/fault_script.hpp"
#include "support/open_descriptors.hpp"
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"
#include "support/transfer_faults.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <random>

#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
using platform::raw_call;
namespace data = boost::unit_test::data;

struct fixture : temp_file {
    file_stream open(stream_driver& drive, const std::string& text) const {
        folder.make("file", text);
        return drive.open(path, file_mode::open, file_access::read_write);
    }
};

constexpr std::size_t length = 30'000; // above some buffers, below one
const std::vector<answer> harmless_lists[] = {
    {{EINTR}, {EINTR}, {EINTR}},
    {{EAGAIN}, {EAGAIN}, {EAGAIN}},
    {{ECANCELED}},
    {{.most = 1}, {.most = 7}, {.most = 1000}},
    {{EINTR}, {.most = 10}, {EAGAIN}, {.most = 11}, {ECANCELED}, {.most = 12}},
};
constexpr int hard_errors[] = {EIO, ENOSPC, EDQUOT, EFBIG, EBADF, EINVAL, ENOMEM, EPERM, ETIMEDOUT};

} // namespace

BOOST_FIXTURE_TEST_SUITE(stream_faults, fixture)

// What nobody needs to see.
BOOST_DATA_TEST_CASE_F(fixture, harmless_to_reads, data::make(all_stream_ways()), way) {
    const std::string text = pattern_of(length);
    for (const std::vector<answer>& answers : harmless_lists) {
        stream_driver drive(way);
        auto s = open(drive, text);
        read_faults faults(s.native_handle(), answers);
        std::string got(length - 1, '.');
        BOOST_TEST(drive.read_exactly(s, bytes_in(got)).has_value());
        BOOST_TEST((got == text.substr(0, length - 1)));
        BOOST_TEST(s.position() == length - 1);
        BOOST_TEST(drive.read_text(s, 10) == text.substr(length - 1));
        BOOST_TEST(faults.answered() >= answers.size());
    }
}

BOOST_DATA_TEST_CASE_F(fixture, harmless_to_writes, data::make(all_stream_ways()), way) {
    const std::string text = pattern_of(length);
    for (const std::vector<answer>& answers : harmless_lists) {
        stream_driver drive(way);
        auto s = open(drive, "");
        write_faults faults(s.native_handle(), answers);
        BOOST_TEST(drive.write(s, text).has_value());
        BOOST_TEST(s.position() == length);
        BOOST_TEST(drive.flush(s).has_value());
        BOOST_TEST((content() == text));
        BOOST_TEST(faults.answered() >= answers.size());
    }
}

// A10: any sizes, and one read is whole.
BOOST_DATA_TEST_CASE_F(fixture, random_short_counts, data::make(all_stream_ways()), way) {
    std::mt19937_64 random(seed_for_test());
    std::vector<answer> answers(20);
    for (answer& a : answers)
        a.most = 1 + random() % 4096;
    const std::string text = pattern_of(200'000);
    stream_driver drive(way);
    auto s = open(drive, text);
    {
        const read_faults faults(s.native_handle(), answers);
        BOOST_TEST((drive.read_text(s, 250'000) == text));
    }
    s.position(0);
    const std::string other = pattern_of(200'000, 2);
    {
        const write_faults faults(s.native_handle(), answers);
        BOOST_TEST(drive.write(s, other).has_value());
        BOOST_TEST(drive.flush(s).has_value());
    }
    BOOST_TEST((content() == other));
}

// A11: "again" for ever ends, after a bounded number of calls.
BOOST_DATA_TEST_CASE_F(fixture, again_for_ever, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = open(drive, "abc");
    std::string buffer(3, '.');
    {
        const read_faults faults(s.native_handle(), {{EAGAIN}}, true);
        SLUICE_TEST_ERROR(drive.read(s, bytes_in(buffer)), errno_code(EAGAIN));
        BOOST_TEST(faults.seen() <= 40u);
        BOOST_TEST(s.position() == 0u);
    }
    {
        const write_faults faults(s.native_handle(), {{EAGAIN}}, true);
        const auto written = drive.write(s, "x");
        SLUICE_TEST_ERROR(written.has_value() ? drive.flush(s) : written, errno_code(EAGAIN));
        BOOST_TEST(faults.seen() <= 40u);
    }
    s.position(0);
    BOOST_TEST(drive.read_text(s, 3) == (way.buffer_size > 1 ? "xbc" : "abc"));
}

BOOST_DATA_TEST_CASE_F(fixture, hard_errors_of_reads, data::make(all_stream_ways()), way) {
    const std::string text = pattern_of(length);
    stream_driver drive(way);
    auto s = open(drive, text);
    const std::size_t before = open_descriptors();
    const int descriptor = s.native_handle();
    std::string got(20, '.');
    for (const int error : hard_errors) {
        BOOST_TEST_CONTEXT("errno " << error) {
            s.position(5);
            s.flush();
            {
                const read_faults faults(descriptor, {{error}}, true);
                SLUICE_TEST_ERROR(drive.read(s, bytes_in(got)), errno_code(error));
                BOOST_TEST(s.position() == 5u);
                SLUICE_TEST_ERROR(drive.read_exactly(s, bytes_in(got)), errno_code(error));
                BOOST_TEST(s.position() == 5u);
                BOOST_TEST(faults.answered() >= 2u);
            }
            BOOST_TEST(drive.read_text(s, 20) == text.substr(5, 20));
            BOOST_TEST(s.position() == 25u);
        }
    }
    BOOST_TEST(open_descriptors() <= before + 4);
}

// In the middle: what was read is reported, and the next read meets the error.
BOOST_DATA_TEST_CASE_F(fixture, error_in_the_middle_of_a_read, data::make(all_stream_ways()),
                       way) {
    const std::string text = pattern_of(200'000);
    stream_driver drive(way);
    auto s = open(drive, text);
    const read_faults faults(s.native_handle(), {{.most = 1000}, {EIO}}, true);
    std::string got(150'000, '.');
    BOOST_TEST(drive.read(s, bytes_in(got)).value() == 1000u);
    BOOST_TEST((got.substr(0, 1000) == text.substr(0, 1000)));
    BOOST_TEST(s.position() == 1000u);
    SLUICE_TEST_ERROR(drive.read(s, bytes_in(got)), errno_code(EIO));
    BOOST_TEST(s.position() == 1000u);
}

BOOST_DATA_TEST_CASE_F(fixture, error_in_the_middle_of_an_exact_read,
                       data::make(all_stream_ways()), way) {
    const std::string text = pattern_of(200'000);
    stream_driver drive(way);
    auto s = open(drive, text);
    std::string got(150'000, '.');
    {
        const read_faults faults(s.native_handle(), {{.most = 1000}, {EIO}}, true);
        SLUICE_TEST_ERROR(drive.read_exactly(s, bytes_in(got)), errno_code(EIO));
    }
    BOOST_TEST((got.substr(0, 1000) == text.substr(0, 1000)));
    BOOST_TEST(s.position() == 1000u);
    BOOST_TEST(drive.read_text(s, 10) == text.substr(1000, 10));
}

BOOST_DATA_TEST_CASE_F(fixture, hard_errors_of_writes, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    for (const int error : hard_errors) {
        BOOST_TEST_CONTEXT("errno " << error) {
            auto s = open(drive, "0123456789");
            const std::string large = pattern_of(100'000);
            s.position(2);
            {
                const write_faults faults(s.native_handle(), {{error}}, true);
                SLUICE_TEST_ERROR(drive.write(s, large), errno_code(error));
                BOOST_TEST(s.position() == 2u);
                BOOST_TEST(s.length() == 10u);
                SLUICE_TEST_ERROR(drive.write(s, large), errno_code(error));
            }
            BOOST_TEST(content() == "0123456789");
            BOOST_TEST(drive.write(s, "ab").has_value());
            BOOST_TEST(drive.close(s).has_value());
            BOOST_TEST(content() == "01ab456789");
        }
    }
}

namespace {
struct control_row {
    const char* name;
    raw_call call;
    raw_call on_ring;
    result<void> (*make)(stream_driver&, file_stream&);
    bool repeats_interrupted;
};
std::ostream& operator<<(std::ostream& out, const control_row& row) { return out << row.name; }
const control_row controls[] = {
    {"sync", raw_call::sync, raw_call::ring_sync,
     [](stream_driver& d, file_stream& s) { return d.sync(s); }, true},
    {"sync_data", raw_call::sync_data, raw_call::ring_sync,
     [](stream_driver& d, file_stream& s) { return d.sync_data(s); }, true},
    {"set_length", raw_call::truncate, raw_call::truncate,
     [](stream_driver& d, file_stream& s) { return d.set_length(s, 4); }, true},
    {"lock", raw_call::range_lock, raw_call::range_lock,
     [](stream_driver& d, file_stream& s) { return d.lock(s, 0, 4); }, true},
    {"unlock", raw_call::range_lock, raw_call::range_lock,
     [](stream_driver& d, file_stream& s) { return d.unlock(s, 0, 4); }, true},
};
} // namespace

BOOST_DATA_TEST_CASE_F(fixture, faults_of_control_calls,
                       data::make(some_stream_ways()) * data::make(controls), way, row) {
    stream_driver drive(way);
    for (const int error : {EIO, EINTR, ENOSPC, EBADF, ENOLCK}) {
        BOOST_TEST_CONTEXT("errno " << error) {
            auto s = open(drive, "0123456789");
            BOOST_TEST(drive.write(s, "ab").has_value());
            {
                std::vector<fault> faults{{.call = row.call, .error = error}};
                if (row.on_ring != row.call)
                    faults.push_back({.call = row.on_ring, .error = error});
                fault_script script(faults);
                const auto done = row.make(drive, s);
                BOOST_TEST(script.seen(row.call) + script.seen(row.on_ring) >= 1u);
                if (error == EINTR)
                    BOOST_TEST(done.has_value());
                else
                    SLUICE_TEST_ERROR(done, errno_code(error));
            }
            BOOST_TEST(s.position() == 2u);
            BOOST_TEST(drive.flush(s).has_value());
            BOOST_TEST(drive.close(s).has_value());
            BOOST_TEST(content() == (error == EINTR && row.call == raw_call::truncate
                                         ? "ab23"
                                         : "ab23456789"));
        }
    }
}

BOOST_DATA_TEST_CASE_F(fixture, faults_of_queries, data::make(some_stream_ways()), way) {
    stream_driver drive(way);
    auto s = drive.open(path, file_mode::append, file_access::write);
    BOOST_TEST(drive.write(s, "abc").has_value());
    BOOST_TEST(drive.flush(s).has_value());
    {
        fault_script script({{.call = raw_call::stat, .error = EIO, .times = always},
                             {.call = raw_call::seek, .error = EIO, .times = always}});
        BOOST_TEST(error_of([&] { (void)s.length(); }) == errno_code(EIO));
        BOOST_TEST(error_of([&] { (void)s.position(); }) == errno_code(EIO));
        BOOST_TEST(error_of([&] { s.seek(0, seek_origin::end); }) == errno_code(EIO));
        BOOST_TEST(error_of([&] { s.seek(0, seek_origin::current); }) == errno_code(EIO));
        BOOST_TEST(drive.write(s, "def").has_value()); // they are not needed for this
        BOOST_TEST(drive.flush(s).has_value());
    }
    BOOST_TEST(s.position() == 6u);
    BOOST_TEST(drive.close(s).has_value());
}

BOOST_DATA_TEST_CASE_F(fixture, faults_of_opening, data::make(some_stream_ways()), way) {
    stream_driver drive(way);
    folder.make("file", "abc");
    {
        auto warm = drive.open(path);
        (void)drive.read_byte(warm);
    }
    const std::size_t before = open_descriptors();
    open_options wanted{.mode = file_mode::create, .access = file_access::write};
    wanted.share = file_share::none;
    wanted.preallocation_size = 1000;
    const auto outcome = [&](const open_options& options, raw_call call, int error) {
        fault_script script({{.call = call, .error = error}});
        const auto opened = drive.try_open(path, options);
        BOOST_TEST(script.seen(call) >= 1u);
        return opened.error();
    };
    for (const int error : {EACCES, EIO, EMFILE, ENFILE, ENOMEM, ENODEV})
        BOOST_TEST(outcome(wanted, raw_call::open, error) == errno_code(error));
    BOOST_TEST(outcome(wanted, raw_call::open, EINTR) == error_code());
    BOOST_TEST(outcome(wanted, raw_call::stat, EIO) == errno_code(EIO));
    BOOST_TEST(outcome(wanted, raw_call::flock, EWOULDBLOCK) ==
               make_error_code(errc::sharing_violation));
    BOOST_TEST(outcome(wanted, raw_call::flock, ENOLCK) == error_code()); // best effort
    BOOST_TEST(outcome(wanted, raw_call::flock, EINTR) == error_code());
    BOOST_TEST(outcome(wanted, raw_call::allocate, EOPNOTSUPP) == error_code()); // a hint
    folder.make("file", "abc");
    BOOST_TEST(outcome(wanted, raw_call::truncate, EIO) == errno_code(EIO));
    BOOST_TEST(outcome(wanted, raw_call::allocate, ENOSPC) == errno_code(ENOSPC));
    open_options hinted{};
    hinted.options = file_options::random_access;
    folder.make("file", "abc");
    BOOST_TEST(outcome(hinted, raw_call::advise, EIO) == error_code());
    BOOST_TEST(open_descriptors() == before);
    // Not from the cache: another way, the same answer.
    for (const int error : {EAGAIN, ENOSYS, EINVAL, EPERM, EIO}) {
        fault_script script({{.call = raw_call::open_cached, .error = error, .times = always}});
        auto s = drive.open(path);
        BOOST_TEST(drive.read_text(s, 9) == "abc");
    }
    BOOST_TEST(open_descriptors() == before);
}

BOOST_DATA_TEST_CASE_F(fixture, no_thread_can_be_started, data::make(some_stream_ways()), way) {
    stream_driver drive(way);
    fault_script script({{.call = raw_call::thread_start, .error = EAGAIN, .times = always}});
    auto s = drive.open(path, file_mode::create, file_access::read_write);
    const std::string text = pattern_of(100'000);
    BOOST_TEST(drive.write(s, text).has_value());
    BOOST_TEST(drive.set_length(s, 90'000).has_value());
    BOOST_TEST(drive.sync(s).has_value());
    s.position(0);
    BOOST_TEST((drive.read_to_end(s, 7000) == text.substr(0, 90'000)));
    BOOST_TEST(drive.close(s).has_value());
}

BOOST_DATA_TEST_CASE_F(fixture, faults_of_pipes, data::make(all_stream_ways()), way) {
    for (const std::vector<answer>& answers :
         {std::vector<answer>{{EINTR}, {EINTR}}, std::vector<answer>{{EAGAIN}, {EAGAIN}},
          std::vector<answer>{{.most = 1}, {.most = 2}}}) {
        stream_driver drive(way);
        int ends[2];
        BOOST_REQUIRE(pipe(ends) == 0);
        auto source = drive.adopt(ends[0], file_access::read);
        auto target = drive.adopt(ends[1], file_access::write);
        {
            const write_faults faults(ends[1], answers);
            BOOST_TEST(drive.write(target, "0123456789").has_value());
            BOOST_TEST(drive.flush(target).has_value());
        }
        const read_faults faults(ends[0], answers);
        std::string got(10, '.');
        BOOST_TEST(drive.read_exactly(source, bytes_in(got)).has_value());
        BOOST_TEST(got == "0123456789");
    }
    stream_driver drive(way);
    int ends[2];
    BOOST_REQUIRE(pipe(ends) == 0);
    auto source = drive.adopt(ends[0], file_access::read);
    BOOST_REQUIRE(::write(ends[1], "abc", 3) == 3);
    {
        const read_faults faults(ends[0], {{EIO}}, true);
        std::string got(3, '.');
        SLUICE_TEST_ERROR(drive.read(source, bytes_in(got)), errno_code(EIO));
    }
    BOOST_TEST(drive.read_text(source, 9) == "abc");
    ::close(ends[1]);
}

BOOST_AUTO_TEST_SUITE_END()
