// After warm-up an operation of a stream takes nothing from the heap: neither here nor on a helper
// thread, on either backend, buffered or not, in every style.
#include "support/heap_counter.hpp"
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"

#include <sluice/runtime/sync_wait.hpp>
#include <sluice/runtime/task.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <thread>

namespace {

using namespace sluice;
using namespace sluice::test;
namespace data = boost::unit_test::data;

constexpr int warm_up = 200;
constexpr int rounds = 700;
constexpr std::size_t steps_of_round = 9;

// A thread that starts takes memory, once: with one worker that is in the warm-up.
runtime_options one_worker(const stream_way& way) {
    runtime_options options = options_for(way);
    options.worker_threads = 1;
    return options;
}

struct fixture {
    const temp_folder folder;
    std::string small = pattern_of(512), large = pattern_of(70'000);
    std::string into = std::string(70'000, '.');
    std::size_t before = 0;

    /// One operation of a round; all of them on one stream, from its beginning.
    value_task<void> start_step(file_stream& s, std::size_t step) {
        switch (step % steps_of_round) {
        case 0: s.position(0); return s.write_async(small);
        case 1: return s.write_async(small);
        case 2: return s.write_async(large);
        case 3: return s.flush_async();
        case 4: s.seek(0, seek_origin::begin); return s.read_exactly_async(bytes_in(small));
        case 5: return s.read_exactly_async(bytes_in(into).first(1000));
        case 6: return s.set_length_async(80'000);
        case 7: s.position(5); return s.read_exactly_async(bytes_in(into));
        default: s.position(3); return s.read_exactly_async(bytes_in(into).first(1));
        }
    }
    task<std::size_t> awaited(file_stream& s) {
        for (int round = 0; round < rounds; ++round) {
            if (round == warm_up)
                before = heap_allocations();
            for (std::size_t step = 0; step < steps_of_round; ++step)
                co_await start_step(s, step);
            co_await s.read_async(bytes_in(into).first(100));
        }
        co_return heap_allocations() - before;
    }
    std::size_t synchronous(file_stream& s) {
        for (int round = 0; round < rounds; ++round) {
            if (round == warm_up)
                before = heap_allocations();
            s.position(0);
            s.write(small);
            s.write(large);
            s.flush();
            s.seek(0, seek_origin::begin);
            s.read(bytes_in(small));
            s.read_exactly(bytes_in(into).first(1000));
            s.set_length(80'000);
            s.position(5);
            s.read_byte();
            s.write_byte(std::byte{1});
        }
        return heap_allocations() - before;
    }
    /// Each callback starts the next operation.
    void chain(file_stream& s, std::size_t step, std::size_t& allocated, bool& done) {
        if (step == warm_up * steps_of_round)
            before = heap_allocations();
        if (step == rounds * steps_of_round) {
            allocated = heap_allocations() - before;
            done = true;
            return;
        }
        start_step(s, step).on_completed([this, &s, step, &allocated, &done](error_code code) {
            if (code)
                done = true;
            else
                chain(s, step + 1, allocated, done);
        });
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(stream_allocations, fixture)

BOOST_AUTO_TEST_CASE(counter_counts) {
    const std::size_t start = heap_allocations();
    int* volatile made = new int(1);
    delete made;
    BOOST_TEST(heap_allocations() - start == 1u);
    void* volatile memory = std::malloc(10);
    memory = std::realloc(memory, 100);
    std::free(memory);
    BOOST_TEST(heap_allocations() - start == 3u);
}

BOOST_DATA_TEST_CASE_F(fixture, none_after_warm_up, data::make(all_stream_ways()), way) {
    stream_driver drive(way, one_worker(way));
    auto s = drive.open(folder / "file", file_mode::create, file_access::read_write);
    std::size_t allocated = 1;
    if (way.style == calling::synchronous) {
        allocated = synchronous(s);
    } else if (way.style == calling::awaited) {
        allocated = sync_wait(drive.runtime, awaited(s));
    } else {
        bool done = false;
        drive.start([&] { chain(s, 0, allocated, done); });
        drive.runtime.run();
        BOOST_TEST(done);
    }
    BOOST_TEST(allocated == 0u);
}

// Started by a thread beside the one that runs the loop, which has a list of sources of its own.
BOOST_DATA_TEST_CASE_F(fixture, none_from_outside, data::make(asynchronous_ways()), way) {
    if (way.style != calling::outside)
        return;
    stream_driver drive(way, one_worker(way));
    auto s = drive.open(folder / "file", file_mode::create, file_access::read_write);
    std::size_t allocated = 1;
    std::atomic<bool> over{false};
    drive.runtime.loop().work_started();
    std::thread caller([&] {
        std::atomic<bool> done{false};
        for (int round = 0; round < rounds; ++round) {
            if (round == warm_up)
                before = heap_allocations();
            for (std::size_t step = 0; step < steps_of_round; ++step) {
                done = false;
                start_step(s, step).on_completed([&done](error_code) {
                    done = true;
                    done.notify_one();
                });
                done.wait(false);
            }
        }
        allocated = heap_allocations() - before;
        over = true;
        drive.runtime.loop().work_finished();
    });
    drive.runtime.run();
    caller.join();
    BOOST_TEST(over);
    BOOST_TEST(allocated == 0u);
}

// Many in flight: sources come from the pool, queues are links within them.
BOOST_DATA_TEST_CASE_F(fixture, none_for_many_at_once, data::make(asynchronous_ways()), way) {
    if (way.style != calling::callback)
        return;
    stream_driver drive(way, one_worker(way));
    auto s = drive.open(folder / "file", file_mode::create, file_access::read_write);
    s.write(large);
    s.flush();
    std::size_t allocated = 1;
    int left = 0;
    for (int round = 0; round < 30; ++round) {
        if (round == 10)
            before = heap_allocations();
        drive.start([&] {
            s.position(0);
            for (int i = 0; i < 200; ++i, ++left)
                s.read_async(bytes_in(into).first(64)).on_completed([&](error_code, std::size_t) {
                    --left;
                });
        });
        while (left != 0)
            drive.runtime.poll();
        if (round == 29)
            allocated = heap_allocations() - before;
    }
    BOOST_TEST(allocated <= 20u); // what start() itself takes: one a round
}

BOOST_AUTO_TEST_SUITE_END()
