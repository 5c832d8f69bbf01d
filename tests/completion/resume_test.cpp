// Where a continuation runs: inline or queued, per source and per call; on which executor; and how
// often in a row.
#include "support/home_coroutine.hpp"

#include <sluice/completion/completion_source.hpp>
#include <sluice/runtime/io_runtime.hpp>
#include <sluice/runtime/spawn.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <thread>
#include <vector>

namespace sluice::test {

namespace {

struct resume_fixture {
    io_runtime runtime;
    completion_source<int> source{runtime.get_executor()};

    template <class Function>
    void on_runtime(Function function) {
        boost::asio::post(runtime.get_executor(), std::move(function));
        runtime.run();
    }
    /// Whether a continuation ran inside set_result, called on the runtime.
    bool runs_inside(value_task<int>&& ticket) {
        bool inside = false;
        bool called = false; // queued, it is set later in the run
        on_runtime([&] {
            std::move(ticket).on_completed([&](error_code, int) { called = true; });
            source.set_result(1);
            inside = called;
        });
        source.reset();
        return inside;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(resume_test, resume_fixture)

BOOST_AUTO_TEST_CASE(inline_runs_inside_set_result_on_the_executor) {
    BOOST_TEST(runs_inside(source.task()));
}

BOOST_AUTO_TEST_CASE(queued_is_posted_even_on_the_executor) {
    source.mode(resume_mode::queued);
    BOOST_TEST(!runs_inside(source.task()));
}

BOOST_AUTO_TEST_CASE(one_call_overrides_the_mode_of_its_source) {
    BOOST_TEST(!runs_inside(source.task().resume(resume_mode::queued)));
    BOOST_TEST(runs_inside(source.task()));
    source.mode(resume_mode::queued);
    BOOST_TEST(runs_inside(source.task().resume(resume_mode::inline_)));
    BOOST_TEST(!runs_inside(source.task()));
}

BOOST_AUTO_TEST_CASE(inline_is_posted_when_completed_on_another_thread) {
    std::thread::id ran_on;
    bool inside = false;
    source.task().on_completed([&](error_code, int) { ran_on = std::this_thread::get_id(); });
    std::thread completer([&] {
        source.set_result(1);
        inside = ran_on != std::thread::id();
    });
    completer.join();
    BOOST_TEST(!inside);
    runtime.poll();
    BOOST_TEST((ran_on == std::this_thread::get_id()));
}

BOOST_AUTO_TEST_CASE(completion_on_another_thread_wakes_the_runtime) {
    int seen = 0;
    auto body = [](completion_source<int>& from, int& to) -> task<> { to = co_await from.task(); };
    spawn(runtime.get_executor(), body(source, seen));
    std::thread completer([&] { source.set_result(3); });
    runtime.run();
    completer.join();
    BOOST_TEST(seen == 3);
}

BOOST_AUTO_TEST_CASE(resume_on_another_runtime_runs_there_and_only_there) {
    io_runtime other;
    bool there = false;
    source.task().resume_on(other.get_executor()).on_completed([&](error_code, int) {
        there = other.get_executor().running_in_this_thread();
    });
    on_runtime([&] { source.set_result(1); });
    BOOST_TEST(!there);
    other.poll();
    BOOST_TEST(there);
}

BOOST_AUTO_TEST_CASE(resume_on_holds_for_one_call) {
    io_runtime other;
    source.task().resume_on(other.get_executor()).on_completed([](error_code, int) {});
    source.set_result(1);
    other.poll();
    source.reset();
    BOOST_TEST(runs_inside(source.task()));
}

BOOST_AUTO_TEST_CASE(resume_on_can_be_said_twice) {
    io_runtime first;
    boost::asio::io_context second;
    int calls = 0;
    source.task()
        .resume_on(second.get_executor())
        .resume_on(first.get_executor())
        .resume_on(second.get_executor())
        .on_completed([&](error_code, int) { ++calls; });
    source.set_result(1);
    first.poll();
    BOOST_TEST(calls == 0);
    second.poll();
    BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(resume_on_a_type_erased_native_executor_is_that_runtime) {
    const boost::asio::any_io_executor erased = runtime.get_executor();
    BOOST_TEST(runs_inside(source.task().resume_on(erased)));
}

BOOST_AUTO_TEST_CASE(source_of_a_strand_runs_in_the_strand) {
    const auto strand = boost::asio::make_strand(runtime.get_executor());
    completion_source<int> of_strand(strand);
    bool in_strand = false;
    of_strand.task().on_completed(
        [&](error_code, int) { in_strand = strand.running_in_this_thread(); });
    on_runtime([&] { of_strand.set_result(1); }); // outside the strand: must not run inline
    BOOST_TEST(in_strand);
}

BOOST_AUTO_TEST_CASE(source_of_an_io_context_runs_in_its_run) {
    boost::asio::io_context context;
    completion_source<int> of_context(context.get_executor());
    int seen = 0;
    auto body = [&]() -> home_coroutine {
        seen = co_await of_context.task();
        of_context.reset();
        seen += co_await of_context.task();
    };
    const home_coroutine waiting = body();
    of_context.set_result(1);
    BOOST_TEST(seen == 0);
    context.run();
    BOOST_TEST(seen == 1);
    of_context.set_result(2);
    context.restart();
    context.run();
    BOOST_TEST(seen == 3);
}

BOOST_AUTO_TEST_CASE(exception_in_an_io_context_leaves_what_was_posted_to_run_later) {
    boost::asio::io_context context;
    completion_source<int> first(context.get_executor());
    completion_source<int> second(context.get_executor(), resume_mode::queued);
    int seen = 0;
    second.task().on_completed([&](error_code, int value) { seen = value; });
    first.task().on_completed([&](error_code, int) {
        second.set_result(2);
        throw std::runtime_error("mine");
    });
    first.set_result(1);
    BOOST_CHECK_THROW(context.run(), std::runtime_error);
    context.run();
    BOOST_TEST(seen == 2);
}

BOOST_AUTO_TEST_CASE(continuations_of_a_thread_pool_run_on_several_threads_at_once) {
    constexpr int count = 4;
    constexpr int rounds = 2000;
    boost::asio::thread_pool pool(count);
    std::atomic<int> finished{0};
    const boost::asio::any_io_executor executor = pool.get_executor();
    auto body = [&](completion_source<int>& of_pool) -> home_coroutine {
        for (int round = 0; round < rounds; ++round) {
            boost::asio::post(executor, [&of_pool, round] { of_pool.set_result(round); });
            if (co_await of_pool.task() != round)
                co_return;
            of_pool.reset();
        }
        finished.fetch_add(1);
    };
    std::vector<completion_source<int>> sources;
    std::vector<home_coroutine> coroutines;
    for (int i = 0; i < count; ++i)
        sources.emplace_back(executor, i % 2 == 0 ? resume_mode::queued : resume_mode::inline_);
    for (auto& of_pool : sources)
        coroutines.push_back(body(of_pool));
    pool.join();
    BOOST_TEST(finished.load() == count);
}

BOOST_AUTO_TEST_CASE(one_source_queue_run_by_several_threads_loses_no_callback) {
    constexpr int count = 2000;
    boost::asio::thread_pool pool(4);
    std::atomic<int> called{0};
    // Each callback posts one more to the queue from whatever thread it is on.
    completion::queue_of_executor queue(pool.get_executor());
    for (int i = 0; i < count; ++i)
        value_task<int>(i, &queue.queue()).on_completed([&](error_code, int) {
            value_task<int>(1, &queue.queue()).on_completed([&](error_code, int) { ++called; });
        });
    pool.join();
    BOOST_TEST(called.load() == count);
}

BOOST_AUTO_TEST_CASE(after_64_inline_completions_in_a_row_one_is_posted) {
    int deepest = 0;
    int depth = 0;
    int calls = 0;
    completion_source<void> of_nothing(runtime.get_executor());
    struct again {
        completion_source<void>& source;
        int& depth;
        int& deepest;
        int& calls;
        void operator()(error_code) const {
            deepest = std::max(deepest, ++depth);
            if (++calls < 10'000) {
                source.reset();
                source.task().on_completed(*this);
                source.set_result();
            }
            --depth;
        }
    };
    on_runtime([&] {
        of_nothing.task().on_completed(again{of_nothing, depth, deepest, calls});
        of_nothing.set_result();
    });
    BOOST_TEST(calls == 10'000);
    BOOST_TEST(deepest <= 64);
    BOOST_TEST(deepest > 1);
}

BOOST_AUTO_TEST_CASE(budget_of_zero_completions_posts_every_one) {
    runtime_options options;
    options.inline_budget.completions = 0;
    io_runtime frugal(options);
    completion_source<int> of_frugal(frugal.get_executor());
    bool inside = true;
    int calls = 0;
    boost::asio::post(frugal.get_executor(), [&] {
        of_frugal.task().on_completed([&](error_code, int) { ++calls; });
        of_frugal.set_result(1);
        inside = calls != 0;
    });
    frugal.run();
    BOOST_TEST(!inside);
    BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(task_returns_to_the_runtime_that_it_was_spawned_on) {
    io_runtime other;
    completion_source<int> of_other(other.get_executor());
    bool at_home = false;
    auto body = [](io_runtime& home, completion_source<int>& from, bool& result) -> task<> {
        co_await from.task();
        result = home.get_executor().running_in_this_thread();
    };
    spawn(runtime.get_executor(), body(runtime, of_other, at_home));
    runtime.poll();
    boost::asio::post(other.get_executor(), [&] { of_other.set_result(1); });
    other.run();
    BOOST_TEST(!at_home);
    runtime.run();
    BOOST_TEST(at_home);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
