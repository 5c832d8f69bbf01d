// Waiting for one awaitable by running its runtime.
#include "support/counted.hpp"

#include <sluice/completion/completion_source.hpp>
#include <sluice/runtime/io_runtime.hpp>
#include <sluice/runtime/sleep.hpp>
#include <sluice/runtime/spawn.hpp>
#include <sluice/runtime/sync_wait.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <memory>
#include <thread>

namespace sluice::test {

namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct wait_fixture {
    io_runtime runtime;
    completion_source<int> source{runtime.get_executor()};
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(sync_wait_test, wait_fixture)

BOOST_AUTO_TEST_CASE(result_of_a_task_is_returned) {
    auto number = []() -> task<int> { co_return 5; };
    BOOST_TEST(sync_wait(runtime, number()) == 5);
    auto nothing = []() -> task<> { co_return; };
    sync_wait(runtime, nothing());
    auto owned = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(6); };
    BOOST_TEST(*sync_wait(runtime, owned()) == 6);
}

BOOST_AUTO_TEST_CASE(result_of_a_value_task_is_returned) {
    BOOST_TEST(sync_wait(runtime, value_task<int>(7)) == 7);
    source.set_result(8);
    BOOST_TEST(sync_wait(runtime, source.task()) == 8);
    source.reset();
    std::thread completing([&] { source.set_result(9); });
    BOOST_TEST(sync_wait(runtime, source.task()) == 9);
    completing.join();
}

BOOST_AUTO_TEST_CASE(awaiters_are_awaited_too) {
    source.set_error(make_error_code(errc::closed));
    const result<int> outcome = sync_wait(runtime, source.task().as_result());
    BOOST_TEST(outcome.error() == make_error_code(errc::closed));
}

BOOST_AUTO_TEST_CASE(exception_is_thrown_here) {
    auto failing = []() -> task<int> {
        throw std::out_of_range("mine");
        co_return 1;
    };
    BOOST_CHECK_THROW(sync_wait(runtime, failing()), std::out_of_range);
    source.set_error(make_error_code(errc::closed));
    BOOST_CHECK_THROW(sync_wait(runtime, source.task()), boost::system::system_error);
}

BOOST_AUTO_TEST_CASE(runtime_runs_no_longer_than_needed) {
    const auto guard = asio::make_work_guard(runtime); // run() would not return
    auto number = []() -> task<int> { co_return 5; };
    BOOST_TEST(sync_wait(runtime, number()) == 5);
}

BOOST_AUTO_TEST_CASE(other_work_of_the_runtime_is_done_meanwhile) {
    int calls = 0;
    asio::post(runtime.get_executor(), [&] {
        ++calls;
        asio::post(runtime.get_executor(), [&] { source.set_result(1); });
    });
    BOOST_TEST(sync_wait(runtime, source.task()) == 1);
    BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(waiting_on_a_thread_that_runs_the_same_runtime_throws) {
    bool thrown = false;
    auto outer = [&]() -> task<> {
        auto inner = []() -> task<> { co_return; };
        try {
            sync_wait(runtime, inner());
        } catch (const invalid_operation&) {
            thrown = true;
        }
        co_return;
    };
    sync_wait(runtime, outer());
    BOOST_TEST(thrown);
}

BOOST_AUTO_TEST_CASE(waiting_on_another_runtime_inside_a_handler_works) {
    io_runtime other;
    auto outer = [&]() -> task<int> {
        auto inner = [&]() -> task<int> {
            co_await sleep_for(other.get_executor(), 1us);
            co_return 4;
        };
        co_return sync_wait(other, inner()) + 1;
    };
    BOOST_TEST(sync_wait(runtime, outer()) == 5);
}

BOOST_AUTO_TEST_CASE(waiting_while_another_thread_runs_the_runtime_throws_and_starts_nothing) {
    auto guard = asio::make_work_guard(runtime);
    std::atomic<bool> running{false};
    std::atomic<int> started{0};
    asio::post(runtime.get_executor(), [&] { running = true; });
    std::thread first([&] { runtime.run(); });
    while (!running)
        std::this_thread::yield();
    auto body = [&](counted held) -> task<> {
        started += held.value;
        co_return;
    };
    for (int i = 0; i < 200; ++i)
        BOOST_CHECK_THROW(sync_wait(runtime, body(counted(1))), invalid_operation);
    BOOST_TEST(counted::alive() == 0);
    guard.reset();
    first.join();
    BOOST_TEST(started.load() == 0);
}

BOOST_AUTO_TEST_CASE(stopped_runtime_throws_and_destroys_what_was_waited_for) {
    auto body = [&](counted) -> task<> {
        BOOST_ERROR("started");
        co_return;
    };
    runtime.stop();
    BOOST_CHECK_THROW(sync_wait(runtime, body(counted(1))), std::runtime_error);
    BOOST_TEST(counted::alive() == 0);
    runtime.restart();
    BOOST_TEST(runtime.run() == 0u); // nothing is left of it
}

BOOST_AUTO_TEST_CASE(stop_while_waiting_throws_and_destroys_what_was_waited_for) {
    auto body = [&](counted) -> task<> {
        runtime.stop();
        co_await source.task();
        BOOST_ERROR("resumed");
    };
    BOOST_CHECK_THROW(sync_wait(runtime, body(counted(1))), std::runtime_error);
    BOOST_TEST(counted::alive() == 0);
    runtime.restart();
    source.set_result(1); // nobody waits any more
    BOOST_TEST(runtime.run() == 0u);
}

BOOST_AUTO_TEST_CASE(exception_of_another_handler_leaves_and_destroys_what_was_waited_for) {
    auto body = [&](counted) -> task<> {
        asio::post(runtime.get_executor(), [] { throw std::length_error("mine"); });
        co_await source.task();
        BOOST_ERROR("resumed");
    };
    BOOST_CHECK_THROW(sync_wait(runtime, body(counted(1))), std::length_error);
    BOOST_TEST(counted::alive() == 0);
    auto number = []() -> task<int> { co_return 5; };
    BOOST_TEST(sync_wait(runtime, number()) == 5);
}

BOOST_AUTO_TEST_CASE(exception_of_a_handler_before_the_start_destroys_what_was_waited_for) {
    asio::post(runtime.get_executor(), [] { throw std::length_error("mine"); });
    auto body = [&](counted) -> task<> {
        BOOST_ERROR("started");
        co_return;
    };
    BOOST_CHECK_THROW(sync_wait(runtime, body(counted(1))), std::length_error);
    BOOST_TEST(counted::alive() == 0);
    BOOST_TEST(runtime.run() == 0u);
}

BOOST_AUTO_TEST_CASE(spawned_tasks_left_over_go_on_in_the_next_run) {
    int done = 0;
    auto longer = [&]() -> task<> {
        co_await source.task();
        ++done;
    };
    spawn(runtime.get_executor(), longer());
    auto number = []() -> task<int> { co_return 5; };
    BOOST_TEST(sync_wait(runtime, number()) == 5);
    BOOST_TEST(done == 0);
    source.set_result(1);
    runtime.run();
    BOOST_TEST(done == 1);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
