// A runtime in the child of a fork: refused until it is told, and the parent's goes on unharmed.
#include "support/child_process.hpp"

#include <sluice/completion/completion_pool.hpp>
#include <sluice/completion/completion_source.hpp>
#include <sluice/runtime/io_runtime.hpp>
#include <sluice/runtime/sleep.hpp>
#include <sluice/runtime/spawn.hpp>
#include <sluice/runtime/sync_wait.hpp>

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace sluice::test {

namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct fork_fixture {
    io_runtime runtime;

    task<int> number() {
        co_await sleep_for(runtime.get_executor(), 1us);
        co_return 5;
    }
    error_code error_of_run() {
        try {
            runtime.run();
        } catch (const boost::system::system_error& thrown) {
            return thrown.code();
        }
        return {};
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(fork_test, fork_fixture)

BOOST_AUTO_TEST_CASE(child_that_only_exits_harms_nothing) {
    BOOST_TEST(sync_wait(runtime, number()) == 5);
    SLUICE_CHECK_CHILD([] { return 0; });
    BOOST_TEST(sync_wait(runtime, number()) == 5);
}

BOOST_AUTO_TEST_CASE(running_the_inherited_runtime_fails_as_forked) {
    BOOST_TEST(sync_wait(runtime, number()) == 5);
    SLUICE_CHECK_CHILD([&] {
        SLUICE_EXPECT(error_of_run() == make_error_code(errc::forked));
        try {
            sync_wait(runtime, number());
        } catch (const boost::system::system_error& thrown) {
            return thrown.code() == make_error_code(errc::forked) ? 0 : 1;
        }
        return 1;
    });
    BOOST_TEST(sync_wait(runtime, number()) == 5);
}

BOOST_AUTO_TEST_CASE(child_makes_a_runtime_of_its_own) {
    BOOST_TEST(sync_wait(runtime, number()) == 5);
    SLUICE_CHECK_CHILD([] {
        io_runtime own;
        auto body = [&]() -> task<int> {
            co_await sleep_for(own.get_executor(), 1us);
            co_return 6;
        };
        SLUICE_EXPECT(sync_wait(own, body()) == 6);
        return 0;
    });
}

BOOST_AUTO_TEST_CASE(notified_child_goes_on_with_its_copy) {
    int posted = 0;
    asio::post(runtime.get_executor(), [&] { ++posted; });
    runtime.notify_fork(asio::execution_context::fork_prepare);
    SLUICE_CHECK_CHILD([&] {
        runtime.notify_fork(asio::execution_context::fork_child);
        SLUICE_EXPECT(runtime.run() >= 1);
        SLUICE_EXPECT(posted == 1);
        SLUICE_EXPECT(sync_wait(runtime, number()) == 5);
        return 0;
    });
    runtime.notify_fork(asio::execution_context::fork_parent);
    BOOST_TEST(posted == 0);
    runtime.run();
    BOOST_TEST(posted == 1);
    BOOST_TEST(sync_wait(runtime, number()) == 5);
}

BOOST_AUTO_TEST_CASE(inherited_runtime_is_destroyed_in_the_child_with_what_waits_in_it) {
    auto inherited = std::make_unique<io_runtime>();
    auto body = [&]() -> task<> { co_await sleep_for(inherited->get_executor(), 1h); };
    spawn(inherited->get_executor(), body());
    inherited->poll();
    SLUICE_CHECK_CHILD([&] {
        inherited.reset();
        return 0;
    });
    BOOST_TEST(inherited->poll() == 0u); // the parent's still sleeps
}

BOOST_AUTO_TEST_CASE(completion_source_works_in_the_child) {
    completion_source<int> source(runtime.get_executor());
    SLUICE_CHECK_CHILD([&] {
        source.set_result(1);
        SLUICE_EXPECT(source.task().get() == 1);
        return 0;
    });
    BOOST_TEST(!source.task().is_completed());
}

// Whatever another thread is in the middle of at the fork: the child does the same with what it
// inherited, and does not wait for a thread that it does not have.
BOOST_AUTO_TEST_CASE(forked_in_the_middle_of_what_others_do) {
    auto inherited = std::make_unique<io_runtime>();
    std::optional<completion_pool<int>> pool(std::in_place, inherited->get_executor());
    const auto use_everything = [&](io_runtime& on) {
        (void)statistics(*inherited);
        (void)backend(*inherited);
        completion_source<std::string> source(inherited->get_executor());
        source.set_result("result");
        const bool right = source.task().get() == "result";
        const auto rented = pool->rent();
        (void)sleep_for(on.get_executor(), 0s); // a source of the loop
        spawn(on.get_executor(), [](io_runtime& r) -> task<> {
            co_await sleep_for(r.get_executor(), 0s);
        }(on));
        asio::post(on.get_executor(), [] {});
        return right;
    };
    std::atomic<bool> ends{false};
    std::atomic<unsigned> rounds{0};
    std::thread other([&] {
        while (!ends) {
            const io_runtime short_lived;
            (void)use_everything(*inherited);
            for (int i = 0; i < 2000; ++i) { // most of the time within a lock
                const completion_source<int> source(inherited->get_executor());
                (void)pool->statistics();
            }
            ++rounds;
            while (statistics(*inherited).pool_rented > 1000 && !ends)
                std::this_thread::yield(); // they are run below
        }
    });
    while (rounds == 0)
        std::this_thread::yield();
    for (int i = 0; i < 60; ++i) {
        SLUICE_CHECK_CHILD([&] {
            io_runtime own;
            SLUICE_EXPECT(use_everything(own));
            own.poll();
            pool.reset();
            inherited.reset();
            return 0;
        });
        inherited->poll();
    }
    ends = true;
    other.join();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
