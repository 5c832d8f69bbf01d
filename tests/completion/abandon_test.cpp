// The end of one party before the other: sources destroyed with somebody waiting, tickets dropped,
// coroutines destroyed while they are suspended.
#include "support/counted.hpp"
#include "support/home_coroutine.hpp"
#include "support/resume_modes.hpp"

#include <sluice/completion/completion_source.hpp>
#include <sluice/runtime/io_runtime.hpp>
#include <sluice/runtime/spawn.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>

namespace sluice::test {

namespace {

struct abandon_fixture {
    ~abandon_fixture() { BOOST_TEST(counted::alive() == 0); }

    io_runtime runtime;
    std::unique_ptr<completion_source<counted>> source =
        std::make_unique<completion_source<counted>>(runtime.get_executor());

    home_coroutine await_into(error_code& seen) {
        const auto outcome = co_await source->task().as_result();
        seen = outcome ? error_code() : outcome.error();
    }
    template <class Function>
    void on_runtime(Function function) {
        boost::asio::post(runtime.get_executor(), std::move(function));
        runtime.run();
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(abandon_test)

// --- the source goes first ---

BOOST_DATA_TEST_CASE_F(abandon_fixture, source_destroyed_elsewhere_while_somebody_waits,
                       both_modes) {
    source->mode(sample);
    error_code seen;
    const home_coroutine waiting = await_into(seen);
    source.reset();
    BOOST_TEST(!waiting.done());
    runtime.poll();
    BOOST_TEST(waiting.done());
    BOOST_TEST(seen == make_error_code(errc::abandoned));
}

BOOST_DATA_TEST_CASE_F(abandon_fixture, source_destroyed_on_its_executor_while_somebody_waits,
                       both_modes) {
    source->mode(sample);
    error_code seen;
    const home_coroutine waiting = await_into(seen);
    bool inside = false;
    on_runtime([&] {
        source.reset();
        inside = waiting.done();
    });
    BOOST_TEST(inside == (sample == resume_mode::inline_));
    BOOST_TEST(waiting.done());
    BOOST_TEST(seen == make_error_code(errc::abandoned));
}

BOOST_FIXTURE_TEST_CASE(source_destroyed_while_the_waiter_belongs_to_another_queue,
                        abandon_fixture) {
    io_runtime other;
    error_code seen;
    auto body = [&]() -> home_coroutine {
        const auto outcome = co_await source->task().resume_on(other.get_executor()).as_result();
        seen = outcome.error();
    };
    const home_coroutine waiting = body();
    on_runtime([&] { source.reset(); });
    BOOST_TEST(!waiting.done());
    other.poll();
    BOOST_TEST(waiting.done());
    BOOST_TEST(seen == make_error_code(errc::abandoned));
}

BOOST_FIXTURE_TEST_CASE(source_destroyed_with_its_result_on_the_way_leaves_the_result,
                        abandon_fixture) {
    int seen = 0;
    auto body = [&]() -> home_coroutine { seen = (co_await source->task()).value; };
    const home_coroutine waiting = body();
    source->set_result(counted(7));
    source.reset();
    runtime.poll();
    BOOST_TEST(seen == 7);
}

BOOST_FIXTURE_TEST_CASE(source_destroyed_before_the_await_leaves_its_result_to_the_ticket,
                        abandon_fixture) {
    auto ticket = source->task();
    source->set_result(counted(7));
    source.reset();
    BOOST_TEST(ticket.is_completed());
    BOOST_TEST(ticket.get().value == 7);
    BOOST_CHECK_THROW(ticket.get(), invalid_operation);
}

BOOST_FIXTURE_TEST_CASE(source_destroyed_unfinished_before_the_await_abandons_the_ticket,
                        abandon_fixture) {
    auto ticket = source->task();
    source.reset();
    BOOST_TEST(ticket.is_completed());
    BOOST_TEST(ticket.get_result().error() == make_error_code(errc::abandoned));
}

BOOST_FIXTURE_TEST_CASE(result_that_its_source_left_behind_goes_to_a_callback_too,
                        abandon_fixture) {
    boost::asio::thread_pool pool(1);
    int seen = 0;
    {
        completion_source<counted> on_pool(pool.get_executor());
        auto ticket = on_pool.task();
        on_pool.set_result(counted(3));
        completion_source<counted> replaced(runtime.get_executor());
        on_pool = std::move(replaced); // what was on the pool dies with `replaced`
        std::move(ticket).on_completed([&](error_code, counted value) { seen = value.value; });
    }
    pool.join();
    BOOST_TEST(seen == 3);
}

BOOST_FIXTURE_TEST_CASE(result_that_its_source_left_behind_is_destroyed_with_the_ticket,
                        abandon_fixture) {
    {
        auto ticket = source->task();
        source->set_result(counted(7));
        source.reset();
        BOOST_TEST(counted::alive() == 1);
    }
    BOOST_TEST(counted::alive() == 0);
}

BOOST_FIXTURE_TEST_CASE(source_destroyed_by_its_own_continuation, abandon_fixture) {
    int seen = 0;
    auto body = [&]() -> home_coroutine {
        seen = (co_await source->task()).value;
        source.reset();
    };
    const home_coroutine waiting = body();
    on_runtime([&] { source->set_result(counted(5)); });
    BOOST_TEST(seen == 5);
    BOOST_TEST(source.get() == nullptr);
}

// --- the ticket goes first ---

BOOST_FIXTURE_TEST_CASE(ticket_dropped_before_completion_lets_the_value_be_destroyed_once,
                        abandon_fixture) {
    {
        const auto ticket = source->task();
    }
    source->set_result(counted(1));
    BOOST_TEST(counted::alive() == 0);
    source->reset();
    source->set_result(counted(2));
    BOOST_TEST(source->task().get().value == 2);
}

BOOST_FIXTURE_TEST_CASE(ticket_dropped_before_completion_swallows_an_error, abandon_fixture) {
    {
        const auto ticket = source->task();
    }
    source->set_error(make_error_code(errc::closed));
    source->reset();
    source->set_result(counted(2));
    BOOST_TEST(source->task().get().value == 2);
}

BOOST_FIXTURE_TEST_CASE(ticket_dropped_after_completion_destroys_the_value_once, abandon_fixture) {
    {
        const auto ticket = source->task();
        source->set_result(counted(1));
        BOOST_TEST(counted::alive() == 1);
    }
    BOOST_TEST(counted::alive() == 0);
    source->reset();
}

BOOST_FIXTURE_TEST_CASE(ticket_dropped_and_source_destroyed_without_completion, abandon_fixture) {
    {
        const auto ticket = source->task();
    }
    source.reset();
}

// --- the coroutine goes first ---

BOOST_DATA_TEST_CASE_F(abandon_fixture, coroutine_destroyed_before_completion, both_modes) {
    source->mode(sample);
    error_code seen;
    home_coroutine waiting = await_into(seen);
    waiting.destroy();
    source->set_result(counted(1));
    runtime.poll();
    BOOST_TEST(counted::alive() == 0);
    source->reset();
    source->set_result(counted(2));
    BOOST_TEST(source->task().get().value == 2);
}

BOOST_DATA_TEST_CASE_F(abandon_fixture, coroutine_destroyed_after_its_resumption_was_posted,
                       both_modes) {
    source->mode(sample);
    error_code seen = make_error_code(errc::closed);
    home_coroutine waiting = await_into(seen);
    source->set_result(counted(1));
    waiting.destroy();
    BOOST_CHECK_THROW(source->reset(), invalid_operation); // its node is still in the queue
    runtime.poll();
    BOOST_TEST(counted::alive() == 0);
    BOOST_TEST(seen == make_error_code(errc::closed));
    source->reset();
}

BOOST_FIXTURE_TEST_CASE(coroutine_destroyed_after_its_resumption_was_posted_and_its_source_too,
                        abandon_fixture) {
    error_code seen;
    home_coroutine waiting = await_into(seen);
    source->set_result(counted(1));
    waiting.destroy();
    source.reset();
    runtime.poll();
    BOOST_TEST(counted::alive() == 0);
}

BOOST_FIXTURE_TEST_CASE(coroutine_destroyed_by_what_runs_just_before_it, abandon_fixture) {
    error_code seen = make_error_code(errc::closed);
    home_coroutine waiting = await_into(seen);
    boost::asio::post(runtime.get_executor(), [&] { waiting.destroy(); });
    source->set_result(counted(1)); // posted behind it
    runtime.run();
    BOOST_TEST(seen == make_error_code(errc::closed));
}

BOOST_FIXTURE_TEST_CASE(coroutine_destroyed_after_its_runtime_dropped_its_resumption,
                        abandon_fixture) {
    auto other = std::make_unique<io_runtime>();
    auto of_other = std::make_unique<completion_source<counted>>(other->get_executor());
    bool resumed = false;
    auto body = [&]() -> home_coroutine {
        co_await of_other->task();
        resumed = true;
    };
    home_coroutine waiting = body();
    of_other->set_result(counted(1));
    other.reset();
    BOOST_TEST(counted::alive() == 1);
    waiting.destroy();
    BOOST_TEST(counted::alive() == 0);
    BOOST_TEST(!resumed);
}

BOOST_FIXTURE_TEST_CASE(completion_after_the_runtime_is_gone_is_let_go_of, abandon_fixture) {
    auto other = std::make_unique<io_runtime>();
    completion_source<counted> of_other(other->get_executor());
    int calls = 0;
    of_other.task().on_completed([&, held = counted(1)](error_code, counted) { ++calls; });
    other.reset();
    BOOST_TEST(counted::alive() == 1);
    of_other.set_result(counted(2));
    BOOST_TEST(counted::alive() == 0);
    BOOST_TEST(calls == 0);
    of_other.reset();
    of_other.set_result(counted(3));
    BOOST_TEST(of_other.task().get().value == 3);
}

// The runtime of the waiting side ends between the claim and the delivery of another thread.
BOOST_FIXTURE_TEST_CASE(runtime_of_the_waiting_side_gone_before_the_delivery, abandon_fixture) {
    struct gate {
        std::binary_semaphore inside{0};
        std::binary_semaphore go_on{0};
    };
    static gate* at = nullptr;
    struct slow {
        std::string text;
        slow() = default;
        explicit slow(int) : text("value") {
            at->inside.release();
            at->go_on.acquire();
        }
    };
    gate here;
    at = &here;
    completion_source<slow> slow_source(runtime.get_executor());
    std::optional<io_runtime> other(std::in_place);
    bool resumed = false;
    auto wait = [&](value_task<slow> ticket) -> task<> {
        co_await std::move(ticket);
        resumed = true;
    };
    spawn(other->get_executor(), wait(slow_source.task()));
    other->poll();
    std::thread completer([&] { slow_source.set_result(1); });
    here.inside.acquire();
    other.reset();
    here.go_on.release();
    completer.join();
    BOOST_TEST(!resumed);
}

// User code runs between the claim and the delivery: the constructor of the result.
BOOST_FIXTURE_TEST_CASE(waiting_coroutine_destroyed_by_the_result_s_constructor, abandon_fixture) {
    static home_coroutine* victim = nullptr;
    struct destroying {
        std::string text;
        destroying() = default;
        explicit destroying(int) : text("value") { victim->destroy(); }
    };
    for (const bool in_word : {false, true})
        on_runtime([&] {
            bool resumed = false;
            completion_source<destroying> of_it(runtime.get_executor());
            auto wait = [&](value_task<destroying> ticket) -> home_coroutine {
                co_await std::move(ticket);
                resumed = true;
            };
            auto ticket = of_it.task();
            if (in_word)
                ticket = std::move(ticket).resume_on(runtime.get_executor());
            home_coroutine waiting = wait(std::move(ticket));
            victim = &waiting;
            of_it.set_result(1);
            BOOST_TEST(!resumed);
        });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
