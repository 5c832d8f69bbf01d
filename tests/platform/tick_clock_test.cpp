// What a tick is, by the system's clock.
#include <sluice/platform/tick_clock.hpp>

#include <boost/test/unit_test.hpp>

namespace {

using namespace sluice::platform;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// Ticks go by, and the system's clock is read before or after: `spanned` is longer than they are.
struct measured {
    std::chrono::nanoseconds spanned, within;
    tick_clock::ticks ticks;
};

measured let_pass(std::chrono::nanoseconds time) {
    const auto outer = clock::now();
    const auto from = tick_clock::now();
    const auto inner = clock::now();
    while (clock::now() - inner < time) {
    }
    const auto inner_end = clock::now();
    const auto to = tick_clock::now();
    return {clock::now() - outer, inner_end - inner, to - from};
}

// Before every static initialiser of the library.
struct early_answer {
    std::chrono::nanoseconds duration = tick_clock::duration_of(1'000'000);
};
[[gnu::init_priority(101)]] const early_answer early;

} // namespace

BOOST_AUTO_TEST_SUITE(tick_clock_test)

BOOST_AUTO_TEST_CASE(a_duration_is_that_of_the_system_clock) {
    let_pass(10ms); // by now the ratio is known for good
    for (const auto time : {1ms, 5ms, 20ms}) {
        const measured seen = let_pass(time);
        const auto duration = tick_clock::duration_of(seen.ticks);
        BOOST_TEST(duration.count() <= (seen.spanned + seen.spanned / 50).count());
        BOOST_TEST(duration.count() >= (seen.within - seen.within / 50).count());
    }
}

// And what was guessed then is not kept: the test above.
BOOST_AUTO_TEST_CASE(who_asks_too_early_is_told_a_nanosecond_a_tick) {
    BOOST_TEST(early.duration.count() == 1'000'000);
}

BOOST_AUTO_TEST_CASE(no_ticks_take_no_time) { BOOST_TEST(tick_clock::duration_of(0).count() == 0); }

BOOST_AUTO_TEST_CASE(what_is_surely_within_is_within) {
    for (const auto time : {1us, 50us, 10'000us})
        BOOST_TEST(tick_clock::duration_of(tick_clock::surely_within(time)).count() <=
                   std::chrono::nanoseconds(time).count());
}

BOOST_AUTO_TEST_SUITE_END()
