// Timers: order, cancellation, many of them. No test depends on how long a sleep takes.
#include "support/seed.hpp"

#include <sluice/runtime/io_runtime.hpp>
#include <sluice/runtime/sleep.hpp>
#include <sluice/runtime/spawn.hpp>
#include <sluice/runtime/sync_wait.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

namespace sluice::test {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

struct sleep_fixture {
    io_runtime runtime;
    io_runtime::executor_type executor = runtime.get_executor();

    static bool was_cancelled(const error_code& code) {
        return code == std::errc::operation_canceled;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(sleep_test, sleep_fixture)

BOOST_AUTO_TEST_CASE(sleep_never_ends_early) {
    const auto until = clock::now() + 3ms;
    sync_wait(runtime, sleep_until(executor, until));
    BOOST_TEST((clock::now() >= until));
    const auto begin = clock::now();
    sync_wait(runtime, sleep_for(executor, 3ms));
    BOOST_TEST((clock::now() - begin >= 3ms));
}

BOOST_AUTO_TEST_CASE(times_that_have_passed_end_in_the_next_turn) {
    sync_wait(runtime, sleep_until(executor, clock::now() - 1h));
    sync_wait(runtime, sleep_until(executor, clock::time_point::min()));
    sync_wait(runtime, sleep_for(executor, 0s));
    sync_wait(runtime, sleep_for(executor, -1h));
    int done = 0;
    sleep_for(executor, 0s).on_completed([&](error_code) { ++done; });
    BOOST_TEST(done == 0);
    runtime.poll();
    BOOST_TEST(done == 1);
}

BOOST_AUTO_TEST_CASE(sleeps_end_in_the_order_of_their_times) {
    std::mt19937 random(new_seed());
    std::vector<int> numbers(500);
    for (int i = 0; i < 500; ++i)
        numbers[static_cast<std::size_t>(i)] = i;
    std::shuffle(numbers.begin(), numbers.end(), random);
    std::vector<int> order;
    const auto now = clock::now();
    for (const int number : numbers)
        sleep_until(executor, now + number * 2us).on_completed([&order, number](error_code) {
            order.push_back(number);
        });
    runtime.run();
    BOOST_TEST(order.size() == 500u);
    BOOST_TEST(std::is_sorted(order.begin(), order.end()));
}

BOOST_AUTO_TEST_CASE(sleep_counts_as_work) {
    int done = 0;
    sleep_for(executor, 1ms).on_completed([&](error_code code) { done += code ? 100 : 1; });
    runtime.run();
    BOOST_TEST(done == 1);
}

BOOST_AUTO_TEST_CASE(stop_request_ends_a_sleep_as_cancelled) {
    std::stop_source stop;
    error_code seen;
    sleep_for(executor, 1h, stop.get_token()).on_completed([&](error_code code) { seen = code; });
    runtime.poll();
    BOOST_TEST(!seen);
    stop.request_stop();
    runtime.run();
    BOOST_TEST(was_cancelled(seen));
}

BOOST_AUTO_TEST_CASE(stop_request_before_the_sleep_ends_it_at_once) {
    std::stop_source stop;
    stop.request_stop();
    auto body = [&]() -> task<> {
        const auto outcome = co_await sleep_for(executor, 1h, stop.get_token()).as_result();
        BOOST_TEST(was_cancelled(outcome.error()));
    };
    sync_wait(runtime, body());
    error_code seen;
    sleep_for(executor, 1h, stop.get_token()).on_completed([&](error_code code) { seen = code; });
    runtime.run();
    BOOST_TEST(was_cancelled(seen));
}

BOOST_AUTO_TEST_CASE(stop_request_from_another_thread_ends_a_sleep) {
    std::stop_source stop;
    std::thread stopping;
    auto body = [&]() -> task<> {
        stopping = std::thread([&] { stop.request_stop(); });
        const auto outcome = co_await sleep_for(executor, 1h, stop.get_token()).as_result();
        BOOST_TEST(was_cancelled(outcome.error()));
    };
    sync_wait(runtime, body());
    stopping.join();
}

BOOST_AUTO_TEST_CASE(stop_request_after_the_end_is_ignored) {
    std::stop_source stop;
    sync_wait(runtime, sleep_for(executor, 1us, stop.get_token()));
    stop.request_stop();
    error_code seen = make_error_code(errc::closed);
    sleep_for(executor, 1us).on_completed([&](error_code code) { seen = code; });
    runtime.run();
    BOOST_TEST(!seen);
}

BOOST_AUTO_TEST_CASE(cancellation_and_deadline_from_another_thread_both_count) {
    // Both travel to the runtime in one request.
    for (int round = 0; round < 100; ++round) {
        std::stop_source stop;
        error_code seen;
        std::thread([&] {
            auto ticket = sleep_for(executor, 1h, stop.get_token());
            stop.request_stop();
            std::move(ticket).within(1h).on_completed([&](error_code code) { seen = code; });
        }).join();
        runtime.run();
        BOOST_REQUIRE(was_cancelled(seen));
    }
}

BOOST_AUTO_TEST_CASE(deadline_ends_a_sleep_as_timed_out) {
    auto body = [&]() -> task<> {
        const auto outcome = co_await sleep_for(executor, 1h).within(1us).as_result();
        BOOST_TEST(outcome.error() == make_error_code(errc::timed_out));
    };
    sync_wait(runtime, body());
}

BOOST_AUTO_TEST_CASE(sleep_beyond_the_end_of_time_does_not_end) {
    std::stop_source stop;
    auto ticket = sleep_for(executor, std::chrono::hours::max(), stop.get_token());
    runtime.poll();
    BOOST_TEST(!ticket.is_completed());
    stop.request_stop();
    runtime.poll();
    BOOST_TEST(ticket.is_completed());
}

BOOST_AUTO_TEST_CASE(destroying_the_coroutine_ends_its_sleep) {
    {
        auto ticket = sleep_for(executor, 1us);
        runtime.poll();
    }
    auto body = [](io_runtime::executor_type on) -> task<> { co_await sleep_for(on, 1h); };
    BOOST_CHECK_THROW(
        {
            boost::asio::post(executor, [] { throw std::runtime_error("mine"); });
            sync_wait(runtime, body(executor)); // the exception ends it, and it the coroutine
        },
        std::runtime_error);
    runtime.run(); // would go on for an hour
    BOOST_TEST(statistics(runtime).in_flight == 0u);
}

BOOST_AUTO_TEST_CASE(dropped_sleep_goes_on_and_counts_until_its_time) {
    {
        const auto dropped = sleep_for(executor, 1ms);
    }
    runtime.run();
    BOOST_TEST(statistics(runtime).in_flight == 0u);
    BOOST_TEST(statistics(runtime).pool_rented == 0u);
}

BOOST_AUTO_TEST_CASE(many_sleeps_some_cancelled) {
    constexpr int count = 20'000;
    std::mt19937 random(new_seed());
    std::stop_source stop;
    int ended = 0;
    int cancelled = 0;
    for (int i = 0; i < count; ++i)
        sleep_for(executor, random() % 2 == 0 ? clock::duration(random() % 1'000'000) : 1h,
                  stop.get_token())
            .on_completed([&](error_code code) { ++(code ? cancelled : ended); });
    sleep_for(executor, 1ms).on_completed([&](error_code) { stop.request_stop(); });
    runtime.run();
    BOOST_TEST(ended + cancelled == count);
    BOOST_TEST(cancelled > 0);
    BOOST_TEST(statistics(runtime).pool_rented == 0u);
}

BOOST_AUTO_TEST_CASE(sleep_needs_an_executor_with_timers) {
    boost::asio::io_context context;
    BOOST_CHECK_THROW((void)sleep_for(context.get_executor(), 1s), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(type_erased_executor_will_do) {
    const boost::asio::any_io_executor erased = executor;
    sync_wait(runtime, sleep_for(erased, 1us));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
