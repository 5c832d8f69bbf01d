#include "support/backend_driver.hpp"
#include "support/fault_script.hpp"
#include "support/temp_folder.hpp"

#include <sluice/platform/posix/worker_pool.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <pthread.h>
#include <signal.h>

namespace {

using namespace sluice;
using namespace sluice::test;
using platform::completion_inbox;
using platform::operation;
using platform::operation_list;
using platform::raw_call;
using platform::worker_pool;

/// Collects from an inbox, sleeping on a condition.
struct collector {
    std::mutex mutex;
    std::condition_variable arrived;
    bool woken = false;
    completion_inbox inbox{&collector::wake, this};
    operation_list done;

    static void wake(void* self) noexcept {
        auto& c = *static_cast<collector*>(self);
        const std::lock_guard lock(c.mutex);
        c.woken = true;
        c.arrived.notify_all();
    }
    void wait_for(std::size_t count) {
        std::size_t have = inbox.drain(done);
        while (have < count) {
            std::unique_lock lock(mutex);
            arrived.wait(lock, [&] { return woken; });
            woken = false;
            lock.unlock();
            have += inbox.drain(done);
        }
    }
};

/// Holds the workers that run into it.
struct gate {
    std::mutex mutex;
    std::condition_variable changed;
    unsigned inside = 0;
    bool open = false;

    void pass() {
        std::unique_lock lock(mutex);
        ++inside;
        changed.notify_all();
        changed.wait(lock, [&] { return open; });
    }
    void wait_for(unsigned count) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return inside >= count; });
    }
    void let_go() {
        const std::lock_guard lock(mutex);
        open = true;
        changed.notify_all();
    }
};

struct gated : operation {
    gate* at = nullptr;
    explicit gated(gate& g) : at(&g) {
        code = platform::opcode::call;
        call = [](platform::request& op) noexcept {
            static_cast<gated&>(op).at->pass();
            op.result = 7;
        };
    }
};

operation quick(void (*call)(platform::request&) noexcept) {
    operation op;
    op.code = platform::opcode::call;
    op.call = call;
    return op;
}

} // namespace

BOOST_AUTO_TEST_SUITE(workers)

BOOST_AUTO_TEST_CASE(threads_start_when_needed_and_no_more_than_allowed) {
    collector c;
    gate g;
    worker_pool pool(3);
    BOOST_TEST(pool.thread_count() == 0u);
    std::array<gated, 5> ops{gated(g), gated(g), gated(g), gated(g), gated(g)};
    pool.submit(ops[0], c.inbox);
    g.wait_for(1);
    BOOST_TEST(pool.thread_count() == 1u);
    for (unsigned i = 1; i < 5; ++i)
        pool.submit(ops[i], c.inbox);
    g.wait_for(3);
    BOOST_TEST(pool.thread_count() == 3u);
    g.let_go();
    c.wait_for(5);
    for (const gated& op : ops)
        BOOST_TEST(op.result == 7);
}

BOOST_AUTO_TEST_CASE(an_idle_worker_is_used_again) {
    collector c;
    worker_pool pool(8);
    for (int i = 0; i < 100; ++i) {
        operation op = quick([](platform::request& self) noexcept { self.result = 1; });
        pool.submit(op, c.inbox);
        c.wait_for(1);
        c.done.pop_front();
        while (pool.idle_count() == 0) // the worker is still on its way back
            std::this_thread::yield();
    }
    BOOST_TEST(pool.thread_count() == 1u);
}

BOOST_AUTO_TEST_CASE(operations_of_several_inboxes) {
    collector a;
    collector b;
    worker_pool pool(2);
    std::array<operation, 64> ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        ops[i] = quick([](platform::request& self) noexcept { self.result = 1; });
        pool.submit(ops[i], i % 2 == 0 ? a.inbox : b.inbox);
    }
    a.wait_for(32);
    b.wait_for(32);
}

BOOST_AUTO_TEST_CASE(cancel_of_what_is_queued_ends_it_before_the_worker_is_free) {
    collector c;
    gate g;
    worker_pool pool(1);
    gated first(g);
    gated second(g);
    pool.submit(first, c.inbox);
    g.wait_for(1);
    pool.submit(second, c.inbox);
    BOOST_TEST(pool.cancel(second));
    c.wait_for(1);
    BOOST_TEST(c.done.front() == &second);
    BOOST_TEST(second.result == -ECANCELED);
    BOOST_TEST(!pool.cancel(second));
    BOOST_TEST(!pool.cancel(first));
    g.let_go();
    c.wait_for(1);
    BOOST_TEST(first.result == 7);
    BOOST_TEST(g.inside == 1u);
}

BOOST_AUTO_TEST_CASE(cancel_races_with_the_workers_and_each_operation_ends_once) {
    collector c;
    worker_pool pool(4);
    constexpr std::size_t rounds = 200;
    std::array<operation, 16> ops;
    for (std::size_t round = 0; round < rounds; ++round) {
        for (operation& op : ops) {
            op = quick([](platform::request& self) noexcept { self.result = 1; });
            pool.submit(op, c.inbox);
        }
        std::size_t cancelled = 0;
        for (operation& op : ops)
            cancelled += pool.cancel(op) ? 1 : 0;
        c.wait_for(ops.size());
        std::size_t ended_as_cancelled = 0;
        while (!c.done.empty())
            ended_as_cancelled += c.done.pop_front().result == -ECANCELED ? 1 : 0;
        BOOST_TEST(ended_as_cancelled == cancelled);
    }
}

BOOST_AUTO_TEST_CASE(without_any_thread_it_is_performed_here) {
    collector c;
    const fault_script script({{.call = raw_call::thread_start, .error = EAGAIN, .times = 2}});
    worker_pool pool(4);
    operation op = quick([](platform::request& self) noexcept { self.result = 1; });
    for (int i = 0; i < 2; ++i) {
        pool.submit(op, c.inbox);
        BOOST_TEST(!c.inbox.empty());
        c.wait_for(1);
        BOOST_TEST(c.done.pop_front().result == 1);
        BOOST_TEST(pool.thread_count() == 0u);
    }
    pool.submit(op, c.inbox); // the system has recovered
    c.wait_for(1);
    BOOST_TEST(pool.thread_count() == 1u);
}

BOOST_AUTO_TEST_CASE(fewer_threads_than_wanted_are_enough) {
    collector c;
    const fault_script script(
        {{.call = raw_call::thread_start, .error = EAGAIN, .first = 2, .times = always}});
    worker_pool pool(4);
    std::array<operation, 32> ops;
    for (operation& op : ops) {
        op = quick([](platform::request& self) noexcept { self.result = 1; });
        pool.submit(op, c.inbox);
    }
    c.wait_for(ops.size());
    BOOST_TEST(pool.thread_count() == 1u);
}

BOOST_AUTO_TEST_CASE(signals_stay_with_the_program) {
    collector c;
    worker_pool pool(1);
    operation op = quick([](platform::request& self) noexcept {
        sigset_t blocked;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        self.result = ::sigismember(&blocked, SIGXFSZ) + ::sigismember(&blocked, SIGTERM);
    });
    pool.submit(op, c.inbox);
    c.wait_for(1);
    BOOST_TEST(op.result == 2);
    sigset_t mine;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mine);
    BOOST_TEST(::sigismember(&mine, SIGTERM) == 0);
}

BOOST_AUTO_TEST_CASE(the_limit_has_a_sensible_default) {
    BOOST_TEST(worker_pool(0).thread_limit() >= 2u);
    BOOST_TEST(worker_pool(0).thread_limit() <= 16u);
    BOOST_TEST(worker_pool(99).thread_limit() == 99u);
}

BOOST_AUTO_TEST_SUITE_END()
