// Tasks that run on their own.
#include "support/counted.hpp"

#include <sluice/completion/completion_source.hpp>
#include <sluice/runtime/io_runtime.hpp>
#include <sluice/runtime/sleep.hpp>
#include <sluice/runtime/spawn.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace sluice::test {

namespace {

using namespace std::chrono_literals;

struct spawn_fixture {
    ~spawn_fixture() { BOOST_TEST(counted::alive() == 0); }

    io_runtime runtime;
    io_runtime::executor_type executor = runtime.get_executor();
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(spawn_test, spawn_fixture)

BOOST_AUTO_TEST_CASE(task_does_not_start_inside_the_call) {
    int runs = 0;
    auto body = [&]() -> task<> {
        ++runs;
        co_return;
    };
    spawn(executor, body());
    BOOST_TEST(runs == 0);
    boost::asio::post(executor, [&] {
        spawn(executor, body());
        BOOST_TEST(runs == 1);
    });
    runtime.run();
    BOOST_TEST(runs == 2);
}

BOOST_AUTO_TEST_CASE(frame_is_gone_when_the_task_ends) {
    auto body = [](counted) -> task<> { co_return; };
    spawn(executor, body(counted(1)));
    BOOST_TEST(counted::alive() == 1);
    runtime.run();
    BOOST_TEST(counted::alive() == 0);
}

BOOST_AUTO_TEST_CASE(result_of_a_detached_task_is_dropped) {
    auto body = []() -> task<counted> { co_return counted(1); };
    spawn(executor, body());
    runtime.run();
}

BOOST_AUTO_TEST_CASE(exception_leaves_run_and_the_other_tasks_go_on) {
    int ended = 0;
    auto body = [&](bool fail) -> task<> {
        co_await sleep_for(executor, 1us);
        if (fail)
            throw std::out_of_range("mine");
        ++ended;
    };
    spawn(executor, body(false));
    spawn(executor, body(true));
    spawn(executor, body(false));
    BOOST_CHECK_THROW(runtime.run(), std::out_of_range);
    runtime.run();
    BOOST_TEST(ended == 2);
}

BOOST_AUTO_TEST_CASE(handler_gets_the_result_on_the_executor) {
    int seen = 0;
    auto number = [&]() -> task<int> {
        co_await sleep_for(executor, 1us);
        co_return 5;
    };
    spawn(executor, number(), [&, only_moved = std::make_unique<int>(1)](std::exception_ptr failure,
                                                                         int value) {
        BOOST_TEST(!failure);
        BOOST_TEST(executor.running_in_this_thread());
        seen = value + *only_moved;
    });
    runtime.run();
    BOOST_TEST(seen == 6);
}

BOOST_AUTO_TEST_CASE(handler_gets_the_exception) {
    std::exception_ptr seen;
    auto failing = []() -> task<int> {
        throw std::out_of_range("mine");
        co_return 1;
    };
    spawn(executor, failing(), [&](std::exception_ptr failure, int value) {
        seen = failure;
        BOOST_TEST(value == 0);
    });
    runtime.run();
    BOOST_REQUIRE(seen);
    BOOST_CHECK_THROW(std::rethrow_exception(seen), std::out_of_range);
}

BOOST_AUTO_TEST_CASE(handler_of_a_task_without_result) {
    int calls = 0;
    auto nothing = []() -> task<> { co_return; };
    auto failing = []() -> task<> {
        throw 1;
        co_return;
    };
    spawn(executor, nothing(), [&](std::exception_ptr failure) { calls += failure ? 100 : 1; });
    spawn(executor, failing(), [&](std::exception_ptr failure) { calls += failure ? 10 : 100; });
    runtime.run();
    BOOST_TEST(calls == 11);
}

BOOST_AUTO_TEST_CASE(exception_of_a_handler_leaves_run) {
    auto nothing = []() -> task<> { co_return; };
    spawn(executor, nothing(), [](std::exception_ptr) { throw std::length_error("mine"); });
    BOOST_CHECK_THROW(runtime.run(), std::length_error);
    BOOST_TEST(runtime.run() == 0u);
}

BOOST_AUTO_TEST_CASE(several_threads_spawn_at_once) {
    constexpr int each = 2000;
    int ended = 0; // only tasks of the one runtime touch it
    auto body = [&]() -> task<> {
        co_await sleep_for(executor, 1us);
        ++ended;
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < each; ++i)
                spawn(executor, body());
        });
    runtime.run();
    for (std::thread& thread : threads)
        thread.join();
    runtime.run();
    BOOST_TEST(ended == 3 * each);
}

BOOST_AUTO_TEST_CASE(type_erased_executor_is_the_runtime) {
    bool at_home = false;
    auto body = [&]() -> task<> {
        co_await sleep_for(executor, 1us);
        at_home = executor.running_in_this_thread();
    };
    spawn(boost::asio::any_io_executor(executor), body());
    runtime.run();
    BOOST_TEST(at_home);
}

BOOST_AUTO_TEST_CASE(task_on_a_strand_stays_in_the_strand) {
    const auto strand = boost::asio::make_strand(executor);
    int inside = 0;
    auto body = [&]() -> task<> {
        inside += strand.running_in_this_thread() ? 1 : 0;
        co_await sleep_for(executor, 1us);
        inside += strand.running_in_this_thread() ? 1 : 0;
    };
    spawn(strand, body());
    runtime.run();
    BOOST_TEST(inside == 2);
}

BOOST_AUTO_TEST_CASE(task_on_a_strand_is_destroyed_with_the_runtime) {
    {
        io_runtime short_lived;
        const auto strand = boost::asio::make_strand(short_lived.get_executor());
        auto body = [&](counted) -> task<> { co_await sleep_for(short_lived.get_executor(), 1h); };
        spawn(strand, body(counted(1)));
        short_lived.poll();
        spawn(strand, body(counted(2))); // not started
        BOOST_TEST(counted::alive() == 2);
    }
    BOOST_TEST(counted::alive() == 0);
}

BOOST_AUTO_TEST_CASE(task_keeps_a_foreign_context_running) {
    boost::asio::io_context context;
    completion_source<int> source(runtime.get_executor());
    int seen = 0;
    auto body = [&]() -> task<> {
        seen = co_await source.task();
        BOOST_TEST(context.get_executor().running_in_this_thread());
    };
    spawn(context.get_executor(), body());
    std::thread completing([&] { source.set_result(4); });
    context.run();
    completing.join();
    BOOST_TEST(seen == 4);
}

BOOST_AUTO_TEST_CASE(exception_of_a_task_on_an_io_context_leaves_its_run) {
    boost::asio::io_context context;
    auto failing = []() -> task<> {
        throw std::out_of_range("mine");
        co_return;
    };
    spawn(context.get_executor(), failing());
    BOOST_CHECK_THROW(context.run(), std::out_of_range);
    context.run();
}

BOOST_AUTO_TEST_CASE(tasks_on_a_thread_pool_run_to_their_end) {
    boost::asio::thread_pool pool(4);
    std::atomic<int> ended{0};
    auto body = [&](int i) -> task<> {
        for (int round = 0; round < 20; ++round) {
            completion_source<int> hop(pool.get_executor());
            boost::asio::post(pool, [&hop, i] { hop.set_result(i); });
            if (co_await hop.task() != i)
                co_return;
        }
        ++ended;
    };
    for (int i = 0; i < 200; ++i)
        spawn(pool.get_executor(), body(i));
    pool.join();
    BOOST_TEST(ended.load() == 200);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
