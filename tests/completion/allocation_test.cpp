// After warm-up the life of an operation takes nothing from the heap.
#include "support/heap_counter.hpp"
#include "support/home_coroutine.hpp"

#include <sluice/completion/completion_pool.hpp>
#include <sluice/runtime/io_runtime.hpp>
#include <sluice/runtime/sleep.hpp>
#include <sluice/runtime/sync_wait.hpp>
#include <sluice/runtime/task.hpp>

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <string>
#include <thread>

namespace sluice::test {

namespace {

runtime_options without_budget() {
    runtime_options options;
    options.inline_budget.completions = 1 << 30; // all in one turn
    return options;
}

struct allocation_fixture {
    io_runtime runtime{without_budget()};
    completion_pool<int> pool{runtime.get_executor()};
    completion_pool<std::string> of_text{runtime.get_executor()};
    std::uint64_t sum = 0;

    /// Allocations of 1000 rounds, after 100 to warm up.
    template <class Round>
    static std::size_t allocations_of(Round round) {
        for (int i = 0; i < 100; ++i)
            round();
        const std::size_t before = heap_allocations();
        for (int i = 0; i < 1000; ++i)
            round();
        return heap_allocations() - before;
    }
    template <class Round>
    std::size_t allocations_on_runtime(Round round) {
        std::size_t allocated = 1;
        boost::asio::post(runtime.get_executor(), [&] { allocated = allocations_of(round); });
        runtime.run();
        return allocated;
    }

    // Rents, awaits, gives back, and again: `current` is what it waits for.
    home_coroutine await_for_ever(resume_mode mode) {
        for (;;) {
            auto rented = pool.rent();
            rented.mode(mode);
            current = &rented;
            sum += static_cast<std::uint64_t>(co_await rented.task());
        }
    }
    completion_pool<int>::pooled_source* current = nullptr;
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(allocation_test, allocation_fixture)

BOOST_AUTO_TEST_CASE(counter_counts_every_form_of_new) {
    struct alignas(128) aligned {
        char bytes[128];
    };
    const std::size_t before = heap_allocations();
    const auto keep = [](auto* made) { // or the compiler makes none
        auto* volatile seen = made;
        return seen;
    };
    delete keep(new int(1));
    delete[] keep(new char[100]);
    delete keep(new aligned);
    const std::string text(100, 'x');
    std::thread([&] { delete keep(new int(2)); }).join(); // the thread's own state is one more
    BOOST_TEST(heap_allocations() - before >= 5u);
}

BOOST_AUTO_TEST_CASE(rent_await_complete_inline_give_back) {
    std::size_t allocated = 1;
    boost::asio::post(runtime.get_executor(), [&] {
        const home_coroutine awaiting = await_for_ever(resume_mode::inline_);
        allocated = allocations_of([&] { current->set_result(1); });
    });
    runtime.run();
    BOOST_TEST(allocated == 0u);
    BOOST_TEST(sum == 1100u);
}

BOOST_AUTO_TEST_CASE(rent_await_complete_queued_give_back) {
    const home_coroutine awaiting = await_for_ever(resume_mode::queued);
    BOOST_TEST(allocations_of([&] {
                   current->set_result(1);
                   runtime.poll();
               }) == 0u);
    BOOST_TEST(sum == 1100u);
}

BOOST_AUTO_TEST_CASE(callbacks_that_fit_into_the_source) {
    std::array<std::uint64_t, 6> payload{};
    payload[5] = 1;
    const auto round = [&] {
        auto rented = pool.rent();
        rented.task().on_completed([this, payload](error_code, int value) {
            sum += static_cast<std::uint64_t>(value) * payload[5];
        });
        rented.set_result(1);
    };
    BOOST_TEST(allocations_on_runtime(round) == 0u);
    BOOST_TEST(sum == 1100u);
}

BOOST_AUTO_TEST_CASE(callbacks_of_known_values) {
    const auto round = [&] {
        value_task<int>(1, &runtime.loop()).on_completed([this](error_code, int value) {
            sum += static_cast<std::uint64_t>(value);
        });
        runtime.poll();
    };
    BOOST_TEST(allocations_of(round) == 0u);
    BOOST_TEST(sum == 1100u);
}

BOOST_AUTO_TEST_CASE(results_that_own_nothing_new) {
    const auto round = [&] {
        auto rented = of_text.rent();
        auto ticket = rented.task();
        rented.set_result("short");
        sum += ticket.get().size();
    };
    BOOST_TEST(allocations_of(round) == 0u);
    BOOST_TEST(allocations_on_runtime(round) == 0u);
}

BOOST_AUTO_TEST_CASE(deadlines_and_dropped_tickets) {
    const auto round = [&] {
        auto rented = pool.rent();
        { const auto dropped = rented.task().within(std::chrono::hours(1)); }
        rented.set_result(1);
    };
    BOOST_TEST(allocations_on_runtime(round) == 0u);
}

BOOST_AUTO_TEST_CASE(posted_functions) {
    const auto round = [&] {
        boost::asio::post(runtime.get_executor(), [this] { ++sum; });
        boost::asio::post(runtime.get_executor(), [this, large = std::array<char, 200>{}] {
            sum += static_cast<int>(large.size()) + large[0];
        });
        runtime.poll();
    };
    BOOST_TEST(allocations_of(round) == 0u);
}

BOOST_AUTO_TEST_CASE(completions_from_another_thread) {
    const home_coroutine awaiting = await_for_ever(resume_mode::inline_);
    std::size_t allocated = 1;
    std::thread completer([&] {
        allocated = allocations_of([&] {
            const std::uint64_t before = sum;
            current->set_result(1);
            runtime.poll(); // this thread's turn to run it
            BOOST_REQUIRE(sum == before + 1);
        });
    });
    completer.join();
    BOOST_TEST(allocated == 0u);
}

BOOST_AUTO_TEST_CASE(timers) {
    std::size_t allocated = 1;
    auto body = [&]() -> task<> {
        std::size_t before = 0;
        for (int i = 0; i < 1100; ++i) {
            if (i == 100)
                before = heap_allocations();
            co_await sleep_for(runtime.get_executor(), std::chrono::nanoseconds(1));
        }
        allocated = heap_allocations() - before;
    };
    sync_wait(runtime, body());
    BOOST_TEST(allocated == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
