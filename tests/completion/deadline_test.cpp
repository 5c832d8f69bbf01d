// Deadlines on completion sources, and the timers underneath.
#include "support/home_coroutine.hpp"
#include "support/race_rounds.hpp"
#include "support/seed.hpp"

#include <sluice/completion/completion_pool.hpp>
#include <sluice/completion/completion_source.hpp>
#include <sluice/completion/timer_heap.hpp>
#include <sluice/runtime/io_runtime.hpp>
#include <sluice/runtime/spawn.hpp>
#include <sluice/runtime/sync_wait.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

namespace sluice::test {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

struct deadline_fixture {
    io_runtime runtime;
    completion_source<int> source{runtime.get_executor()};
};

const error_code timed_out = make_error_code(errc::timed_out);

} // namespace

BOOST_FIXTURE_TEST_SUITE(deadline_test, deadline_fixture)

BOOST_AUTO_TEST_CASE(operation_without_completion_ends_as_timed_out) {
    auto within = [&]() -> task<error_code> {
        co_return (co_await source.task().within(1us).as_result()).error();
    };
    BOOST_TEST(sync_wait(runtime, within()) == timed_out);
    source.reset();
    auto deadline = [&]() -> task<error_code> {
        co_return (co_await source.task().deadline(clock::now() + 1us).as_result()).error();
    };
    BOOST_TEST(sync_wait(runtime, deadline()) == timed_out);
}

BOOST_AUTO_TEST_CASE(deadline_that_has_passed_ends_it_in_the_next_turn) {
    error_code seen;
    source.task().deadline(clock::now() - 1h).on_completed([&](error_code code, int) {
        seen = code;
    });
    BOOST_TEST(!seen);
    runtime.poll();
    BOOST_TEST(seen == timed_out);
}

BOOST_AUTO_TEST_CASE(completion_before_the_deadline_wins) {
    int seen = 0;
    source.task().within(1h).on_completed([&](error_code, int value) { seen = value; });
    runtime.poll();
    source.set_result(4);
    runtime.poll();
    BOOST_TEST(seen == 4);
}

BOOST_AUTO_TEST_CASE(completion_after_the_deadline_is_refused) {
    auto ticket = source.task().deadline(clock::time_point::min());
    runtime.poll();
    BOOST_TEST(ticket.is_completed());
    BOOST_TEST(!source.try_set_result(1));
    BOOST_TEST(ticket.get_result().error() == timed_out);
}

BOOST_AUTO_TEST_CASE(reset_forgets_the_deadline) {
    {
        auto ticket = source.task().deadline(clock::time_point::min());
        source.reset();
    }
    auto next = source.task();
    runtime.poll();
    BOOST_TEST(!next.is_completed());
    // Also one that the runtime's thread has armed already.
    auto armed = [&]() -> task<> {
        auto ticket = source.task().deadline(clock::now());
        source.reset();
        co_return;
    };
    next = value_task<int>();
    source.reset();
    sync_wait(runtime, armed());
    next = source.task();
    runtime.poll();
    BOOST_TEST(!next.is_completed());
}

BOOST_AUTO_TEST_CASE(later_deadline_replaces_an_earlier_one) {
    auto ticket = source.task().deadline(clock::time_point::min()).within(1h);
    runtime.poll();
    BOOST_TEST(!ticket.is_completed());
    ticket = std::move(ticket).deadline(clock::time_point::min());
    runtime.poll();
    BOOST_TEST(ticket.is_completed());
}

BOOST_AUTO_TEST_CASE(durations_beyond_the_end_of_time_never_end) {
    auto ticket = source.task().within(std::chrono::hours::max());
    runtime.poll();
    BOOST_TEST(!ticket.is_completed());
    BOOST_TEST((completion::time_after(std::chrono::hours::max()) == clock::time_point::max()));
    BOOST_TEST((completion::time_after(clock::duration::max()) == clock::time_point::max()));
    const auto begin = clock::now();
    const auto past = completion::time_after(std::chrono::hours::min());
    BOOST_TEST((past >= begin && past <= clock::now()));
    BOOST_TEST((completion::time_after(1h) >= begin + 1h));
}

BOOST_AUTO_TEST_CASE(deadline_from_another_thread_counts) {
    value_task<int> ticket = source.task();
    std::thread([&] { ticket = std::move(ticket).deadline(clock::now()); }).join();
    BOOST_TEST(!ticket.is_completed());
    runtime.poll();
    BOOST_TEST(ticket.is_completed());
}

BOOST_AUTO_TEST_CASE(deadline_on_an_executor_without_timers_throws_at_the_call) {
    boost::asio::io_context context;
    completion_source<int> of_context(context.get_executor());
    BOOST_CHECK_THROW(of_context.task().within(1h), std::invalid_argument);
    context.run();
}

BOOST_AUTO_TEST_CASE(sources_move_to_another_runtime_while_their_old_deadline_is_armed) {
    // Sources of one type share their memory; timers of the first runtime must not be touched by
    // the second one.
    struct unique_type {
        std::array<int, 5> numbers{};
    };
    const auto arm_some = [](io_runtime& on, clock::duration wait) {
        auto body = [&]() -> task<> {
            for (int i = 0; i < 100; ++i) {
                completion_source<unique_type> short_lived(on.get_executor());
                const auto ticket = short_lived.task().within(wait);
            }
            co_return;
        };
        sync_wait(on, body());
    };
    auto second = std::make_unique<io_runtime>();
    for (int round = 0; round < 5; ++round) {
        arm_some(runtime, 1h);
        arm_some(*second, round % 2 == 0 ? 1h : 0h);
        second->poll();
    }
    second = std::make_unique<io_runtime>(); // timers of the one before are let go of
    arm_some(*second, 0h);
    arm_some(runtime, 0h);
    second->poll();
    runtime.poll();
    BOOST_TEST(true); // nothing was corrupted
}

BOOST_AUTO_TEST_CASE(source_destroyed_with_its_deadline_request_still_travelling) {
    auto second = std::make_unique<io_runtime>();
    for (int round = 0; round < 10; ++round) {
        completion_source<std::string> of_first(runtime.get_executor());
        auto first = of_first.task().deadline(clock::time_point::min());
        completion_source<std::string> of_second(second->get_executor());
        auto of_other = of_second.task().deadline(clock::time_point::min());
    }
    runtime.poll();
    second.reset();
    BOOST_TEST(true); // nothing was corrupted
}

// RACE: the deadline of a version against its owner on another thread, who completes, takes the
// result and goes on with the next version: that one has no deadline, and no claim on it.
BOOST_AUTO_TEST_CASE(old_deadline_does_not_touch_the_next_version) {
    std::mt19937 random(new_seed());
    auto work = boost::asio::require(runtime.get_executor(),
                                     boost::asio::execution::outstanding_work.tracked);
    std::thread loop([&] { runtime.run(); });
    completion_pool<int> pool(runtime.get_executor());
    int wrong = 0;
    for (const int round : race_rounds(4)) {
        {
            auto timed = pool.rent();
            auto ticket = timed.task().within(std::chrono::nanoseconds(random() % 2000));
            const bool won = timed.try_set_result(round);
            while (!ticket.is_completed())
                std::this_thread::yield();
            const auto outcome = ticket.get_result();
            wrong += outcome.has_value() != won;
        }
        source.reset();
        {
            const auto dropped = source.task().within(std::chrono::nanoseconds(random() % 2000));
        }
        source.reset();
        auto next = pool.rent();
        wrong += !next.try_set_result(round) || next.task().get() != round;
        wrong += !source.try_set_result(round) || source.task().get() != round;
    }
    BOOST_TEST(wrong == 0);
    runtime.stop();
    loop.join();
}

BOOST_AUTO_TEST_CASE(deadlines_fire_in_their_order) {
    std::vector<int> order;
    std::vector<std::unique_ptr<completion_source<int>>> sources;
    auto body = [&]() -> task<> {
        const auto now = clock::now();
        for (const int i : {3, 1, 4, 0, 2}) {
            sources.push_back(std::make_unique<completion_source<int>>(runtime.get_executor()));
            sources.back()
                ->task()
                .deadline(now - 10s + i * 1s)
                .on_completed([&order, i](error_code, int) { order.push_back(i); });
        }
        co_return;
    };
    sync_wait(runtime, body());
    runtime.poll();
    const std::vector<int> expected{0, 1, 2, 3, 4};
    BOOST_TEST(order == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(timer_heap_agrees_with_a_sorted_list) {
    std::mt19937 random(new_seed());
    completion::timer_heap heap;
    std::vector<completion::timer_node> timers(300);
    std::vector<completion::timer_node*> armed;
    for (int step = 0; step < 20'000; ++step) {
        auto& timer = timers[random() % timers.size()];
        const auto place = std::find(armed.begin(), armed.end(), &timer);
        BOOST_REQUIRE(timer.armed() == (place != armed.end()));
        if (random() % 3 == 0) {
            heap.disarm(timer);
            if (place != armed.end())
                armed.erase(place);
        } else {
            heap.arm(timer, clock::time_point(clock::duration(random() % 1000)));
            if (place == armed.end())
                armed.push_back(&timer);
        }
        BOOST_REQUIRE(heap.size() == armed.size());
        if (armed.empty())
            continue;
        const auto earliest = *std::min_element(armed.begin(), armed.end(),
                                                [](auto* a, auto* b) { return a->when < b->when; });
        BOOST_REQUIRE((heap.earliest() == earliest->when));
    }
    auto previous = clock::time_point::min();
    for (std::size_t left = armed.size(); left > 0; --left) {
        const auto& first = heap.pop();
        BOOST_REQUIRE((first.when >= previous));
        BOOST_REQUIRE(!first.armed());
        previous = first.when;
    }
    BOOST_TEST(heap.empty());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
