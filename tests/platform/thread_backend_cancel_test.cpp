#include "support/fault_script.hpp"
#include "support/pipe_ends.hpp"
#include "support/thread_backend_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <deque>
#include <filesystem>
#include <memory>
#include <random>
#include <vector>

#include <sys/resource.h>

namespace {

using namespace sluice;
using namespace sluice::test;
using platform::opcode;
using platform::own_position;
using platform::raw_call;
using fixture = thread_backend_fixture;

/// Lets the process open this many descriptors, if it may.
bool may_open(::rlim_t count) {
    ::rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= count)
        return true;
    limit.rlim_cur = count;
    limit.rlim_max = std::max(limit.rlim_max, count);
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

} // namespace

BOOST_AUTO_TEST_SUITE(thread_backend_cancel)

// User need B13.
BOOST_AUTO_TEST_CASE(queued_writes_end_as_cancelled_before_the_worker_is_released) {
    fixture f({.worker_threads = 1});
    opened blocker(f.folder.make("blocker", "x"), file_mode::open, file_access::read);
    fault_script script({{.call = raw_call::read, .hold = true}});
    std::byte byte{'1'};
    auto holding = f.operation(opcode::read, blocker.file, {&byte, 1});
    f.backend->submit(holding);
    f.backend->flush();
    script.wait_until_held(1);

    std::deque<opened> files;
    std::deque<platform::operation> writes;
    std::byte data{'w'};
    for (int i = 0; i < 100; ++i) {
        files.emplace_back(f.folder / std::to_string(i), file_mode::create, file_access::write);
        writes.push_back(f.operation(opcode::write, files.back().file, {&data, 1}));
        f.backend->submit(writes.back());
    }
    f.backend->flush();
    for (std::size_t i = 0; i < 100; i += 2)
        f.backend->cancel(writes[i]);
    f.driver.wait_for(50);
    for (std::size_t i = 0; i < 100; i += 2)
        BOOST_TEST(writes[i].result == -ECANCELED);

    script.release();
    f.driver.wait_for(51);
    for (std::size_t i = 0; i < 100; ++i) {
        const auto size = std::filesystem::file_size(f.folder / std::to_string(i));
        BOOST_TEST(size == i % 2);
    }
}

BOOST_AUTO_TEST_CASE(before_it_was_handed_over) {
    fixture f;
    opened it(f.folder.make("file", "content"), file_mode::open, file_access::read);
    std::vector<std::byte> data(7);
    const fault_script watch({});
    auto op = f.operation(opcode::read, it.file, data);
    f.backend->submit(op);
    f.backend->cancel(op);
    f.driver.wait_for(1);
    BOOST_TEST(op.result == -ECANCELED);
    BOOST_TEST(op.cancel_requested);
    BOOST_TEST(watch.seen(raw_call::read) == 0u);
}

BOOST_AUTO_TEST_CASE(what_runs_ends_by_itself) {
    fixture f;
    opened it(f.folder.make("file", "content"), file_mode::open, file_access::read);
    std::vector<std::byte> data(7);
    fault_script script({{.call = raw_call::read, .hold = true}});
    auto op = f.operation(opcode::read, it.file, data);
    f.backend->submit(op);
    f.backend->flush();
    script.wait_until_held(1);
    f.backend->cancel(op);
    f.backend->cancel(op);
    script.release();
    f.driver.wait_for(1);
    BOOST_TEST(op.result == 7);
}

BOOST_AUTO_TEST_CASE(after_it_finished_it_is_nothing) {
    fixture f;
    opened it(f.folder.make("file", "content"), file_mode::open, file_access::read);
    std::vector<std::byte> data(7);
    auto op = f.operation(opcode::read, it.file, data);
    f.backend->submit(op);
    f.backend->wait(platform::backend::clock::time_point::max());
    f.backend->cancel(op);
    f.driver.wait_for(1);
    BOOST_TEST(op.result == 7);
}

BOOST_AUTO_TEST_CASE(bytes_that_an_inline_attempt_brought_are_reported) {
    fixture f;
    opened it(f.folder.make("file", "0123456789"), file_mode::open, file_access::read_write);
    std::vector<std::byte> data(10);
    auto read = f.operation(opcode::read, it.file, data);
    BOOST_TEST(!f.backend->try_now(read, {.bytes = 4}));
    auto write = f.operation(opcode::write, it.file, data);
    BOOST_TEST(!f.backend->try_now(write, {.bytes = 3}));
    for (platform::operation* op : {&read, &write}) {
        f.backend->submit(*op);
        f.backend->cancel(*op);
    }
    f.driver.wait_for(2);
    BOOST_TEST(read.result == 4);
    BOOST_TEST(write.result == -ECANCELED);
    BOOST_TEST(write.done == 3u);
}

BOOST_AUTO_TEST_CASE(thousands_that_wait_for_pipes_end_together) {
    constexpr std::size_t count = 4000;
    fixture f;
    std::deque<pipe_ends> more;
    const std::size_t pairs = may_open(2 * count + 100) ? count : 400;
    for (std::size_t i = 0; i < pairs; ++i)
        more.emplace_back();
    std::deque<platform::operation> reads;
    std::byte byte{};
    for (std::size_t i = 0; i < count; ++i) {
        platform::file_handle& source = more[i % pairs].source;
        reads.push_back(f.operation(opcode::read, source, {&byte, 1}, own_position));
        f.backend->submit(reads.back());
    }
    f.backend->flush();
    for (platform::operation& op : reads)
        f.backend->cancel(op);
    f.driver.wait_for(count);
    for (const platform::operation& op : reads)
        if (op.result != -ECANCELED)
            BOOST_TEST(op.result == -ECANCELED);
    BOOST_TEST(f.backend->in_flight() == 0u);
}

BOOST_AUTO_TEST_CASE(at_any_moment_each_ends_once_and_no_byte_is_lost) {
    const std::uint64_t seed = std::random_device{}();
    BOOST_TEST_MESSAGE("seed " << seed);
    std::mt19937_64 random(seed);
    fixture f;
    pipe_ends ends;
    std::byte out{'o'};
    std::size_t sent = 0;
    std::size_t received = 0;
    for (int round = 0; round < 2000; ++round) {
        std::byte in{};
        auto read = f.operation(opcode::read, ends.source, {&in, 1}, own_position);
        auto write = f.operation(opcode::write, ends.target, {&out, 1}, own_position);
        f.backend->submit(read);
        const bool writes = random() % 2 == 0;
        if (writes)
            f.backend->submit(write);
        for (auto spin = random() % 2000; spin > 0; --spin)
            std::atomic_signal_fence(std::memory_order_seq_cst);
        f.backend->cancel(read);
        f.driver.wait_for(writes ? 2 : 1);
        BOOST_REQUIRE((read.result == 1 || read.result == -ECANCELED));
        if (read.result == 1) {
            BOOST_TEST((in == out));
            ++received;
        }
        sent += writes && write.result == 1 ? 1 : 0;
    }
    for (; received < sent; ++received) {
        std::byte in{};
        auto rest = f.operation(opcode::read, ends.source, {&in, 1}, own_position);
        BOOST_REQUIRE(f.driver.run(rest) == 1);
    }
    BOOST_TEST(received == sent);
}

BOOST_AUTO_TEST_SUITE_END()
