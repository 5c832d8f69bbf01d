// The executor of an io_runtime is a real Asio executor: its concepts and properties, and what Asio
// builds on them.
#include <sluice/runtime/io_runtime.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/defer.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace sluice::test {

namespace {

namespace asio = boost::asio;
namespace execution = boost::asio::execution;
using executor = io_runtime::executor_type;

static_assert(asio::is_executor<executor>::value || execution::is_executor<executor>::value);
static_assert(execution::is_executor<executor>::value);
static_assert(std::is_convertible_v<executor, asio::any_io_executor>);
static_assert(std::is_nothrow_copy_constructible_v<executor>);
static_assert(std::is_nothrow_destructible_v<executor>);
static_assert(asio::can_require_v<executor, execution::blocking_t::never_t>);
static_assert(asio::can_require_v<executor, execution::blocking_t::possibly_t>);
static_assert(asio::can_require_v<executor, execution::outstanding_work_t::tracked_t>);
static_assert(asio::can_require_v<executor, execution::outstanding_work_t::untracked_t>);
static_assert(asio::can_prefer_v<executor, execution::relationship_t::fork_t>);
static_assert(asio::can_prefer_v<executor, execution::relationship_t::continuation_t>);
static_assert(asio::can_query_v<executor, execution::context_t>);
static_assert(asio::can_query_v<executor, execution::mapping_t>);
static_assert(!asio::can_require_v<executor, execution::blocking_t::always_t>);

struct executor_fixture {
    io_runtime runtime;
    executor native = runtime.get_executor();
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(executor_test, executor_fixture)

BOOST_AUTO_TEST_CASE(properties_are_what_was_required) {
    BOOST_TEST(&asio::query(native, execution::context) == &runtime);
    BOOST_TEST((asio::query(native, execution::blocking) == execution::blocking.possibly));
    const auto never = asio::require(native, execution::blocking.never);
    BOOST_TEST((asio::query(never, execution::blocking) == execution::blocking.never));
    BOOST_TEST((asio::query(native, execution::outstanding_work) ==
                execution::outstanding_work.untracked));
    const auto tracked = asio::require(native, execution::outstanding_work.tracked);
    BOOST_TEST((asio::query(tracked, execution::outstanding_work) ==
                execution::outstanding_work.tracked));
    const auto preferred = asio::prefer(native, execution::relationship.continuation);
    BOOST_TEST((preferred == native));
}

BOOST_AUTO_TEST_CASE(executors_are_equal_when_runtime_and_properties_are) {
    io_runtime other;
    BOOST_TEST((native == runtime.get_executor()));
    BOOST_TEST((native != other.get_executor()));
    const auto never = asio::require(native, execution::blocking.never);
    BOOST_TEST((never != native));
    BOOST_TEST((asio::require(never, execution::blocking.possibly) == native));
    executor assigned = other.get_executor();
    assigned = native;
    BOOST_TEST((assigned == native));
}

BOOST_AUTO_TEST_CASE(type_erased_executor_keeps_properties_and_equality) {
    const asio::any_io_executor erased = native;
    BOOST_TEST((erased == asio::any_io_executor(runtime.get_executor())));
    BOOST_TEST(&asio::query(erased, execution::context) == &runtime);
    const auto never = asio::require(erased, execution::blocking.never);
    BOOST_TEST((never != erased));
    int calls = 0;
    erased.execute([&] { ++calls; });
    never.execute([&] { ++calls; });
    runtime.run();
    BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_CASE(execute_runs_inside_only_where_that_is_allowed) {
    std::string order;
    native.execute([&] { // not running: posted
        native.execute([&] { order += 'a'; });
        asio::require(native, execution::blocking.never).execute([&] { order += 'c'; });
        order += 'b';
    });
    BOOST_TEST(order.empty());
    runtime.run();
    BOOST_TEST(order == "abc");
}

BOOST_AUTO_TEST_CASE(post_dispatch_and_defer_on_it) {
    std::string order;
    asio::post(native, [&] {
        asio::post(native, [&] { order += 'p'; });
        asio::defer(native, [&] { order += 'f'; });
        asio::dispatch(native, [&] { order += 'd'; });
        order += '-';
    });
    asio::post(runtime, [&] { order += 'c'; });
    runtime.run();
    BOOST_TEST(order == "d-cpf");
}

BOOST_AUTO_TEST_CASE(move_only_functions_are_posted) {
    int seen = 0;
    asio::post(native, [&, held = std::make_unique<int>(3)] { seen = *held; });
    native.execute([&, held = std::make_unique<int>(4)] { seen += *held; });
    runtime.run();
    BOOST_TEST(seen == 7);
}

BOOST_AUTO_TEST_CASE(running_in_this_thread_is_true_in_handlers_alone) {
    BOOST_TEST(!native.running_in_this_thread());
    bool inside = false;
    bool elsewhere = true;
    asio::post(native, [&] {
        inside = native.running_in_this_thread();
        std::thread([&] { elsewhere = native.running_in_this_thread(); }).join();
    });
    runtime.run();
    BOOST_TEST(inside);
    BOOST_TEST(!elsewhere);
    BOOST_TEST(!native.running_in_this_thread());
}

BOOST_AUTO_TEST_CASE(work_guard_keeps_run_going) {
    auto guard = asio::make_work_guard(runtime);
    std::atomic<bool> released{false};
    std::thread releasing([&] {
        asio::post(native, [] {});
        released = true;
        guard.reset();
    });
    runtime.run();
    BOOST_TEST(released.load());
    releasing.join();
    BOOST_TEST(runtime.poll() == 0u);
}

BOOST_AUTO_TEST_CASE(moved_from_tracked_executor_counts_no_more) {
    // Asio's work guard leaves what it moved from undestroyed.
    alignas(executor) std::byte memory[sizeof(executor)];
    auto* const left = new (memory)
        executor(asio::require(native, execution::outstanding_work.tracked));
    {
        const executor taken(std::move(*left));
        BOOST_TEST((asio::query(taken, execution::outstanding_work) ==
                    execution::outstanding_work.tracked));
    }
    runtime.run(); // would wait for ever
    auto first = asio::make_work_guard(runtime);
    auto second = std::move(first);
    second.reset();
    BOOST_TEST(runtime.run() == 0u);
}

BOOST_AUTO_TEST_CASE(copies_of_a_tracked_executor_count_each) {
    auto first = std::make_unique<asio::any_io_executor>(
        asio::require(native, execution::outstanding_work.tracked));
    auto second = std::make_unique<asio::any_io_executor>(*first);
    executor third = asio::require(native, execution::outstanding_work.tracked);
    executor assigned = native;
    assigned = third;
    third = native;
    std::atomic<int> dropped{0};
    std::thread dropping([&] {
        asio::post(native, [&] { ++dropped, first.reset(); });
        asio::post(native, [&] { ++dropped, assigned = native; });
        asio::post(native, [&] { ++dropped, second.reset(); });
    });
    runtime.run();
    BOOST_TEST(dropped.load() == 3);
    dropping.join();
}

BOOST_AUTO_TEST_CASE(strand_over_it_keeps_order_and_exclusion) {
    auto strand = asio::make_strand(native);
    std::vector<int> order;
    std::vector<std::thread> threads;
    std::atomic<int> posting{4};
    auto guard = asio::make_work_guard(runtime);
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            for (int k = 0; k < 100; ++k)
                asio::post(strand, [&, i, k] { order.push_back(i * 1000 + k); });
            if (--posting == 0)
                guard.reset();
        });
    runtime.run();
    for (std::thread& thread : threads)
        thread.join();
    runtime.run();
    BOOST_TEST(order.size() == 400u);
    for (int i = 0; i < 4; ++i) {
        int next = i * 1000;
        for (const int seen : order)
            if (seen / 1000 == i)
                BOOST_REQUIRE(seen == next++);
    }
}

BOOST_AUTO_TEST_CASE(steady_timer_on_it) {
    asio::steady_timer timer(native, std::chrono::milliseconds(1));
    asio::steady_timer never(native, std::chrono::hours(1));
    boost::system::error_code fired = asio::error::would_block;
    boost::system::error_code cancelled;
    bool at_home = false;
    timer.async_wait([&](boost::system::error_code code) {
        fired = code;
        at_home = native.running_in_this_thread();
        never.cancel();
    });
    never.async_wait([&](boost::system::error_code code) { cancelled = code; });
    runtime.run();
    BOOST_TEST(!fired);
    BOOST_TEST(at_home);
    BOOST_TEST(cancelled == asio::error::operation_aborted);
}

BOOST_AUTO_TEST_CASE(steady_timer_left_waiting_is_let_go_of) {
    const auto held = std::make_shared<int>(1);
    const std::weak_ptr<int> watched = held;
    auto short_lived = std::make_unique<io_runtime>();
    auto timer = std::make_unique<asio::steady_timer>(short_lived->get_executor(),
                                                      std::chrono::hours(1));
    timer->async_wait([copy = held](boost::system::error_code) { BOOST_ERROR("called"); });
    BOOST_TEST(held.use_count() == 2);
    timer.reset(); // the handler is posted by now
    short_lived.reset();
    BOOST_TEST(held.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(co_spawn_and_its_completion_token) {
    auto body = []() -> asio::awaitable<int> {
        const auto on = co_await asio::this_coro::executor;
        asio::steady_timer timer(on, std::chrono::nanoseconds(1));
        co_await timer.async_wait(asio::use_awaitable);
        co_await asio::post(on, asio::use_awaitable);
        co_return 42;
    };
    int seen = 0;
    asio::co_spawn(native, body(), [&](std::exception_ptr failed, int value) {
        BOOST_TEST(!failed);
        seen = value;
    });
    runtime.run();
    BOOST_TEST(seen == 42);
}

BOOST_AUTO_TEST_CASE(future_of_a_post_from_another_thread) {
    auto guard = asio::make_work_guard(runtime);
    std::thread running([&] { runtime.run(); });
    const auto on = asio::post(native, asio::use_future([] { return std::this_thread::get_id(); }))
                        .get();
    BOOST_TEST((on == running.get_id()));
    guard.reset();
    running.join();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
