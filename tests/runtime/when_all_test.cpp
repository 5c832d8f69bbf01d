// Waiting for several at once.
#include "support/counted.hpp"

#include <sluice/completion/completion_source.hpp>
#include <sluice/runtime/io_runtime.hpp>
#include <sluice/runtime/sleep.hpp>
#include <sluice/runtime/sync_wait.hpp>
#include <sluice/runtime/when_all.hpp>

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace sluice::test {

namespace {

using namespace std::chrono_literals;

struct all_fixture {
    io_runtime runtime;
    completion_source<int> first{runtime.get_executor()};
    completion_source<int> second{runtime.get_executor()};
    completion_source<void> third{runtime.get_executor()};

    static task<int> number(int n) { co_return n; }
    static task<> nothing() { co_return; }
    static task<int> failing(const char* what) {
        throw std::runtime_error(what);
        co_return 0;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(when_all_test, all_fixture)

BOOST_AUTO_TEST_CASE(results_come_in_the_order_of_the_arguments) {
    const auto [a, b, c] =
        sync_wait(runtime, when_all(number(1), value_task<std::string>("two"), number(3)));
    BOOST_TEST(a == 1);
    BOOST_TEST(b == "two");
    BOOST_TEST(c == 3);
}

BOOST_AUTO_TEST_CASE(void_gives_monostate) {
    const std::tuple<std::monostate, int, std::monostate> results =
        sync_wait(runtime, when_all(nothing(), number(2), value_task<void>(completion::nothing{})));
    BOOST_TEST(std::get<1>(results) == 2);
}

BOOST_AUTO_TEST_CASE(nothing_to_wait_for_is_done_at_once) {
    sync_wait(runtime, when_all());
    BOOST_TEST(sync_wait(runtime, when_all(std::vector<task<int>>())).empty());
}

BOOST_AUTO_TEST_CASE(ends_when_the_last_one_does_whichever_that_is) {
    for (int last = 0; last < 3; ++last) {
        first.reset();
        second.reset();
        third.reset();
        bool ended = false;
        int sum = 0;
        auto all = [&]() -> task<> {
            const auto [a, b, c] = co_await when_all(first.task(), second.task(), third.task());
            sum = a + b;
            ended = true;
        };
        auto drive = [&]() -> task<> {
            for (int i = 1; i <= 3; ++i) {
                BOOST_TEST(!ended);
                switch ((last + i) % 3) {
                case 0:
                    first.set_result(10);
                    break;
                case 1:
                    second.set_result(20);
                    break;
                default:
                    third.set_result();
                }
            }
            co_return;
        };
        sync_wait(runtime, when_all(all(), drive()));
        BOOST_TEST(ended);
        BOOST_TEST(sum == 30);
    }
}

BOOST_AUTO_TEST_CASE(first_exception_in_the_order_of_the_arguments_is_thrown) {
    const auto message_of = [&](auto all) -> std::string {
        try {
            (void)sync_wait(runtime, std::move(all));
        } catch (const std::runtime_error& failure) {
            return failure.what();
        }
        return "none";
    };
    BOOST_TEST(message_of(when_all(number(1), failing("a"), failing("b"))) == "a");
    std::vector<task<int>> several;
    several.push_back(number(1));
    several.push_back(failing("x"));
    several.push_back(failing("y"));
    BOOST_TEST(message_of(when_all(std::move(several))) == "x");
}

BOOST_AUTO_TEST_CASE(exception_waits_for_the_others) {
    bool other_ended = false;
    auto slow = [&]() -> task<> {
        co_await first.task();
        other_ended = true;
    };
    boost::asio::post(runtime.get_executor(), [&] {
        BOOST_TEST(!other_ended);
        first.set_result(1);
    });
    BOOST_CHECK_THROW(sync_wait(runtime, when_all(failing("now"), slow())), std::runtime_error);
    BOOST_TEST(other_ended);
}

BOOST_AUTO_TEST_CASE(tasks_start_in_order_and_overlap) {
    std::string order;
    auto part = [&](char name, completion_source<int>& wait) -> task<> {
        order += name;
        co_await wait.task();
        order += static_cast<char>(name - 'a' + 'A');
    };
    auto release = [&]() -> task<> {
        second.set_result(1);
        first.set_result(1);
        co_return;
    };
    sync_wait(runtime, when_all(part('a', first), part('b', second), release()));
    BOOST_TEST(order == "abBA");
}

BOOST_AUTO_TEST_CASE(vector_of_value_tasks_gives_a_vector) {
    constexpr int count = 1000;
    std::vector<std::unique_ptr<completion_source<int>>> sources;
    std::vector<value_task<int>> tickets;
    for (int i = 0; i < count; ++i) {
        sources.push_back(std::make_unique<completion_source<int>>(runtime.get_executor()));
        tickets.push_back(sources.back()->task());
    }
    std::thread completing([&] {
        for (int i = count - 1; i >= 0; --i)
            sources[static_cast<std::size_t>(i)]->set_result(i);
    });
    const std::vector<int> results = sync_wait(runtime, when_all(std::move(tickets)));
    completing.join();
    BOOST_TEST(results.size() == static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
        BOOST_REQUIRE(results[static_cast<std::size_t>(i)] == i);
}

BOOST_AUTO_TEST_CASE(move_only_results_and_bools_travel) {
    std::vector<value_task<bool>> flags;
    flags.emplace_back(true);
    flags.emplace_back(false);
    const std::vector<bool> seen = sync_wait(runtime, when_all(std::move(flags)));
    BOOST_TEST(seen[0]);
    BOOST_TEST(!seen[1]);
    auto owned = []() -> task<counted> { co_return counted(3); };
    {
        const auto [one, two] =
            sync_wait(runtime, when_all(owned(), value_task<counted>(counted(4))));
        BOOST_TEST(one.value + two.value == 7);
        BOOST_TEST(counted::alive() == 2);
    }
    BOOST_TEST(counted::alive() == 0);
}

BOOST_AUTO_TEST_CASE(nested_ones_end_in_turn) {
    auto group = [&](int from) { return when_all(number(from), number(from + 1)); };
    const auto [a, b] = sync_wait(runtime, when_all(group(1), group(3)));
    BOOST_TEST((a == std::tuple(1, 2)));
    BOOST_TEST((b == std::tuple(3, 4)));
}

BOOST_AUTO_TEST_CASE(parts_resume_where_the_parent_was_spawned) {
    io_runtime other;
    completion_source<int> elsewhere(other.get_executor());
    bool at_home = false;
    auto part = [&]() -> task<> {
        co_await elsewhere.task();
        at_home = runtime.get_executor().running_in_this_thread();
    };
    std::thread completing([&] {
        boost::asio::post(other.get_executor(), [&] { elsewhere.set_result(1); });
        other.run();
    });
    sync_wait(runtime, when_all(part(), nothing()));
    completing.join();
    BOOST_TEST(at_home);
}

BOOST_AUTO_TEST_CASE(destroying_it_destroys_the_parts) {
    auto part = [&](counted) -> task<> {
        co_await first.task();
        BOOST_ERROR("resumed");
    };
    boost::asio::post(runtime.get_executor(),
                      [&] { boost::asio::post(runtime.get_executor(), [&] { runtime.stop(); }); });
    BOOST_CHECK_THROW(
        sync_wait(runtime, when_all(part(counted(1)), sleep_for(runtime.get_executor(), 1h))),
        std::runtime_error);
    BOOST_TEST(counted::alive() == 0);
    first.set_result(1);
    runtime.restart();
    runtime.run(); // the sleep was asked to end
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
