// Running, stopping, posting, counting work, and the end of a runtime.
#include "support/counted.hpp"
#include "support/home_coroutine.hpp"

#include <sluice/completion/completion_source.hpp>
#include <sluice/runtime/io_runtime.hpp>
#include <sluice/runtime/sleep.hpp>
#include <sluice/runtime/spawn.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace sluice::test {

namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct runtime_fixture {
    io_runtime runtime;

    template <class Function>
    void post(Function function) {
        asio::post(runtime.get_executor(), std::move(function));
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(io_runtime_test, runtime_fixture)

// --- running ---

BOOST_AUTO_TEST_CASE(unused_runtime_is_constructed_and_destroyed) {
    for (int i = 0; i < 20; ++i) {
        const io_runtime unused;
        BOOST_TEST(!unused.stopped());
    }
}

BOOST_AUTO_TEST_CASE(run_without_work_returns_at_once) {
    BOOST_TEST(runtime.run() == 0u);
    BOOST_TEST(runtime.run_for(1h) == 0u);
    BOOST_TEST(runtime.poll() == 0u);
}

BOOST_AUTO_TEST_CASE(run_runs_what_is_posted_and_what_that_posts) {
    int calls = 0;
    post([&] {
        ++calls;
        post([&] {
            ++calls;
            post([&] { ++calls; });
        });
    });
    BOOST_TEST(runtime.run() == 3u);
    BOOST_TEST(calls == 3);
    post([&] { ++calls; });
    BOOST_TEST(runtime.run() == 1u); // no restart is needed after running out of work
}

BOOST_AUTO_TEST_CASE(handlers_run_in_the_order_of_posting) {
    std::vector<int> order;
    for (int i = 0; i < 100; ++i)
        post([&order, i] { order.push_back(i); });
    runtime.run();
    std::vector<int> expected(100);
    std::iota(expected.begin(), expected.end(), 0);
    BOOST_TEST(order == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(poll_does_not_wait_for_work) {
    const auto guard = asio::make_work_guard(runtime);
    int calls = 0;
    post([&] { ++calls; });
    BOOST_TEST(runtime.poll() == 1u);
    BOOST_TEST(runtime.poll() == 0u);
    BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(run_for_ends_at_its_time_with_work_left) {
    const auto guard = asio::make_work_guard(runtime);
    int calls = 0;
    post([&] { ++calls; });
    BOOST_TEST(runtime.run_for(1ms) == 1u);
    BOOST_TEST(runtime.run_for(-1h) == 0u);
    BOOST_TEST(calls == 1);
    BOOST_TEST(!runtime.stopped());
}

BOOST_AUTO_TEST_CASE(run_for_a_very_long_time_ends_when_work_does) {
    std::thread posting;
    {
        auto guard = asio::make_work_guard(runtime);
        posting = std::thread([guard = std::move(guard)]() mutable { guard.reset(); });
    }
    runtime.run_for(std::chrono::hours::max());
    posting.join();
}

BOOST_AUTO_TEST_CASE(stop_ends_run_and_keeps_what_is_queued) {
    int calls = 0;
    post([&] {
        ++calls;
        runtime.stop();
    });
    post([&] { calls += 10; });
    runtime.run();
    BOOST_TEST(calls == 1);
    BOOST_TEST(runtime.stopped());
    BOOST_TEST(runtime.run() == 0u);
    BOOST_TEST(runtime.poll() == 0u);
    BOOST_TEST(calls == 1);
    runtime.restart();
    BOOST_TEST(!runtime.stopped());
    BOOST_TEST(runtime.run() == 1u);
    BOOST_TEST(calls == 11);
}

BOOST_AUTO_TEST_CASE(stop_from_another_thread_ends_a_waiting_run) {
    const auto guard = asio::make_work_guard(runtime);
    std::atomic<bool> running{false};
    post([&] { running = true; });
    std::thread stopping([&] {
        while (!running)
            std::this_thread::yield();
        runtime.stop();
    });
    runtime.run();
    BOOST_TEST(runtime.stopped());
    stopping.join();
}

BOOST_AUTO_TEST_CASE(second_thread_in_run_throws_and_the_first_goes_on) {
    auto guard = asio::make_work_guard(runtime);
    std::atomic<bool> running{false};
    post([&] { running = true; });
    std::thread first([&] { runtime.run(); });
    while (!running)
        std::this_thread::yield();
    BOOST_CHECK_THROW(runtime.run(), invalid_operation);
    BOOST_CHECK_THROW(runtime.run_for(1ms), invalid_operation);
    BOOST_CHECK_THROW(runtime.poll(), invalid_operation);
    std::atomic<bool> served{false};
    post([&] {
        served = true;
        guard.reset();
    });
    first.join();
    BOOST_TEST(served.load());
    post([&] { served = false; });
    runtime.run(); // and now it is this thread's turn
    BOOST_TEST(!served.load());
}

BOOST_AUTO_TEST_CASE(run_inside_a_handler_throws) {
    bool thrown = false;
    post([&] {
        try {
            runtime.run();
        } catch (const invalid_operation&) {
            thrown = true;
        }
    });
    runtime.run();
    BOOST_TEST(thrown);
}

BOOST_AUTO_TEST_CASE(another_runtime_runs_inside_a_handler) {
    io_runtime inner;
    std::string order;
    post([&] {
        asio::post(inner.get_executor(), [&] {
            post([&] { order += 'c'; });
            order += 'a';
        });
        inner.run();
        order += runtime.get_executor().running_in_this_thread() ? 'b' : '?';
    });
    runtime.run();
    BOOST_TEST(order == "abc");
}

// --- exceptions ---

BOOST_AUTO_TEST_CASE(exception_of_a_handler_leaves_run_and_the_rest_runs_later) {
    int calls = 0;
    post([&] { ++calls; });
    post([] { throw std::runtime_error("mine"); });
    post([&] { ++calls; });
    BOOST_CHECK_THROW(runtime.run(), std::runtime_error);
    BOOST_TEST(calls == 1);
    runtime.run();
    BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_CASE(completions_found_together_survive_an_exception_of_the_first) {
    int delivered = 0;
    for (int i = 0; i < 10; ++i)
        sleep_until(runtime.get_executor(), std::chrono::steady_clock::time_point(1ns * i))
            .on_completed([&](error_code) {
                if (++delivered % 3 == 1)
                    throw std::runtime_error("mine");
            });
    int thrown = 0;
    while (delivered < 10) {
        try {
            runtime.run();
        } catch (const std::runtime_error&) {
            ++thrown;
        }
    }
    BOOST_TEST(thrown == 4);
    BOOST_TEST(runtime.run() == 0u);
}

// --- work ---

BOOST_AUTO_TEST_CASE(suspended_task_counts_as_work_until_it_ends) {
    completion_source<void> source(runtime.get_executor());
    auto body = [](completion_source<void>& from) -> task<> { co_await from.task(); };
    spawn(runtime.get_executor(), body(source));
    std::atomic<bool> completed{false};
    std::thread completing([&] {
        completed = true;
        source.set_result();
    });
    runtime.run();
    BOOST_TEST(completed.load());
    completing.join();
}

BOOST_AUTO_TEST_CASE(many_threads_post_and_nothing_is_lost) {
    constexpr int threads = 4;
    constexpr int each = 20'000;
    std::uint64_t sum = 0; // only handlers touch it
    auto guard = asio::make_work_guard(runtime);
    std::atomic<int> left{threads};
    std::vector<std::thread> posting;
    for (int t = 0; t < threads; ++t)
        posting.emplace_back([&] {
            for (int i = 1; i <= each; ++i)
                post([&sum, i] { sum += static_cast<std::uint64_t>(i); });
            if (--left == 0)
                guard.reset();
        });
    runtime.run();
    for (std::thread& thread : posting)
        thread.join();
    runtime.run();
    BOOST_TEST(sum == std::uint64_t{threads} * each * (each + 1) / 2);
}

BOOST_AUTO_TEST_CASE(runtime_may_end_as_soon_as_the_last_post_ran) {
    // The posting thread may still be inside the post.
    for (int round = 0; round < 300; ++round) {
        auto short_lived = std::make_unique<io_runtime>();
        std::optional source(completion_source<int>(short_lived->get_executor()));
        auto body = [](completion_source<int>& from) -> task<> { (void)co_await from.task(); };
        spawn(short_lived->get_executor(), body(*source));
        std::thread completing([&] { source->set_result(1); });
        short_lived->run();
        short_lived.reset();
        completing.join();
    }
}

// --- the end ---

BOOST_AUTO_TEST_CASE(posted_handlers_are_destroyed_uncalled_with_the_runtime) {
    {
        io_runtime short_lived;
        for (int i = 0; i < 10; ++i)
            asio::post(short_lived.get_executor(),
                       [held = counted(i)] { BOOST_ERROR("called with " << held.value); });
        std::thread([&] {
            asio::post(short_lived.get_executor(),
                       [held = counted(0)] { BOOST_ERROR("called with " << held.value); });
        }).join();
        BOOST_TEST(counted::alive() == 11);
    }
    BOOST_TEST(counted::alive() == 0);
}

BOOST_AUTO_TEST_CASE(handler_that_posts_when_it_is_destroyed_is_let_go_of_too) {
    struct posting_at_end {
        explicit posting_at_end(io_runtime& on) : runtime(&on) {}
        posting_at_end(posting_at_end&& other) noexcept
            : runtime(std::exchange(other.runtime, nullptr)), held(std::move(other.held)) {}
        ~posting_at_end() {
            if (runtime != nullptr)
                asio::post(runtime->get_executor(), [late = counted(1)] { (void)late; });
        }
        void operator()() {}
        io_runtime* runtime;
        counted held;
    };
    {
        io_runtime short_lived;
        asio::post(short_lived.get_executor(), posting_at_end(short_lived));
        BOOST_TEST(counted::alive() > 0);
    }
    BOOST_TEST(counted::alive() == 0);
}

namespace {

task<> hold_and_wait(value_task<void> wait) {
    const counted held(1);
    co_await std::move(wait);
    BOOST_ERROR("resumed");
}

} // namespace

BOOST_AUTO_TEST_CASE(hundred_thousand_suspended_tasks_are_destroyed_with_the_runtime) {
    constexpr int count = 100'000;
    {
        io_runtime short_lived;
        const auto executor = short_lived.get_executor();
        for (int i = 0; i < count; ++i)
            spawn(executor, hold_and_wait(sleep_for(executor, 1h)));
        BOOST_TEST(counted::alive() == 0);
        short_lived.poll();
        BOOST_TEST(counted::alive() == count);
    }
    BOOST_TEST(counted::alive() == 0);
}

BOOST_AUTO_TEST_CASE(tasks_suspended_on_sources_are_destroyed_with_the_runtime) {
    std::vector<std::unique_ptr<completion_source<void>>> sources;
    {
        io_runtime short_lived;
        for (int i = 0; i < 1000; ++i) {
            sources.push_back(
                std::make_unique<completion_source<void>>(short_lived.get_executor()));
            spawn(short_lived.get_executor(), hold_and_wait(sources.back()->task()));
        }
        short_lived.poll();
        BOOST_TEST(counted::alive() == 1000);
        for (std::size_t i = 0; i < sources.size(); i += 2)
            sources[i]->set_result(); // posted: dropped with the runtime
    }
    BOOST_TEST(counted::alive() == 0);
    for (std::size_t i = 1; i < sources.size(); i += 2)
        sources[i]->set_result(); // nobody is there any more
    for (auto& source : sources)
        source->reset();
}

BOOST_AUTO_TEST_CASE(tasks_that_have_not_started_are_destroyed_with_the_runtime) {
    {
        io_runtime short_lived;
        auto body = [](counted held) -> task<> {
            BOOST_ERROR("started with " << held.value);
            co_return;
        };
        for (int i = 0; i < 10; ++i)
            spawn(short_lived.get_executor(), body(counted(i)));
        BOOST_TEST(counted::alive() == 10);
    }
    BOOST_TEST(counted::alive() == 0);
}

BOOST_AUTO_TEST_CASE(task_that_spawns_when_it_is_destroyed_is_let_go_of_too) {
    struct spawning_at_end {
        ~spawning_at_end() {
            auto late = [](counted held) -> task<> {
                BOOST_ERROR("started with " << held.value);
                co_return;
            };
            spawn(runtime.get_executor(), late(counted(2)));
        }
        io_runtime& runtime;
    };
    {
        io_runtime short_lived;
        auto body = [](io_runtime& on) -> task<> {
            const spawning_at_end guard{on};
            co_await sleep_for(on.get_executor(), 1h);
        };
        spawn(short_lived.get_executor(), body(short_lived));
        short_lived.poll();
    }
    BOOST_TEST(counted::alive() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
