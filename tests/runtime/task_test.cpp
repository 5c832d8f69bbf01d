// The coroutine type of the library: laziness, results, ownership, and a stack that stays small.
#include "support/counted.hpp"
#include "support/home_coroutine.hpp"
#include "support/small_stack.hpp"

#include <sluice/completion/completion_source.hpp>
#include <sluice/runtime/io_runtime.hpp>
#include <sluice/runtime/spawn.hpp>
#include <sluice/runtime/sync_wait.hpp>
#include <sluice/runtime/task.hpp>

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>

namespace sluice::test {

namespace {

struct task_fixture {
    ~task_fixture() { BOOST_TEST(counted::alive() == 0); }

    io_runtime runtime;
};

constexpr int million = 1'000'000;

static_assert(!std::is_copy_constructible_v<task<int>>);
static_assert(std::is_nothrow_move_constructible_v<task<int>>);

} // namespace

BOOST_FIXTURE_TEST_SUITE(task_test, task_fixture)

BOOST_AUTO_TEST_CASE(task_starts_when_it_is_awaited) {
    bool started = false;
    auto body = [&]() -> task<> {
        started = true;
        co_return;
    };
    auto lazy = body();
    BOOST_TEST(!started);
    sync_wait(runtime, std::move(lazy));
    BOOST_TEST(started);
}

BOOST_AUTO_TEST_CASE(task_destroyed_unstarted_destroys_its_arguments) {
    auto body = [](counted) -> task<> { co_return; };
    {
        const auto unstarted = body(counted(1));
        BOOST_TEST(counted::alive() == 1);
    }
    BOOST_TEST(counted::alive() == 0);
}

BOOST_AUTO_TEST_CASE(task_destroyed_while_suspended_destroys_its_locals_and_children) {
    completion_source<int> source(runtime.get_executor());
    auto child = [&]() -> task<> {
        const counted held(1);
        co_await source.task();
        BOOST_ERROR("resumed");
    };
    auto parent = [&]() -> home_coroutine {
        const counted held(2);
        co_await child();
    };
    {
        const home_coroutine running = parent();
        BOOST_TEST(counted::alive() == 2);
    }
    BOOST_TEST(counted::alive() == 0);
    source.set_result(1);
    runtime.run();
}

BOOST_AUTO_TEST_CASE(results_are_moved_out_once) {
    auto make = []() -> task<counted> { co_return counted(5); };
    auto body = [&]() -> task<int> {
        const counted seen = co_await make();
        BOOST_TEST(counted::alive() == 1);
        co_return seen.value;
    };
    BOOST_TEST(sync_wait(runtime, body()) == 5);
}

BOOST_AUTO_TEST_CASE(result_type_needs_no_default_and_no_copy) {
    struct strict {
        explicit strict(int n) : number(n) {}
        strict(strict&&) = default;
        std::unique_ptr<int> owned = std::make_unique<int>(1);
        int number;
    };
    auto make = []() -> task<strict> { co_return strict(6); };
    BOOST_TEST(sync_wait(runtime, make()).number == 6);
    auto text = []() -> task<std::string> { co_return "converted"; };
    BOOST_TEST(sync_wait(runtime, text()) == "converted");
}

BOOST_AUTO_TEST_CASE(exception_goes_to_the_one_that_awaits) {
    auto failing = [](counted) -> task<int> {
        throw std::out_of_range("mine");
        co_return 1;
    };
    std::string seen;
    auto body = [&]() -> task<> {
        try {
            (void)co_await failing(counted(1));
        } catch (const std::out_of_range& failure) {
            seen = failure.what();
        }
        (void)co_await failing(counted(2));
    };
    BOOST_CHECK_THROW(sync_wait(runtime, body()), std::out_of_range);
    BOOST_TEST(seen == "mine");
}

BOOST_AUTO_TEST_CASE(second_await_and_empty_tasks_throw) {
    auto number = []() -> task<int> { co_return 1; };
    auto empty = [&]() -> task<> { (void)co_await task<int>(); };
    BOOST_CHECK_THROW(sync_wait(runtime, empty()), invalid_operation);
    auto twice = [&]() -> task<> {
        auto once = number();
        (void)co_await std::move(once);
        (void)co_await std::move(once);
    };
    BOOST_CHECK_THROW(sync_wait(runtime, twice()), invalid_operation);
}

BOOST_AUTO_TEST_CASE(await_of_a_task_that_is_running_throws) {
    completion_source<int> source(runtime.get_executor());
    auto waiting = [&]() -> task<int> { co_return co_await source.task(); };
    auto shared = waiting();
    int seen = 0;
    auto first = [&]() -> home_coroutine { seen = co_await std::move(shared); };
    auto second = [&]() -> home_coroutine { (void)co_await std::move(shared); };
    const home_coroutine running = first();
    const home_coroutine refused = second();
    BOOST_REQUIRE(refused.done());
    BOOST_CHECK_THROW(refused.check(), invalid_operation);
    source.set_result(3);
    runtime.poll();
    BOOST_TEST(seen == 3);
}

BOOST_AUTO_TEST_CASE(moved_and_assigned_tasks_run_once) {
    int runs = 0;
    auto body = [&](counted) -> task<> {
        ++runs;
        co_return;
    };
    auto first = body(counted(1));
    auto second = std::move(first);
    task<> third;
    third = std::move(second);
    sync_wait(runtime, std::move(third));
    BOOST_TEST(runs == 1);
}

BOOST_AUTO_TEST_CASE(task_is_awaited_by_other_coroutine_types) {
    completion_source<int> source(runtime.get_executor());
    auto inner = [&]() -> task<int> { co_return co_await source.task() + 1; };
    int seen = 0;
    auto outer = [&]() -> home_coroutine { seen = co_await inner(); };
    const home_coroutine running = outer();
    source.set_result(1);
    runtime.poll();
    BOOST_TEST(seen == 2);
}

// --- the stack stays bounded: 256 KiB, code without optimisation ---

namespace {

task<int> one() { co_return 1; }

task<int> one_later(completion_source<int>& source) {
    const int value = co_await source.task();
    source.reset();
    co_return value;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_million_ready_value_tasks) {
    int sum = 0;
    auto body = [&]() -> task<> {
        for (int i = 0; i < million; ++i)
            sum += co_await value_task<int>(1);
    };
    on_small_stack([&] { sync_wait(runtime, body()); });
    BOOST_TEST(sum == million);
}

BOOST_AUTO_TEST_CASE(a_million_child_tasks) {
    int sum = 0;
    auto body = [&]() -> task<> {
        for (int i = 0; i < million; ++i)
            sum += co_await one();
    };
    on_small_stack([&] { sync_wait(runtime, body()); });
    BOOST_TEST(sum == million);
}

BOOST_AUTO_TEST_CASE(a_million_failing_child_tasks_less_nine_tenths) {
    int caught = 0;
    auto failing = []() -> task<> {
        throw 1;
        co_return;
    };
    auto body = [&]() -> task<> {
        for (int i = 0; i < million / 10; ++i) {
            try {
                co_await failing();
            } catch (int) {
                ++caught;
            }
        }
    };
    on_small_stack([&] { sync_wait(runtime, body()); });
    BOOST_TEST(caught == million / 10);
}

BOOST_AUTO_TEST_CASE(a_million_completed_sources) {
    completion_source<int> source(runtime.get_executor());
    int sum = 0;
    auto body = [&]() -> task<> {
        for (int i = 0; i < million; ++i) {
            source.set_result(1);
            sum += co_await source.task();
            source.reset();
        }
    };
    on_small_stack([&] { sync_wait(runtime, body()); });
    BOOST_TEST(sum == million);
}

BOOST_AUTO_TEST_CASE(a_million_pending_children_resumed_inline_and_queued) {
    for (const resume_mode mode : {resume_mode::inline_, resume_mode::queued}) {
        completion_source<int> source(runtime.get_executor(), mode);
        int sum = 0;
        bool ended = false;
        auto waiting = [&]() -> task<> {
            for (int i = 0; i < million / 2; ++i)
                sum += co_await one_later(source);
            ended = true;
        };
        struct completing {
            completion_source<int>& source;
            io_runtime& runtime;
            const bool& ended;
            void operator()() const {
                if (ended)
                    return;
                (void)source.try_set_result(1);
                boost::asio::post(runtime.get_executor(), *this);
            }
        };
        on_small_stack([&] {
            spawn(runtime.get_executor(), waiting());
            boost::asio::post(runtime.get_executor(), completing{source, runtime, ended});
            runtime.run();
        });
        BOOST_TEST(sum == million / 2);
    }
}

BOOST_AUTO_TEST_CASE(two_tasks_that_complete_each_other) {
    completion_source<int> ping(runtime.get_executor());
    completion_source<int> pong(runtime.get_executor());
    int rounds = 0;
    auto player = [&](completion_source<int>& mine, completion_source<int>& theirs) -> task<> {
        while (rounds < million / 2) {
            (void)co_await mine.task();
            mine.reset();
            ++rounds;
            theirs.set_result(1);
        }
    };
    on_small_stack([&] {
        spawn(runtime.get_executor(), player(ping, pong));
        spawn(runtime.get_executor(), player(pong, ping));
        boost::asio::post(runtime.get_executor(), [&] { ping.set_result(1); });
        runtime.poll();
    });
    BOOST_TEST(rounds >= million / 2);
}

BOOST_AUTO_TEST_CASE(recursion_is_as_deep_as_the_stack_allows_for_plain_calls) {
    struct recursion {
        static task<int> down(completion_source<int>& bottom, int depth) {
            if (depth == 0)
                co_return co_await bottom.task();
            co_return co_await down(bottom, depth - 1) + 1;
        }
    };
    for (const bool ready : {true, false}) {
        completion_source<int> bottom(runtime.get_executor());
        if (ready)
            bottom.set_result(0);
        else
            boost::asio::post(runtime.get_executor(), [&] {
                boost::asio::post(runtime.get_executor(), [&] { bottom.set_result(0); });
            });
        BOOST_TEST(sync_wait(runtime, recursion::down(bottom, 2000)) == 2000);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
