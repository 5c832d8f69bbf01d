// Renting and giving back: by itself, bounded, counted, at a new version each time, from any
// thread.
#include "support/counted.hpp"
#include "support/home_coroutine.hpp"

#include <sluice/completion/completion_pool.hpp>
#include <sluice/runtime/io_runtime.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace sluice::test {

namespace {

struct pool_fixture {
    io_runtime runtime;
    completion_pool<int> pool{runtime.get_executor(), resume_mode::inline_, 4};

    template <class Function>
    void on_runtime(Function function) {
        boost::asio::post(runtime.get_executor(), std::move(function));
        runtime.run();
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(completion_pool_test, pool_fixture)

BOOST_AUTO_TEST_CASE(unused_pool_is_constructed_and_destroyed) {
    const completion_pool<int> unused(runtime.get_executor());
    BOOST_TEST(unused.statistics().rented == 0u);
}

BOOST_AUTO_TEST_CASE(handle_gives_its_source_back_by_itself) {
    {
        const auto rented = pool.rent();
        BOOST_TEST(pool.statistics().rented == 1u);
        BOOST_TEST(pool.statistics().idle == 0u);
    }
    BOOST_TEST(pool.statistics().rented == 0u);
    BOOST_TEST(pool.statistics().idle == 1u);
    const auto again = pool.rent();
    BOOST_TEST(pool.statistics().idle == 0u);
    BOOST_TEST(pool.statistics().made == 1u);
}

BOOST_AUTO_TEST_CASE(moved_handle_gives_back_once) {
    {
        auto first = pool.rent();
        auto second(std::move(first));
        auto third = pool.rent();
        third = std::move(second);
    }
    BOOST_TEST(pool.statistics().made == 2u);
    BOOST_TEST(pool.statistics().rented == 0u);
    BOOST_TEST(pool.statistics().idle == 2u);
}

BOOST_AUTO_TEST_CASE(idle_sources_are_bounded) {
    {
        std::vector<completion_pool<int>::pooled_source> many;
        for (int i = 0; i < 10; ++i)
            many.push_back(pool.rent());
    }
    BOOST_TEST(pool.statistics().idle == 4u);
    BOOST_TEST(pool.statistics().made == 10u);
    BOOST_TEST(pool.statistics().rented == 0u);
}

BOOST_AUTO_TEST_CASE(source_comes_back_with_a_new_version_and_stale_tickets_throw) {
    on_runtime([&] {
        std::optional rented(pool.rent());
        const std::uint32_t version = rented->version();
        auto stale = rented->task();
        rented->set_result(1);
        auto kept = rented->task();
        BOOST_TEST(kept.get() == 1);
        rented.reset();
        rented.emplace(pool.rent()); // the same one: the pool has no other
        BOOST_TEST(rented->version() != version);
        BOOST_CHECK_THROW(stale.get(), invalid_operation);
        BOOST_CHECK_THROW((void)stale.is_completed(), invalid_operation);
        rented->set_result(2);
        BOOST_CHECK_THROW(stale.get(), invalid_operation);
        BOOST_TEST(rented->task().get() == 2);
    });
}

BOOST_AUTO_TEST_CASE(source_comes_back_with_the_settings_of_the_pool) {
    on_runtime([&] {
        {
            auto rented = pool.rent();
            rented.mode(resume_mode::queued);
        }
        auto again = pool.rent();
        BOOST_TEST((again.mode() == resume_mode::inline_));
        bool inside = false;
        again.task().on_completed([&](error_code, int) { inside = true; });
        again.set_result(1);
        BOOST_TEST(inside);
    });
}

BOOST_AUTO_TEST_CASE(handle_dropped_while_somebody_waits_abandons) {
    error_code seen;
    std::optional rented(pool.rent());
    auto body = [&]() -> home_coroutine { seen = (co_await rented->task().as_result()).error(); };
    const home_coroutine waiting = body();
    rented.reset();
    runtime.poll();
    BOOST_TEST(seen == make_error_code(errc::abandoned));
    BOOST_TEST(pool.statistics().rented == 0u);
}

BOOST_AUTO_TEST_CASE(handle_dropped_with_a_posted_result_leaves_it_to_the_waiter) {
    int seen = 0;
    std::optional rented(pool.rent());
    auto body = [&]() -> home_coroutine { seen = co_await rented->task(); };
    const home_coroutine waiting = body();
    rented->set_result(5);
    rented.reset();
    const auto next = pool.rent(); // must not be the one that is on its way
    runtime.poll();
    BOOST_TEST(seen == 5);
    BOOST_TEST(pool.statistics().rented == 1u); // `next`
}

BOOST_AUTO_TEST_CASE(untaken_results_are_destroyed_when_given_back) {
    completion_pool<counted> of_counted(runtime.get_executor());
    {
        auto rented = of_counted.rent();
        rented.set_result(counted(1));
    }
    BOOST_TEST(counted::alive() == 0);
}

BOOST_AUTO_TEST_CASE(rented_on_the_runtime_and_given_back_elsewhere_counts_right) {
    std::optional<completion_pool<int>::pooled_source> rented;
    on_runtime([&] { rented.emplace(pool.rent()); });
    std::thread([&] { rented.reset(); }).join();
    BOOST_TEST(pool.statistics().made == 1u);
    BOOST_TEST(pool.statistics().rented == 0u);
    BOOST_TEST(pool.statistics().idle == 1u);
}

BOOST_AUTO_TEST_CASE(sources_are_never_rented_twice_at_once_by_several_threads) {
    constexpr int rounds = 3000;
    std::atomic<int> wrong{0};
    const auto use = [&](int thread) {
        for (int round = 0; round < rounds; ++round) {
            auto first = pool.rent();
            auto second = pool.rent();
            first.set_result(thread);
            second.set_result(thread + 10);
            wrong += first.task().get() != thread || second.task().get() != thread + 10;
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back(use, i);
    on_runtime([&] { use(3); });
    for (std::thread& thread : threads)
        thread.join();
    BOOST_TEST(wrong.load() == 0);
    const completion_pool_statistics end = pool.statistics();
    BOOST_TEST(end.rented == 0u);
    BOOST_TEST(end.made >= end.idle);
}

BOOST_AUTO_TEST_CASE(pool_of_a_thread_pool_serves_all_its_threads) {
    boost::asio::thread_pool threads(4);
    completion_pool<int> of_threads(threads.get_executor());
    std::atomic<int> wrong{0};
    std::atomic<int> done{0};
    std::vector<home_coroutine> coroutines;
    auto body = [&](int mine) -> home_coroutine {
        for (int round = 0; round < 500; ++round) {
            auto rented = of_threads.rent();
            rented.mode(resume_mode::queued);
            auto ticket = rented.task();
            rented.set_result(mine * 1000 + round);
            auto moved = rented.task();
            // Suspends, so that the next round is on whatever thread is free.
            completion_source<int> hop(threads.get_executor(), resume_mode::queued);
            boost::asio::post(threads, [&hop] { hop.set_result(0); });
            co_await hop.task();
            wrong += ticket.get() != mine * 1000 + round;
        }
        ++done;
    };
    for (int i = 0; i < 8; ++i)
        coroutines.push_back(body(i));
    threads.join();
    BOOST_TEST(done.load() == 8);
    BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
