// What a runtime tells about the operations it had.
#include "support/fault_script.hpp"
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"

#include <sluice/runtime/sleep.hpp>
#include <sluice/runtime/sync_wait.hpp>
#include <sluice/runtime/task.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <thread>

namespace {

using namespace sluice;
using namespace sluice::test;
using namespace std::chrono_literals;
namespace data = boost::unit_test::data;
using clock = std::chrono::steady_clock;

std::uint64_t operations_in(const latency_histogram& histogram) {
    return std::accumulate(histogram.begin(), histogram.end(), std::uint64_t{0});
}

latency_histogram latency_of(const io_runtime& runtime, platform::opcode code) {
    return statistics(runtime).latency[static_cast<std::size_t>(code)];
}

std::size_t bucket_of(std::chrono::nanoseconds time) {
    return completion::loop_counters::bucket_of(time);
}

struct fixture {
    const temp_folder folder;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(statistics_test, fixture)

// The call is held, once the backend has it, until the system's clock says that time has passed.
BOOST_DATA_TEST_CASE_F(fixture, latency_is_that_of_the_operation, data::make(asynchronous_ways()),
                       way) {
    stream_driver drive(way);
    auto s = drive.open(folder / "f", file_mode::create, file_access::write);
    BOOST_TEST(drive.write(s, "x").has_value());
    fault_script script({{.call = platform::raw_call::ring_sync, .hold = true},
                         {.call = platform::raw_call::sync, .hold = true}});
    const auto first = clock::now();
    std::thread other([&] {
        script.wait_until_held(1);
        for (const auto start = clock::now(); clock::now() - start < 3ms;) {
        }
        script.release();
    });
    BOOST_TEST(drive.sync(s).has_value());
    const auto last = clock::now();
    other.join();

    const auto histogram = latency_of(drive.runtime, platform::opcode::sync);
    BOOST_TEST(operations_in(histogram) == 1u);
    for (std::size_t bucket = 0; bucket < histogram.size(); ++bucket)
        if (histogram[bucket] != 0) {
            BOOST_TEST(bucket >= bucket_of(2ms)); // the ratio of the clocks may be a little off
            BOOST_TEST(bucket <= bucket_of(2 * (last - first)));
        }
    BOOST_TEST(operations_in(latency_of(drive.runtime, platform::opcode::sync_data)) == 0u);
}

// Turns that only timers had lie between two reads: the second began when it was called, and not in
// the turn of the first.
BOOST_AUTO_TEST_CASE(latency_begins_in_the_turn_of_the_call) {
    stream_driver drive({.buffer_size = 0, .through_backend = true});
    auto s = drive.open(folder / "f", file_mode::create, file_access::read_write);
    s.write(std::as_bytes(std::span("text", 4)));
    auto longest = clock::duration::zero();
    const auto body = [&]() -> task<> {
        std::array<std::byte, 4> buffer{};
        for (int i = 0; i < 2; ++i) {
            s.seek(0, seek_origin::begin);
            const auto first = clock::now();
            (void)co_await s.read_async(buffer);
            const auto last = clock::now();
            longest = std::max(longest, last - first);
            while (clock::now() - last < 20ms + 8 * longest)
                co_await sleep_for(drive.runtime.get_executor(), 0ns);
        }
    };
    sync_wait(drive.runtime, body());

    const auto histogram = latency_of(drive.runtime, platform::opcode::read);
    BOOST_TEST(operations_in(histogram) == 2u);
    for (std::size_t bucket = bucket_of(2 * longest) + 1; bucket < histogram.size(); ++bucket)
        BOOST_TEST(histogram[bucket] == 0u);
}

BOOST_AUTO_TEST_CASE(buckets_are_powers_of_two_in_microseconds) {
    BOOST_TEST(bucket_of(0ns) == 0u);
    BOOST_TEST(bucket_of(999ns) == 0u);
    BOOST_TEST(bucket_of(1us) == 1u);
    BOOST_TEST(bucket_of(1999ns) == 1u);
    BOOST_TEST(bucket_of(2us) == 2u);
    BOOST_TEST(bucket_of(1023us) == 10u);
    BOOST_TEST(bucket_of(1024us) == 11u);
    BOOST_TEST(bucket_of(1h) == std::tuple_size_v<latency_histogram> - 1);
}

BOOST_AUTO_TEST_SUITE_END()
