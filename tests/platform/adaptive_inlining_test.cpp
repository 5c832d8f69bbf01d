#include <sluice/platform/adaptive_inlining.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>

namespace {

using namespace sluice::platform;
using namespace std::chrono_literals;

struct inlining_fixture {
    adaptive_inlining inlining;
    adaptive_inlining::clock::time_point now{1h};

    void call(std::chrono::nanoseconds took, std::size_t bytes = 4096) {
        inlining.learn(bytes, now, now + took);
        now += took;
    }
    bool allows(std::size_t bytes = 4096) const { return inlining.allows(bytes, now); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(inlining, inlining_fixture)

BOOST_AUTO_TEST_CASE(allowed_from_the_start_but_not_for_large_calls) {
    BOOST_TEST(allows());
    BOOST_TEST(allows(adaptive_inlining::largest_inline));
    BOOST_TEST(!allows(adaptive_inlining::largest_inline + 1));
}

BOOST_AUTO_TEST_CASE(the_limit_can_be_set) {
    inlining.set_limit(5ms);
    call(5ms);
    call(5ms);
    BOOST_TEST(inlining.is_trusted());
    inlining.set_limit(1us);
    call(4us);
    call(4us);
    BOOST_TEST(!allows());
}

BOOST_AUTO_TEST_CASE(the_limit_is_a_second_at_most_and_never_negative) {
    inlining.set_limit(1h);
    BOOST_TEST(inlining.limit_for(0) == 1'000'001'000);
    inlining.set_limit(-1h);
    BOOST_TEST(inlining.limit_for(0) == 1'000);
}

BOOST_AUTO_TEST_CASE(one_lost_time_slice_is_forgiven) {
    for (int i = 0; i < 100; ++i) {
        call(3ms);
        BOOST_TEST(allows());
        call(5us);
        BOOST_TEST(allows());
    }
}

BOOST_AUTO_TEST_CASE(two_slow_calls_in_a_row_are_the_file) {
    call(100us);
    call(100us);
    BOOST_TEST(!allows());
    now += 10ms;
    BOOST_TEST(allows());
}

BOOST_AUTO_TEST_CASE(one_very_slow_call_is_the_file) {
    call(200ms);
    BOOST_TEST(!allows());
}

BOOST_AUTO_TEST_CASE(the_period_doubles_while_it_stays_slow) {
    auto period = 10ms;
    call(200ms);
    for (int i = 0; i < 20; ++i) {
        BOOST_TEST(!inlining.allows(1, now + period - 1ns));
        now += period;
        BOOST_TEST(allows());
        call(100us);
        BOOST_TEST(allows()); // may have been a lost time slice
        call(100us);
        period = std::min<std::chrono::milliseconds>(period * 2, 2min);
    }
}

BOOST_AUTO_TEST_CASE(experience_fades_after_good_behaviour) {
    call(200ms);
    now += 10ms;
    call(200ms); // 20 ms now
    now += 20ms;
    call(5us);
    now += 20ms;
    call(5us); // good for as long as the last period was
    call(100us);
    BOOST_TEST(allows()); // a suspicion again, as at first
}

// A machine that steals a slice now and then, with nobody telling, does not keep a file away.
BOOST_AUTO_TEST_CASE(lost_time_slices_do_not_prolong_a_period) {
    call(200ms);
    now += 10ms;
    for (int i = 0; i < 9; ++i) {
        call(1ms);
        BOOST_TEST(allows());
        call(5us);
        BOOST_TEST(!inlining.is_trusted());
    }
    now += 1ms;
    call(5us);
    BOOST_TEST(inlining.is_trusted());
}

BOOST_AUTO_TEST_CASE(larger_calls_may_take_longer) {
    call(100us, 256 * 1024);
    call(100us, 256 * 1024);
    BOOST_TEST(allows());
}

BOOST_AUTO_TEST_SUITE_END()
