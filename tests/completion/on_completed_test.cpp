// Plain callbacks: what they get, where they run, what becomes of what they hold.
#include "support/counted.hpp"

#include <sluice/completion/completion_source.hpp>
#include <sluice/runtime/io_runtime.hpp>

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <memory>
#include <optional>

namespace sluice::test {

namespace {

struct callback_fixture {
    io_runtime runtime;
    completion_source<int> source{runtime.get_executor()};

    template <class Function>
    void on_runtime(Function function) {
        boost::asio::post(runtime.get_executor(), std::move(function));
        runtime.run();
    }
};

const error_code broken{EPIPE, boost::system::system_category()};

} // namespace

BOOST_FIXTURE_TEST_SUITE(on_completed_test, callback_fixture)

BOOST_AUTO_TEST_CASE(callback_gets_the_result_and_no_error) {
    std::optional<int> seen;
    error_code code = broken;
    source.task().on_completed([&](error_code ec, int value) {
        code = ec;
        seen = value;
    });
    source.set_result(5);
    BOOST_TEST(!seen.has_value());
    runtime.poll();
    BOOST_TEST(seen.value() == 5);
    BOOST_TEST(!code);
}

BOOST_AUTO_TEST_CASE(callback_gets_an_error_with_a_default_result) {
    int value = -1;
    error_code code;
    const auto remember = [&](error_code ec, int v) {
        code = ec;
        value = v;
    };
    source.task().on_completed(remember);
    source.set_error(broken);
    runtime.poll();
    BOOST_TEST(code == broken);
    BOOST_TEST(value == 0);

    source.reset();
    source.task().on_completed(remember);
    source.set_exception(std::make_exception_ptr(1));
    runtime.poll();
    BOOST_TEST(code == make_error_code(errc::exception));
}

BOOST_AUTO_TEST_CASE(callback_of_a_completed_ticket_never_runs_inside_the_call) {
    int calls = 0;
    source.set_result(1);
    source.task().on_completed([&](error_code, int) { ++calls; });
    BOOST_TEST(calls == 0);
    runtime.poll();
    BOOST_TEST(calls == 1);

    // Nor on the thread that runs the executor, where it could.
    int inside = -1;
    on_runtime([&] {
        source.reset();
        source.set_result(2);
        source.task().on_completed([&](error_code, int) { ++calls; });
        inside = calls;
    });
    BOOST_TEST(inside == 1);
    BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_CASE(callback_of_a_known_value_with_an_executor_is_posted) {
    int seen = 0;
    value_task<int>(1, &runtime.loop()).on_completed([&](error_code, int v) { seen += v; });
    value_task<void>({}, &runtime.loop()).on_completed([&](error_code) { seen += 10; });
    BOOST_TEST(seen == 0);
    runtime.poll();
    BOOST_TEST(seen == 11);
}

// As a ticket's: the result goes, what the handler holds goes, nothing is called. Not in the
// runtime that is where the other was, either.
BOOST_AUTO_TEST_CASE(callback_of_a_known_value_after_its_runtime_is_gone) {
    auto gone = std::make_unique<io_runtime>();
    value_task<counted> value(counted(1), &gone->get_executor().queue());
    value_task<void> nothing(completion::nothing{}, &gone->get_executor().queue());
    completion_source<int> other(gone->get_executor());
    other.set_result(3);
    auto ticket = other.task();
    gone.reset();
    io_runtime next;
    int calls = 0;
    const auto held = std::make_shared<int>(0);
    std::move(value).on_completed([&calls, held](error_code, counted) { ++calls; });
    std::move(nothing).on_completed([&calls, held](error_code) { ++calls; });
    std::move(ticket).on_completed([&calls, held](error_code, int) { ++calls; });
    next.poll();
    BOOST_TEST(calls == 0);
    BOOST_TEST(held.use_count() == 1);
    BOOST_TEST(counted::alive() == 0);
}

BOOST_AUTO_TEST_CASE(callback_of_a_known_value_without_an_executor_runs_inside_the_call) {
    int seen = 0;
    value_task<int>(1).on_completed([&](error_code, int v) { seen += v; });
    value_task<void>(completion::nothing{}).on_completed([&](error_code) { seen += 10; });
    BOOST_TEST(seen == 11);
}

BOOST_AUTO_TEST_CASE(move_only_results_and_handlers_are_moved) {
    completion_source<std::unique_ptr<int>> of_pointer(runtime.get_executor());
    int seen = 0;
    of_pointer.task().on_completed(
        [&, mine = std::make_unique<int>(40)](error_code, std::unique_ptr<int> value) {
            seen = *mine + *value;
        });
    of_pointer.set_result(std::make_unique<int>(2));
    runtime.poll();
    BOOST_TEST(seen == 42);

    value_task<std::unique_ptr<int>>(std::make_unique<int>(3), &runtime.loop())
        .on_completed([&](error_code, std::unique_ptr<int> value) { seen = *value; });
    runtime.poll();
    BOOST_TEST(seen == 3);
}

BOOST_AUTO_TEST_CASE(handler_larger_than_the_space_in_a_source_works) {
    std::array<int, 100> large{};
    large[99] = 7;
    int seen = 0;
    source.task().on_completed([&seen, large](error_code, int value) { seen = large[99] + value; });
    source.set_result(1);
    runtime.poll();
    BOOST_TEST(seen == 8);
}

BOOST_AUTO_TEST_CASE(handler_passed_as_an_lvalue_is_copied) {
    int calls = 0;
    const auto handler = [&](error_code, int) { ++calls; };
    source.task().on_completed(handler);
    source.set_result(1);
    runtime.poll();
    source.reset();
    source.task().on_completed(handler);
    source.set_result(1);
    runtime.poll();
    BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_CASE(handler_and_what_it_holds_are_destroyed_once) {
    const auto round = [&](auto padding) {
        source.reset();
        source.task().on_completed([held = counted(1), padding](error_code, int) {
            BOOST_TEST(held.value + padding.front() > 0);
        });
        BOOST_TEST(counted::alive() == 1);
        source.set_result(1);
        runtime.poll();
        BOOST_TEST(counted::alive() == 0);
    };
    round(std::array<char, 1>{});
    round(std::array<char, 500>{});
}

BOOST_AUTO_TEST_CASE(source_can_be_used_again_inside_its_callback) {
    int rounds = 0;
    struct again {
        completion_source<int>& source;
        int& rounds;
        void operator()(error_code, int value) const {
            rounds = value;
            if (value == 100)
                return;
            source.reset();
            source.task().on_completed(*this);
            source.set_result(value + 1);
        }
    };
    source.task().on_completed(again{source, rounds});
    source.set_result(1);
    runtime.poll();
    BOOST_TEST(rounds == 100);
}

BOOST_AUTO_TEST_CASE(exception_of_a_callback_leaves_run_and_the_source_is_free) {
    source.task().on_completed([](error_code, int) { throw std::runtime_error("mine"); });
    source.set_result(1);
    BOOST_CHECK_THROW(runtime.run(), std::runtime_error);
    source.reset();
    source.set_result(2);
    BOOST_TEST(source.task().get() == 2);
}

BOOST_AUTO_TEST_CASE(exception_of_an_inline_callback_leaves_set_result_and_the_source_is_free) {
    bool thrown = false;
    on_runtime([&] {
        source.task().on_completed([](error_code, int) { throw std::runtime_error("mine"); });
        try {
            source.set_result(1);
        } catch (const std::runtime_error&) {
            thrown = true;
        }
        source.reset();
    });
    BOOST_TEST(thrown);
}

BOOST_AUTO_TEST_CASE(runtime_destroyed_with_a_posted_callback_destroys_it_uncalled) {
    int calls = 0;
    {
        io_runtime short_lived;
        completion_source<counted> of_counted(short_lived.get_executor());
        of_counted.task().on_completed(
            [&, held = counted(1)](error_code, counted value) { calls += value.value; });
        of_counted.set_result(counted(2));
        value_task<counted>(counted(3), &short_lived.loop())
            .on_completed([&](error_code, counted value) { calls += value.value; });
        BOOST_TEST(counted::alive() == 3);
    }
    BOOST_TEST(calls == 0);
    BOOST_TEST(counted::alive() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
