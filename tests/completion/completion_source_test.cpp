// What the owner of a completion source does: completing, completing twice, reset, versions.
#include "support/counted.hpp"
#include "support/home_coroutine.hpp"

#include <sluice/completion/completion_source.hpp>
#include <sluice/runtime/io_runtime.hpp>

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>

namespace sluice::test {

namespace {

struct source_fixture {
    io_runtime runtime;
    completion_source<int> source{runtime.get_executor()};
};

home_coroutine await_into(completion_source<int>& source, int& result) {
    result = co_await source.task();
}

const error_code no_space{ENOSPC, boost::system::system_category()};

} // namespace

BOOST_FIXTURE_TEST_SUITE(completion_source_test, source_fixture)

BOOST_AUTO_TEST_CASE(result_set_before_the_await_is_there_without_suspending) {
    source.set_result(7);
    int result = 0;
    const home_coroutine awaiting = await_into(source, result);
    BOOST_TEST(awaiting.done());
    BOOST_TEST(result == 7);
}

BOOST_AUTO_TEST_CASE(result_set_after_the_await_resumes_the_coroutine) {
    int result = 0;
    const home_coroutine awaiting = await_into(source, result);
    BOOST_TEST(!awaiting.done());
    source.set_result(8);
    runtime.poll();
    BOOST_TEST(awaiting.done());
    BOOST_TEST(result == 8);
}

BOOST_AUTO_TEST_CASE(error_is_thrown_by_the_await_with_its_code) {
    int result = 0;
    const home_coroutine awaiting = await_into(source, result);
    source.set_error(no_space);
    runtime.poll();
    BOOST_REQUIRE(awaiting.done());
    BOOST_CHECK_EXCEPTION(awaiting.check(), boost::system::system_error,
                          [](const auto& thrown) { return thrown.code() == no_space; });
}

BOOST_AUTO_TEST_CASE(exception_is_thrown_by_the_await_as_it_was_given) {
    int result = 0;
    const home_coroutine awaiting = await_into(source, result);
    source.set_exception(std::make_exception_ptr(std::out_of_range("far away")));
    runtime.poll();
    BOOST_REQUIRE(awaiting.done());
    BOOST_CHECK_EXCEPTION(awaiting.check(), std::out_of_range, [](const auto& thrown) {
        return thrown.what() == std::string("far away");
    });
}

BOOST_AUTO_TEST_CASE(second_completion_throws_whatever_the_two_are) {
    const auto complete = [&](int kind) {
        if (kind == 0)
            source.set_result(1);
        else if (kind == 1)
            source.set_error(no_space);
        else
            source.set_exception(std::make_exception_ptr(std::runtime_error("x")));
    };
    for (int first = 0; first < 3; ++first) {
        for (int second = 0; second < 3; ++second) {
            source.reset();
            complete(first);
            BOOST_CHECK_THROW(complete(second), invalid_operation);
        }
    }
}

BOOST_AUTO_TEST_CASE(second_completion_changes_nothing) {
    source.set_result(1);
    BOOST_TEST(!source.try_set_result(2));
    BOOST_TEST(!source.try_set_error(no_space));
    BOOST_TEST(!source.try_set_exception(std::make_exception_ptr(2)));
    BOOST_TEST(source.task().get() == 1);
}

BOOST_AUTO_TEST_CASE(second_completion_after_the_result_was_taken_throws_too) {
    source.set_result(1);
    BOOST_TEST(source.task().get() == 1);
    BOOST_CHECK_THROW(source.set_result(2), invalid_operation);
}

BOOST_AUTO_TEST_CASE(try_forms_say_that_they_were_first) {
    BOOST_TEST(source.try_set_result(1));
    source.reset();
    BOOST_TEST(source.try_set_error(no_space));
    source.reset();
    BOOST_TEST(source.try_set_exception(std::make_exception_ptr(2)));
}

BOOST_AUTO_TEST_CASE(set_await_reset_goes_on_for_many_rounds) {
    for (int round = 0; round < 1000; ++round) {
        int result = -1;
        if (round % 2 == 0)
            source.set_result(round);
        const home_coroutine awaiting = await_into(source, result);
        if (round % 2 != 0) {
            source.set_result(round);
            runtime.poll();
        }
        BOOST_REQUIRE(result == round);
        source.reset();
    }
}

BOOST_AUTO_TEST_CASE(reset_makes_a_new_version) {
    const std::uint32_t first = source.version();
    source.reset();
    BOOST_TEST(source.version() != first);
    source.reset();
    BOOST_TEST(source.version() != first);
}

BOOST_AUTO_TEST_CASE(completing_and_taking_do_not_change_the_version) {
    const std::uint32_t version = source.version();
    auto ticket = source.task();
    source.set_result(1);
    BOOST_TEST(ticket.get() == 1);
    BOOST_TEST(source.version() == version);
}

BOOST_AUTO_TEST_CASE(reset_forgets_an_error) {
    source.set_error(no_space);
    source.reset();
    auto ticket = source.task();
    BOOST_TEST(!ticket.is_completed());
    source.set_result(3);
    BOOST_TEST(ticket.get() == 3);
}

BOOST_AUTO_TEST_CASE(reset_while_somebody_waits_throws_and_changes_nothing) {
    int result = 0;
    const home_coroutine awaiting = await_into(source, result);
    BOOST_CHECK_THROW(source.reset(), invalid_operation);
    source.set_result(4);
    BOOST_CHECK_THROW(source.reset(), invalid_operation); // posted, not yet resumed
    runtime.poll();
    BOOST_TEST(result == 4);
    source.reset();
}

BOOST_AUTO_TEST_CASE(reset_makes_older_tickets_stale) {
    auto pending = source.task();
    source.reset();
    source.set_result(5);
    BOOST_CHECK_THROW((void)pending.is_completed(), invalid_operation);
    BOOST_CHECK_THROW(pending.get(), invalid_operation);
    BOOST_CHECK_THROW(pending.get_result(), invalid_operation);
    BOOST_CHECK_THROW(std::move(pending).on_completed([](error_code, int) {}), invalid_operation);
    BOOST_CHECK_THROW(std::move(pending).resume(resume_mode::queued), invalid_operation);
    BOOST_CHECK_THROW(std::move(pending).within(std::chrono::hours(1)), invalid_operation);
    BOOST_CHECK_THROW(std::move(pending).resume_on(runtime.get_executor()), invalid_operation);
    BOOST_TEST(source.task().get() == 5);
}

BOOST_AUTO_TEST_CASE(await_of_a_stale_ticket_throws_into_the_coroutine) {
    auto stale = source.task();
    source.reset();
    auto body = [&]() -> home_coroutine { co_await std::move(stale); };
    const home_coroutine awaiting = body();
    BOOST_REQUIRE(awaiting.done());
    BOOST_CHECK_THROW(awaiting.check(), invalid_operation);
}

BOOST_AUTO_TEST_CASE(dropping_a_stale_ticket_leaves_the_new_operation_alone) {
    {
        auto stale = source.task();
        source.reset();
    }
    source.set_result(6);
    BOOST_TEST(source.task().get() == 6);
}

BOOST_AUTO_TEST_CASE(reset_destroys_a_result_that_nobody_took) {
    completion_source<counted> of_counted(runtime.get_executor());
    of_counted.set_result(counted(1));
    BOOST_TEST(counted::alive() == 1);
    of_counted.reset();
    BOOST_TEST(counted::alive() == 0);
}

BOOST_AUTO_TEST_CASE(destruction_destroys_a_result_that_nobody_asked_for) {
    {
        completion_source<counted> of_counted(runtime.get_executor());
        of_counted.set_result(counted(1));
    }
    BOOST_TEST(counted::alive() == 0);
}

BOOST_AUTO_TEST_CASE(reset_and_taking_let_go_of_the_exception_object) {
    auto object = std::make_shared<int>(1);
    const std::weak_ptr<int> watched = object;
    source.set_exception(std::make_exception_ptr(std::move(object)));
    source.reset();
    BOOST_TEST(watched.expired());

    object = std::make_shared<int>(2);
    const std::weak_ptr<int> thrown = object;
    source.set_exception(std::make_exception_ptr(std::move(object)));
    BOOST_CHECK_THROW(source.task().get(), std::shared_ptr<int>);
    BOOST_TEST(thrown.expired());
}

BOOST_AUTO_TEST_CASE(reset_restores_the_mode_of_the_source) {
    source.mode(resume_mode::inline_);
    auto overridden = source.task().resume(resume_mode::queued);
    source.reset();
    bool inside = false;
    boost::asio::post(runtime.get_executor(), [&] {
        bool resumed = false;
        source.task().on_completed([&](error_code, int) { resumed = true; });
        source.set_result(1);
        inside = resumed;
    });
    runtime.run();
    BOOST_TEST(inside);
}

BOOST_AUTO_TEST_CASE(mode_of_the_source_survives_reset) {
    BOOST_TEST((source.mode() == resume_mode::inline_));
    source.mode(resume_mode::queued);
    source.reset();
    BOOST_TEST((source.mode() == resume_mode::queued));
}

BOOST_AUTO_TEST_CASE(moved_source_goes_on_with_its_operation) {
    auto ticket = source.task();
    completion_source<int> moved(std::move(source));
    moved.set_result(9);
    BOOST_TEST(ticket.get() == 9);

    completion_source<int> other(runtime.get_executor());
    auto of_other = other.task();
    moved = std::move(other);
    moved.set_result(10);
    BOOST_TEST(of_other.get() == 10);
}

BOOST_AUTO_TEST_CASE(result_that_cannot_be_constructed_completes_with_the_exception) {
    struct picky {
        picky() = default;
        explicit picky(int) { throw std::length_error("too long"); }
    };
    completion_source<picky> of_picky(runtime.get_executor());
    auto ticket = of_picky.task();
    of_picky.set_result(1);
    BOOST_CHECK_THROW(ticket.get(), std::length_error);
}

BOOST_AUTO_TEST_CASE(result_is_converted_to_the_type_of_the_source) {
    completion_source<std::string> of_text(runtime.get_executor());
    auto ticket = of_text.task();
    of_text.set_result("text");
    BOOST_TEST(ticket.get() == "text");
}

BOOST_AUTO_TEST_CASE(empty_executor_is_refused) {
    BOOST_CHECK_THROW(completion_source<int>{boost::asio::any_io_executor()},
                      std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
