// The loop moves between threads, and between owning its backend and sharing it; nothing in flight
// is lost.
#include "support/backend_ways.hpp"
#include "support/child_process.hpp"
#include "support/open_descriptors.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <mutex>
#include <thread>

#include <unistd.h>

using namespace sluice;
using namespace sluice::test;
using platform::own_position;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(backend_ownership)

BOOST_DATA_TEST_CASE(a_pending_pipe_read_moves_with_the_loop, data::make(all_ways), how) {
    const auto file = test_file::with("text");
    test_pipe pipe;
    driver d(how);
    d.release();
    char buffer[8] = {};
    char other[4];
    test_operation pending;
    prepare_read(pending, *pipe.output, buffer, sizeof buffer, own_position);
    for (int i = 0; i < 20; ++i) {
        std::thread([&] {
            d.acquire();
            if (i == 0)
                d->submit(pending);
            test_operation op;
            prepare_read(op, *file, other, 4, 0);
            BOOST_TEST(d.perform(op) == 4);
            d.release();
        }).join();
        BOOST_TEST(pending.completed == 0);
    }
    BOOST_TEST(write(pipe.input->descriptor(), "moved", 5) == 5);
    d.acquire();
    d.run();
    BOOST_TEST(pending.result == 5);
    BOOST_TEST(std::string(buffer) == "moved");
}

BOOST_DATA_TEST_CASE(release_keeps_what_finished_meanwhile, data::make(all_ways), how) {
    const auto file = test_file::with(pattern(4'000'000));
    driver d(how);
    std::vector<test_operation> ops(100);
    std::vector<std::string> buffers(100, std::string(40'000, '?'));
    for (std::size_t i = 0; i < ops.size(); ++i) {
        prepare_read(ops[i], *file, buffers[i].data(), 40'000, 40'000 * i);
        d->submit(ops[i]);
        if (i == 50)
            d->flush();
    }
    d.release();
    BOOST_TEST(d->in_flight() == 100u);
    std::thread([&] {
        d.acquire();
        d.run();
        d.release();
    }).join();
    for (const test_operation& op : ops)
        BOOST_TEST(op.result == 40'000);
    d.acquire();
}

BOOST_DATA_TEST_CASE(submitted_before_anybody_runs, data::make(all_ways), how) {
    const auto file = test_file::with("text");
    test_pipe pipe;
    driver d(how);
    d.release();
    char buffers[2][4];
    test_operation ops[2];
    prepare_read(ops[0], *file, buffers[0], 4, 0);
    prepare_read(ops[1], *pipe.output, buffers[1], 4, own_position);
    for (test_operation& op : ops)
        d->submit(op);
    d->cancel(ops[1]);
    std::thread([&] {
        d.acquire();
        d.run();
        d.release();
    }).join();
    BOOST_TEST(ops[0].result == 4);
    BOOST_TEST(ops[1].result == -ECANCELED);
    d.acquire();
}

BOOST_AUTO_TEST_CASE(alternating_between_owning_and_sharing) {
    if (!platform::uring_is_built())
        return;
    const auto file = test_file::with("text");
    test_pipe pipe;
    char buffer[4];
    driver d(ring_ways[1]);
    test_operation pending;
    prepare_read(pending, *pipe.output, buffer, 4, own_position);
    d->submit(pending);
    for (int i = 0; i < 40; ++i) {
        const bool exclusive = i % 2 != 0;
        d->acquire(exclusive);
        test_operation op;
        char other[4];
        prepare_read(op, *file, other, 4, 0);
        BOOST_TEST(d.perform(op) == 4);
        if (exclusive)
            d->release();
    }
    d->acquire(false);
    BOOST_TEST(write(pipe.input->descriptor(), "done", 4) == 4);
    d.run();
    BOOST_TEST(pending.result == 4);
}

BOOST_AUTO_TEST_CASE(a_thread_that_ended_without_release) {
    if (!platform::uring_is_built())
        return;
    const auto file = test_file::with(pattern(1'000'000));
    test_pipe pipe;
    driver d(ring_ways[0]);
    d.release();
    char buffer[4];
    std::string large(1'000'000, '?');
    test_operation ops[2];
    prepare_read(ops[0], *pipe.output, buffer, 4, own_position);
    prepare_read(ops[1], *file, large.data(), large.size(), 0);
    std::thread([&] {
        d.acquire();
        for (test_operation& op : ops)
            d->submit(op);
        d->flush();
    }).join();
    d.acquire();
    BOOST_TEST(write(pipe.input->descriptor(), "late", 4) == 4);
    d.run();
    BOOST_TEST(ops[0].result == 4);
    BOOST_TEST(ops[1].result == 1'000'000);
    BOOST_TEST((large == pattern(1'000'000)));
}

BOOST_DATA_TEST_CASE(many_threads_take_turns_under_a_mutex, data::make(shared_ways), how) {
    const auto file = test_file::with(pattern(65536));
    driver d(how);
    std::mutex mutex;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            char buffer[512];
            for (int i = 0; i < 200; ++i) {
                test_operation op;
                prepare_read(op, *file, buffer, sizeof buffer,
                             static_cast<std::uint64_t>(i % 100) * 512);
                std::unique_lock lock(mutex);
                d->acquire(false);
                d->submit(op);
                d->flush();
                while (op.completed == 0) {
                    d.turn();
                    d->flush();
                    lock.unlock();
                    std::this_thread::yield();
                    lock.lock();
                }
                if (op.result != 512)
                    std::abort();
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    BOOST_TEST(d->in_flight() == 0u);
}

BOOST_DATA_TEST_CASE(short_lived_backends_leave_nothing, data::make(all_ways), how) {
    const auto file = test_file::with("text");
    const std::size_t before = open_descriptors();
    for (int i = 0; i < 100; ++i) {
        std::thread([&] {
            driver unused(how); // never ran: not even a ring
            driver d(how);
            char buffer[4];
            test_operation op;
            prepare_read(op, *file, buffer, 4, 0);
            BOOST_REQUIRE(d.perform(op) == 4);
        }).join();
    }
    BOOST_TEST(open_descriptors() == before);
}

// A ring is mapped where another thread's was a moment ago: ThreadSanitizer must know of the
// mapping.
BOOST_DATA_TEST_CASE(rings_of_several_threads_use_the_same_addresses, data::make(ring_ways), how) {
    const auto file = test_file::with("text");
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 30; ++i) {
                driver d(how);
                char buffer[4];
                test_operation op;
                prepare_read(op, *file, buffer, 4, 0);
                right += d.perform(op) == 4;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    BOOST_TEST(right == 120);
}

BOOST_DATA_TEST_CASE(a_forked_child_leaves_the_parent_s_ring_alone, data::make(ring_ways), how) {
    const auto file = test_file::with("text");
    test_pipe pipe;
    driver d(how);
    char buffer[8] = {};
    test_operation pending;
    prepare_read(pending, *pipe.output, buffer, sizeof buffer, own_position);
    d->submit(pending);
    d->flush();
    SLUICE_CHECK_CHILD([] { return 0; });
    SLUICE_CHECK_CHILD([&] {
        d->forget_after_fork();
        SLUICE_EXPECT(d->in_flight() == 0);
        test_operation op;
        char other[4];
        prepare_read(op, *file, other, 4, 0);
        SLUICE_EXPECT(d.perform(op) == 4);
        driver fresh(how);
        SLUICE_EXPECT(fresh.perform(op) == 4);
        return 0;
    });
    for (int i = 0; i < 100; ++i) {
        test_operation op;
        char other[4];
        prepare_read(op, *file, other, 4, 0);
        BOOST_REQUIRE(d.perform(op) == 4);
    }
    BOOST_TEST(write(pipe.input->descriptor(), "parent", 6) == 6);
    d.run();
    BOOST_TEST(std::string(buffer) == "parent");
}

BOOST_AUTO_TEST_SUITE_END()
