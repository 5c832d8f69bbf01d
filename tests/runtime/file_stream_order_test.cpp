// Operations that are called one after another and not awaited (design, 5.7; A07, A08).
#include "support/fault_script.hpp"
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
using platform::raw_call;
namespace data = boost::unit_test::data;

struct fixture : temp_file {
    std::vector<value_task<void>> done; // destroyed before what the operations use, after the loop

    file_stream open(stream_driver& drive, std::string_view text) const {
        folder.make("file", text);
        return drive.open(path, file_mode::open, file_access::read_write);
    }
    void wait_for_all(stream_driver& drive) {
        for (auto& task : done)
            BOOST_TEST(drive.wait_for(std::move(task)).has_value());
        done.clear();
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(stream_order, fixture)

BOOST_DATA_TEST_CASE_F(fixture, eight_writes, data::make(asynchronous_ways()), way) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{1024}, std::size_t{70'000}}) {
        stream_driver drive(way);
        auto s = open(drive, "");
        std::vector<std::string> pieces;
        std::string all;
        for (char c = '0'; c < '8'; ++c)
            all += pieces.emplace_back(std::string(size, c));
        drive.start([&] {
            for (const std::string& piece : pieces)
                done.push_back(s.write_async(piece));
            done.push_back(s.flush_async());
        });
        wait_for_all(drive);
        BOOST_TEST((content() == all));
        BOOST_TEST(s.position() == all.size());
    }
}

BOOST_DATA_TEST_CASE_F(fixture, eight_reads, data::make(asynchronous_ways()), way) {
    for (const std::size_t size : {std::size_t{3}, std::size_t{1000}, std::size_t{70'000}}) {
        stream_driver drive(way);
        const std::string content = pattern_of(7 * size + size / 2);
        auto s = open(drive, content);
        std::vector<std::string> pieces(8, std::string(size, '\0'));
        std::vector<value_task<std::size_t>> reads;
        drive.start([&] {
            for (std::string& piece : pieces)
                reads.push_back(s.read_async(bytes_in(piece)));
        });
        std::string all;
        for (std::size_t i = 0; i < pieces.size(); ++i)
            all += pieces[i].substr(0, drive.wait_for(std::move(reads[i])).value());
        BOOST_TEST((all == content));
        BOOST_TEST(s.position() == content.size());
    }
}

BOOST_DATA_TEST_CASE_F(fixture, everything_in_turns, data::make(asynchronous_ways()), way) {
    stream_driver drive(way);
    auto s = open(drive, "0123456789");
    const std::string large = pattern_of(5000);
    std::string first(2, '.'), second(3, '.');
    drive.start([&] {
        done.push_back(s.write_async("abc"));
        done.push_back(s.write_async(large));
        done.push_back(s.flush_async());
        done.push_back(s.set_length_async(6)); // the position follows
        done.push_back(s.write_async("XY"));
        done.push_back(s.sync_async());
        done.push_back(s.set_length_async(20));
        done.push_back(s.read_exactly_async(bytes_in(first)));
        done.push_back(s.write_async("Z"));
        done.push_back(s.sync_data_async());
        done.push_back(s.read_exactly_async(bytes_in(second)));
    });
    wait_for_all(drive);
    BOOST_TEST(first == std::string(2, '\0'));
    BOOST_TEST(second == std::string(3, '\0'));
    BOOST_TEST(s.position() == 14u);
    BOOST_TEST(s.length() == 20u);
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST(content() == "abc" + large.substr(0, 3) + "XY" + std::string(2, '\0') + "Z" +
                                std::string(9, '\0'));
}

BOOST_DATA_TEST_CASE_F(fixture, appends, data::make(asynchronous_ways()), way) {
    stream_driver drive(way);
    folder.make("file", "start");
    auto s = drive.open(path, file_mode::append, file_access::write);
    std::vector<std::string> pieces;
    std::string all = "start";
    for (unsigned i = 0; i < 20; ++i)
        all += pieces.emplace_back(pattern_of(1 + i * 700, i));
    drive.start([&] {
        for (const std::string& piece : pieces)
            done.push_back(s.write_async(piece));
        done.push_back(s.flush_async());
    });
    wait_for_all(drive);
    BOOST_TEST((content() == all));
    BOOST_TEST(s.position() == all.size());
}

BOOST_DATA_TEST_CASE_F(fixture, pipes, data::make(asynchronous_ways()), way) {
    stream_driver drive(way);
    int ends[2];
    BOOST_REQUIRE(pipe(ends) == 0);
    auto source = drive.adopt(ends[0], file_access::read);
    auto target = drive.adopt(ends[1], file_access::write);
    std::vector<std::string> got(8, std::string(3, '.'));
    drive.start([&] {
        for (std::string& piece : got)
            done.push_back(source.read_exactly_async(bytes_in(piece)));
        for (const char* piece : {"0", "1234", "56", "7890abc", "d", "efgh", "ijklm"})
            done.push_back(target.write_async(piece));
    });
    wait_for_all(drive);
    const std::string all = got[0] + got[1] + got[2] + got[3] + got[4] + got[5] + got[6] + got[7];
    BOOST_TEST(all == "01234567890abcdefghijklm");
}

BOOST_DATA_TEST_CASE_F(fixture, close_comes_last, data::make(asynchronous_ways()), way) {
    stream_driver drive(way);
    auto s = open(drive, "");
    std::string all;
    std::vector<std::string> pieces;
    for (unsigned i = 0; i < 100; ++i)
        all += pieces.emplace_back(pattern_of(i * 10, i));
    drive.start([&] {
        for (const std::string& piece : pieces)
            done.push_back(s.write_async(piece));
        done.push_back(s.close_async());
        done.push_back(s.close_async());
        BOOST_TEST(!s.is_open());
    });
    wait_for_all(drive);
    BOOST_TEST((content() == all));
}

namespace {
struct call_log {
    std::mutex mutex;
    std::vector<raw_call> calls;
    static long note(void* self, platform::raw_call_site& site) {
        auto& log = *static_cast<call_log*>(self);
        const std::lock_guard lock(log.mutex);
        log.calls.push_back(site.call);
        return 0;
    }
    call_log() { platform::set_fault_hook(&note, this); }
    ~call_log() { platform::set_fault_hook(nullptr, nullptr); }
};
} // namespace

BOOST_DATA_TEST_CASE_F(fixture, sync_covers_what_was_called_before,
                       data::make(asynchronous_ways()), way) {
    stream_driver drive(way);
    auto s = open(drive, "");
    const std::string large = pattern_of(70'000);
    call_log log;
    drive.start([&] {
        done.push_back(s.write_async("first"));
        done.push_back(s.write_async(large));
        done.push_back(s.write_async("second"));
        done.push_back(s.sync_async());
    });
    wait_for_all(drive);
    BOOST_TEST((content() == "first" + large + "second"));
    const std::lock_guard lock(log.mutex);
    const auto is_write = [](raw_call c) {
        return c == raw_call::write || c == raw_call::write_no_wait || c == raw_call::ring_write;
    };
    const auto is_sync = [](raw_call c) { return c == raw_call::sync || c == raw_call::ring_sync; };
    const auto sync = std::find_if(log.calls.begin(), log.calls.end(), is_sync);
    BOOST_TEST((sync != log.calls.end()));
    BOOST_TEST((std::find_if(sync, log.calls.end(), is_write) == log.calls.end()));
}

// Something stays in flight: nobody runs the loop.
BOOST_DATA_TEST_CASE_F(fixture, synchronous_call_meets_one_in_flight,
                       data::make(all_stream_ways()), way) {
    if (way.style != calling::outside)
        return;
    stream_driver drive(way);
    auto s = open(drive, "0123456789");
    done.push_back(s.set_length_async(8));
    BOOST_REQUIRE(!done.back().is_completed());
    std::string buffer(2, '.');
    const auto busy = make_error_code(errc::operation_in_progress);
    const error_code expected = way.buffer_size > 1 ? busy : error_code();
    BOOST_TEST(error_of([&] { s.read(bytes_in(buffer)); }) == expected);
    BOOST_TEST(error_of([&] { s.read_exactly(bytes_in(buffer)); }) == expected);
    BOOST_TEST(error_of([&] { s.read_byte(); }) == expected);
    BOOST_TEST(error_of([&] { s.write("x"); }) == expected);
    BOOST_TEST(error_of([&] { s.flush(); }) == expected);
    BOOST_TEST(error_of([&] { s.sync(); }) == expected);
    BOOST_TEST(error_of([&] { s.set_length(9); }) == expected);
    BOOST_TEST(error_of([&] { s.position(3); }) == expected);
    BOOST_TEST(error_of([&] { s.seek(0, seek_origin::begin); }) == expected);
    BOOST_TEST(error_of([&] { s.close(); }) == busy);
    BOOST_TEST(error_of([&] { s.release(); }) == busy);
    BOOST_TEST(error_of([&] { (void)s.position(); }) == error_code());
    BOOST_TEST(error_of([&] { (void)s.length(); }) == error_code());
    BOOST_TEST(s.is_open());
    BOOST_TEST(s.can_read());
    BOOST_TEST(s.can_write());
    BOOST_TEST(s.can_seek());
    wait_for_all(drive);
    BOOST_TEST(s.length() == 8u);
    s.close();
}

// What a read beyond the end corrects afterwards is not what a seek said meanwhile.
BOOST_DATA_TEST_CASE_F(fixture, seek_beside_a_short_read, data::make(unbuffered_ways()), way) {
    if (way.style == calling::synchronous || !way.through_backend)
        return;
    stream_driver drive(way);
    auto s = open(drive, "0123456789");
    std::string large(20'000, '\0'), next(2, '.');
    std::vector<value_task<std::size_t>> reads;
    drive.start([&] {
        done.push_back(s.set_length_async(10)); // outside of the loop: keeps the read from its turn
        reads.push_back(s.read_async(bytes_in(large)));
        s.position(5);
        reads.push_back(s.read_async(bytes_in(next)));
        BOOST_TEST(s.position() == 7u);
    });
    BOOST_TEST(drive.wait_for(std::move(reads[0])).value() == 10u);
    BOOST_TEST(drive.wait_for(std::move(reads[1])).value() == 2u);
    wait_for_all(drive);
    BOOST_TEST(next == "56");
    BOOST_TEST(s.position() == 7u);
}

BOOST_DATA_TEST_CASE_F(fixture, cancelled_while_it_waits, data::make(asynchronous_ways()), way) {
    stream_driver drive(way);
    auto s = open(drive, "0123456789");
    std::stop_source stop;
    std::vector<value_task<void>> cancelled;
    std::string text(2, '.');
    drive.start([&] {
        done.push_back(s.set_length_async(10));
        done.push_back(s.write_async("ab"));
        cancelled.push_back(s.write_async("######", stop.get_token()));
        cancelled.push_back(s.read_exactly_async(bytes_in(text), stop.get_token()));
        stop.request_stop();
    });
    for (auto& task : cancelled)
        SLUICE_TEST_ERROR(drive.wait_for(std::move(task)), cancelled_error());
    wait_for_all(drive);
    BOOST_TEST(text == "..");
    BOOST_TEST(s.position() == 2u); // A08 (3)
    BOOST_TEST(drive.write(s, "c").has_value()); // B20
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST(content() == "abc3456789");
}

// Later positions never move: a gap stays where one was cancelled.
BOOST_DATA_TEST_CASE_F(fixture, gap_of_a_cancelled_one, data::make(unbuffered_ways()), way) {
    if (way.style == calling::synchronous)
        return;
    stream_driver drive(way);
    auto s = open(drive, "0123456789");
    std::stop_source stop;
    std::vector<value_task<void>> cancelled;
    drive.start([&] {
        done.push_back(s.set_length_async(10));
        cancelled.push_back(s.write_async("###", stop.get_token()));
        done.push_back(s.write_async("abc"));
        stop.request_stop();
    });
    SLUICE_TEST_ERROR(drive.wait_for(std::move(cancelled[0])), cancelled_error());
    wait_for_all(drive);
    BOOST_TEST(content() == "012abc6789");
    BOOST_TEST(s.position() == 3u); // what was transferred, as in the reference
}

BOOST_DATA_TEST_CASE_F(fixture, failed_cut_leaves_the_position, data::make(all_stream_ways()),
                       way) {
    stream_driver drive(way);
    auto s = open(drive, "0123456789");
    s.position(8);
    {
        fault_script script({{.call = raw_call::truncate, .error = EIO}});
        SLUICE_TEST_ERROR(drive.set_length(s, 3), errno_code(EIO));
        BOOST_TEST(script.seen(raw_call::truncate) == 1u);
    }
    BOOST_TEST(s.position() == 8u);
    BOOST_TEST(s.length() == 10u);
    BOOST_TEST(drive.read_byte(s) == '8');
}

BOOST_AUTO_TEST_SUITE_END()
