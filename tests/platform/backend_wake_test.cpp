// Waiting and being woken: no wake is lost, no completion of a worker is overslept, the handle
// becomes readable.
#include "support/backend_ways.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <thread>

#include <poll.h>
#include <unistd.h>

using namespace sluice;
using namespace sluice::test;
using platform::opcode;
using platform::own_position;
using clock_type = platform::backend::clock;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(backend_wake)

BOOST_DATA_TEST_CASE(a_wake_before_the_wait_counts, data::make(all_ways), how) {
    driver d(how);
    d->wake();
    d->wait(clock_type::time_point::max()); // would hang
}

BOOST_DATA_TEST_CASE(a_wait_that_is_over_does_not_sleep, data::make(all_ways), how) {
    driver d(how);
    d->wait(clock_type::now());
    d->wait(clock_type::time_point{});
    d->wait(clock_type::now() + std::chrono::microseconds(100));
}

BOOST_DATA_TEST_CASE(no_wake_is_lost, data::make(all_ways) * data::make({false, true}), how,
                     with_pending_read) {
    test_pipe pipe;
    driver d(how);
    char buffer;
    test_operation op;
    prepare_read(op, *pipe.output, &buffer, 1, own_position);
    if (with_pending_read) { // so that a ring exists
        d->submit(op);
        d->flush();
    }
    constexpr int wanted = 3000;
    std::atomic<int> posted{0};
    std::atomic<int> seen{0};
    const auto post = [&] {
        for (int i = 0; i < wanted; ++i) {
            posted.fetch_add(1);
            d->wake();
            if (i % 100 == 0) // let the loop fall asleep now and then
                while (seen.load() < posted.load())
                    std::this_thread::yield();
        }
    };
    std::thread one(post);
    std::thread two(post);
    d.run_until([&] {
        seen.store(posted.load());
        return seen.load() == 2 * wanted;
    });
    one.join();
    two.join();
    if (with_pending_read) {
        d->cancel(op);
        d.run();
    }
}

BOOST_DATA_TEST_CASE(a_worker_s_completion_ends_the_wait, data::make(all_ways), how) {
    test_pipe pipe;
    driver d(how);
    char buffer;
    test_operation pending;
    prepare_read(pending, *pipe.output, &buffer, 1, own_position);
    d->submit(pending);
    test_operation op;
    op.code = opcode::call;
    op.call = [](platform::request& self) noexcept { self.result = 7; };
    for (int i = 0; i < 300; ++i)
        BOOST_REQUIRE(d.perform(op) == 7);
    d->cancel(pending);
    d.run();
}

namespace {

bool is_readable(int descriptor, int timeout_ms) {
    pollfd watched{descriptor, POLLIN, 0};
    return poll(&watched, 1, timeout_ms) > 0;
}

} // namespace

BOOST_DATA_TEST_CASE(the_handle_tells_of_every_kind_of_completion, data::make(all_ways), how) {
    if (how.exclusive && how.choice == backend_choice::uring)
        return; // a loop that watches a descriptor never binds its ring
    const auto file = test_file::with("text");
    test_pipe pipe;
    driver d(how);
    const int handle = d->wait_handle();
    BOOST_REQUIRE(handle >= 0);
    BOOST_TEST(d->wait_handle() == handle);
    d.turn();

    char buffer[4];
    const auto ends_by_the_handle = [&](test_operation& op) {
        op.completed = 0;
        while (op.completed == 0) {
            BOOST_REQUIRE(is_readable(handle, -1));
            d.turn();
            d->flush();
        }
    };
    test_operation op;
    for (int round = 0; round < 3; ++round) {
        prepare_read(op, *file, buffer, 4, 0);
        d->submit(op);
        d->flush();
        ends_by_the_handle(op);
        BOOST_TEST(op.result == 4);

        prepare_read(op, *pipe.output, buffer, 4, own_position);
        d->submit(op);
        d->flush();
        BOOST_TEST(write(pipe.input->descriptor(), "abcd", 4) == 4);
        ends_by_the_handle(op);
        BOOST_TEST(op.result == 4);

        prepare_read(op, *pipe.output, buffer, 4, own_position);
        d->submit(op);
        d->cancel(op);
        d->flush();
        ends_by_the_handle(op);

        static_cast<platform::request&>(op) = {};
        op.code = opcode::call;
        op.call = [](platform::request& self) noexcept { self.result = 0; };
        d->submit(op);
        d->flush();
        ends_by_the_handle(op);
    }
    // Taken back, so that a level-triggered watcher does not spin. A worker may signal after its
    // operation was reaped already: once more then.
    while (is_readable(handle, 0))
        d.turn();
}

BOOST_DATA_TEST_CASE(data_handed_over_through_a_pipe_alone_is_no_race, data::make(ring_ways), how) {
    // Two threads, each with its own ring; what orders them is the kernel. ThreadSanitizer must not
    // complain.
    test_pipe pipe;
    int shared = 0;
    std::thread writer([&] {
        driver d(how);
        shared = 42;
        test_operation op;
        prepare_write(op, *pipe.input, "x", 1, own_position);
        d.perform(op);
    });
    driver d(how);
    char buffer;
    test_operation op;
    prepare_read(op, *pipe.output, &buffer, 1, own_position);
    BOOST_TEST(d.perform(op) == 1);
    BOOST_TEST(shared == 42);
    writer.join();
}

BOOST_AUTO_TEST_SUITE_END()
