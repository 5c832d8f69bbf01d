// What the holder of a value task does: asking, taking, moving, misusing; and every kind of result.
#include "support/counted.hpp"
#include "support/home_coroutine.hpp"

#include <sluice/completion/completion_source.hpp>
#include <sluice/runtime/io_runtime.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <memory>
#include <string>

namespace sluice::test {

namespace {

struct ticket_fixture {
    io_runtime runtime;
    completion_source<int> source{runtime.get_executor()};
};

const error_code no_access{EACCES, boost::system::system_category()};

static_assert(!std::is_copy_constructible_v<value_task<int>>);
static_assert(std::is_nothrow_move_constructible_v<value_task<int>>);
static_assert(std::is_nothrow_move_assignable_v<value_task<int>>);
static_assert(std::is_nothrow_default_constructible_v<value_task<int>>);

} // namespace

BOOST_FIXTURE_TEST_SUITE(value_task_test, ticket_fixture)

BOOST_AUTO_TEST_CASE(is_completed_follows_the_source) {
    const auto ticket = source.task();
    BOOST_TEST(!ticket.is_completed());
    source.set_result(1);
    BOOST_TEST(ticket.is_completed());
}

BOOST_AUTO_TEST_CASE(get_before_completion_throws_and_the_ticket_stays_good) {
    auto ticket = source.task();
    BOOST_CHECK_THROW(ticket.get(), invalid_operation);
    BOOST_CHECK_THROW(ticket.get_result(), invalid_operation);
    source.set_result(1);
    BOOST_TEST(ticket.get() == 1);
}

BOOST_AUTO_TEST_CASE(get_a_second_time_throws) {
    auto ticket = source.task();
    source.set_result(1);
    BOOST_TEST(ticket.get() == 1);
    BOOST_CHECK_THROW(ticket.get(), invalid_operation);
    BOOST_CHECK_THROW(ticket.get_result(), invalid_operation);
    BOOST_TEST(!ticket.is_completed());
}

BOOST_AUTO_TEST_CASE(get_by_a_second_ticket_throws) {
    auto first = source.task();
    auto second = source.task();
    source.set_result(1);
    BOOST_TEST(first.get() == 1);
    BOOST_CHECK_THROW(second.get(), invalid_operation);
}

BOOST_AUTO_TEST_CASE(get_throws_what_the_operation_failed_with) {
    auto ticket = source.task();
    source.set_error(no_access);
    BOOST_CHECK_EXCEPTION(ticket.get(), boost::system::system_error,
                          [](const auto& thrown) { return thrown.code() == no_access; });
    BOOST_CHECK_THROW(ticket.get(), invalid_operation);
}

BOOST_AUTO_TEST_CASE(get_result_has_the_value_or_the_error) {
    source.set_result(3);
    BOOST_TEST(source.task().get_result().value() == 3);
    source.reset();
    source.set_error(no_access);
    BOOST_TEST(source.task().get_result().error() == no_access);
    source.reset();
    source.set_exception(std::make_exception_ptr(1));
    BOOST_TEST(source.task().get_result().error() == make_error_code(errc::exception));
}

BOOST_AUTO_TEST_CASE(as_result_never_throws_for_a_failure) {
    result<int> seen = 0;
    auto body = [&]() -> home_coroutine { seen = co_await source.task().as_result(); };
    const auto round = [&](bool before, auto complete) {
        source.reset();
        if (before)
            complete();
        const home_coroutine awaiting = body();
        if (!before)
            complete();
        runtime.poll();
        BOOST_TEST(awaiting.done());
        awaiting.check();
    };
    for (const bool before : {true, false}) {
        round(before, [&] { source.set_result(4); });
        BOOST_TEST(seen.value() == 4);
        round(before, [&] { source.set_error(no_access); });
        BOOST_TEST(seen.error() == no_access);
        round(before, [&] { source.set_exception(std::make_exception_ptr(1)); });
        BOOST_TEST(seen.error() == make_error_code(errc::exception));
    }
}

BOOST_AUTO_TEST_CASE(second_await_throws_and_the_first_gets_the_result) {
    int seen = 0;
    auto first = [&]() -> home_coroutine { seen = co_await source.task(); };
    auto second = [&]() -> home_coroutine { co_await source.task(); };
    const home_coroutine waiting = first();
    const home_coroutine refused = second();
    BOOST_REQUIRE(refused.done());
    BOOST_CHECK_THROW(refused.check(), invalid_operation);
    source.set_result(5);
    runtime.poll();
    BOOST_TEST(waiting.done());
    BOOST_TEST(seen == 5);
}

BOOST_AUTO_TEST_CASE(dropping_a_second_ticket_leaves_the_waiting_one_alone) {
    int seen = 0;
    auto first = [&]() -> home_coroutine { seen = co_await source.task(); };
    auto unused = std::make_unique<value_task<int>>(source.task());
    const home_coroutine waiting = first();
    unused.reset();
    source.set_result(5);
    unused = std::make_unique<value_task<int>>(source.task());
    unused.reset(); // posted by now
    runtime.poll();
    BOOST_TEST(waiting.done());
    BOOST_TEST(seen == 5);
}

BOOST_AUTO_TEST_CASE(result_on_its_way_to_a_coroutine_is_nobody_elses) {
    int seen = 0;
    auto first = [&]() -> home_coroutine { seen = co_await source.task(); };
    const home_coroutine waiting = first();
    source.set_result(5);
    BOOST_REQUIRE(!waiting.done());
    auto second = source.task();
    BOOST_TEST(second.is_completed());
    BOOST_CHECK_THROW(second.get(), invalid_operation);
    BOOST_CHECK_THROW(second.get_result(), invalid_operation);
    BOOST_CHECK_THROW(std::move(second).on_completed([](error_code, int) {}), invalid_operation);
    runtime.poll();
    BOOST_TEST(seen == 5);
}

BOOST_AUTO_TEST_CASE(second_callback_throws_and_the_first_is_called) {
    int first = 0;
    int second = 0;
    source.task().on_completed([&](error_code, int) { ++first; });
    BOOST_CHECK_THROW(source.task().on_completed([&](error_code, int) { ++second; }),
                      invalid_operation);
    source.set_result(1);
    runtime.poll();
    BOOST_TEST(first == 1);
    BOOST_TEST(second == 0);
}

BOOST_AUTO_TEST_CASE(empty_and_moved_from_tickets_throw) {
    const auto check = [](value_task<int>& empty) {
        BOOST_TEST(!empty.is_completed());
        BOOST_CHECK_THROW(empty.get(), invalid_operation);
        BOOST_CHECK_THROW(empty.get_result(), invalid_operation);
        BOOST_CHECK_THROW(std::move(empty).on_completed([](error_code, int) {}),
                          invalid_operation);
        auto body = [&]() -> home_coroutine { co_await std::move(empty); };
        const home_coroutine awaiting = body();
        BOOST_REQUIRE(awaiting.done());
        BOOST_CHECK_THROW(awaiting.check(), invalid_operation);
    };
    value_task<int> never_assigned;
    check(never_assigned);
    auto moved_from = source.task();
    const auto target = std::move(moved_from);
    check(moved_from);
}

BOOST_AUTO_TEST_CASE(moved_ticket_is_the_ticket) {
    auto first = source.task();
    value_task<int> second(std::move(first));
    value_task<int> third;
    third = std::move(second);
    source.set_result(6);
    BOOST_TEST(third.get() == 6);
}

BOOST_AUTO_TEST_CASE(assignment_drops_what_was_held) {
    completion_source<counted> of_counted(runtime.get_executor());
    auto held = of_counted.task();
    of_counted.set_result(counted(1));
    held = value_task<counted>(counted(2));
    BOOST_TEST(counted::alive() == 1);
    BOOST_TEST(held.get().value == 2);
    BOOST_TEST(counted::alive() == 0);
}

BOOST_AUTO_TEST_CASE(known_value_needs_no_source) {
    value_task<int> known(7);
    BOOST_TEST(known.is_completed());
    BOOST_TEST(known.get() == 7);
    BOOST_TEST(!known.is_completed());
    BOOST_CHECK_THROW(known.get(), invalid_operation);
    BOOST_TEST(value_task<int>(8).get_result().value() == 8);
}

BOOST_AUTO_TEST_CASE(known_value_is_awaited_without_suspending) {
    int seen = 0;
    auto body = [&]() -> home_coroutine {
        seen = co_await value_task<int>(1);
        seen += (co_await value_task<int>(10).as_result()).value();
        seen += co_await value_task<int>(100).resume(resume_mode::queued);
        seen += co_await value_task<int>(1000).within(std::chrono::hours(1));
    };
    const home_coroutine awaiting = body();
    BOOST_TEST(awaiting.done());
    BOOST_TEST(seen == 1111);
}

BOOST_AUTO_TEST_CASE(known_value_is_destroyed_once) {
    {
        value_task<counted> known{counted(1)};
        value_task<counted> moved(std::move(known));
        BOOST_TEST(counted::alive() == 1);
        value_task<counted> dropped{counted(2)};
        BOOST_TEST(counted::alive() == 2);
        BOOST_TEST(moved.get().value == 1);
        BOOST_TEST(counted::alive() == 1);
    }
    BOOST_TEST(counted::alive() == 0);
}

namespace {

template <class T>
struct sample;
template <>
struct sample<bool> {
    static bool make() { return true; }
    static bool matches(bool value) { return value; }
};
template <>
struct sample<double> {
    static double make() { return 0.1; }
    static bool matches(double value) { return value == 0.1; }
};
template <>
struct sample<std::string> {
    static std::string make() { return std::string(100, 'x'); }
    static bool matches(const std::string& value) { return value == std::string(100, 'x'); }
};
template <>
struct sample<std::unique_ptr<int>> {
    static std::unique_ptr<int> make() { return std::make_unique<int>(3); }
    static bool matches(const std::unique_ptr<int>& value) { return value && *value == 3; }
};
struct three_bytes {
    std::array<char, 3> bytes{'a', 'b', 'c'};
};
template <>
struct sample<three_bytes> {
    static three_bytes make() { return {}; }
    static bool matches(three_bytes value) { return value.bytes == three_bytes{}.bytes; }
};
using large = std::array<std::uint64_t, 1000>;
template <>
struct sample<large> {
    static large make() {
        large value{};
        value[0] = 1;
        value[999] = 2;
        return value;
    }
    static bool matches(const large& value) { return value[0] == 1 && value[999] == 2; }
};
struct alignas(64) aligned {
    int value = 5;
    aligned() = default;
    aligned(aligned&& other) noexcept : value(other.value) {}
};
template <>
struct sample<aligned> {
    static aligned make() { return {}; }
    static bool matches(const aligned& value) { return value.value == 5; }
};

using result_types = std::tuple<bool, double, std::string, std::unique_ptr<int>, three_bytes, large,
                                aligned>;

} // namespace

BOOST_AUTO_TEST_CASE_TEMPLATE(every_kind_of_result_arrives_whole, T, result_types) {
    completion_source<T> of_kind(runtime.get_executor());
    auto known = value_task<T>(sample<T>::make());
    BOOST_TEST(sample<T>::matches(known.get()));

    auto taken = of_kind.task();
    of_kind.set_result(sample<T>::make());
    BOOST_TEST(sample<T>::matches(taken.get()));

    of_kind.reset();
    bool matches = false;
    auto body = [&]() -> home_coroutine {
        const T value = co_await of_kind.task();
        matches = sample<T>::matches(value);
    };
    const home_coroutine awaiting = body();
    of_kind.set_result(sample<T>::make());
    runtime.poll();
    BOOST_TEST(matches);

    of_kind.reset();
    if constexpr (std::is_default_constructible_v<T>) {
        matches = false;
        of_kind.task().on_completed(
            [&](error_code, T value) { matches = sample<T>::matches(value); });
        of_kind.set_result(sample<T>::make());
        runtime.poll();
        BOOST_TEST(matches);
    }
}

BOOST_AUTO_TEST_CASE(void_results_arrive_too) {
    completion_source<void> of_nothing(runtime.get_executor());
    auto taken = of_nothing.task();
    BOOST_CHECK_THROW(taken.get(), invalid_operation);
    of_nothing.set_result();
    taken.get();
    BOOST_CHECK_THROW(taken.get(), invalid_operation);

    of_nothing.reset();
    of_nothing.set_error(no_access);
    BOOST_TEST(of_nothing.task().get_result().error() == no_access);

    of_nothing.reset();
    bool resumed = false;
    auto body = [&]() -> home_coroutine {
        co_await of_nothing.task();
        resumed = true;
    };
    const home_coroutine awaiting = body();
    of_nothing.set_result();
    runtime.poll();
    BOOST_TEST(resumed);

    value_task<void> known{completion::nothing{}};
    BOOST_TEST(known.is_completed());
    known.get();
    BOOST_CHECK_THROW(known.get(), invalid_operation);
}

BOOST_AUTO_TEST_CASE(result_whose_move_throws_uses_the_ticket_up_all_the_same) {
    struct heavy {
        heavy() = default;
        heavy(heavy&& other) : armed(other.armed) {
            if (armed)
                throw std::length_error("too heavy");
        }
        bool armed = false;
    };
    completion_source<heavy> of_heavy(runtime.get_executor());
    auto ticket = of_heavy.task();
    of_heavy.try_set_result(heavy());
    of_heavy.reset();
    ticket = of_heavy.task();
    struct arming {
        operator heavy() const {
            heavy made;
            made.armed = true;
            return made; // elided
        }
    };
    of_heavy.set_result(arming());
    BOOST_CHECK_THROW(ticket.get(), std::length_error);
    BOOST_CHECK_THROW(ticket.get(), invalid_operation);
    of_heavy.reset(); // the result is gone: nothing waits, nothing is destroyed twice
}

// What an awaiter found there is checked again when it is taken.
BOOST_AUTO_TEST_CASE(a_result_that_was_found_can_be_taken_by_another_ticket_first) {
    completion::io_source& core = runtime.loop().rent();
    core.word = 7;
    core.complete_sole();
    value_task<std::uint64_t> first(core);
    value_task<std::uint64_t> second(core);
    BOOST_TEST(!first.await_ready());
    BOOST_TEST(!first.await_suspend(std::coroutine_handle<>(std::noop_coroutine())));
    BOOST_TEST(second.get() == 7u);
    BOOST_CHECK_THROW(first.await_resume(), invalid_operation);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
