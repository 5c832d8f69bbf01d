// More than fits: entries, completions, bytes. Nothing is refused, nothing overflows.
#include "support/backend_ways.hpp"
#include "support/fault_script.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <iterator>

#include <unistd.h>

using namespace sluice;
using namespace sluice::test;
using platform::own_position;
using platform::path_taken;
using platform::raw_call;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(uring_limits)

namespace {

platform::backend_options tiny() {
    platform::backend_options options;
    options.queue_depth = 4;
    options.max_in_flight = 4;
    return options;
}

// 10 000 reads of 64 bytes at once; every one brings its own.
void read_ten_thousand(driver& d) {
    const std::string text = pattern(64 * 10'000);
    const auto file = test_file::with(text);
    std::vector<test_operation> ops(10'000);
    std::string seen(text.size(), '?');
    for (std::size_t i = 0; i < ops.size(); ++i) {
        prepare_read(ops[i], *file, seen.data() + 64 * i, 64, 64 * i);
        d->submit(ops[i]);
    }
    d.run();
    BOOST_TEST((seen == text));
    for (const test_operation& op : ops)
        BOOST_REQUIRE((op.completed == 1 && op.result == 64 && op.path == path_taken::ring));
}

} // namespace

BOOST_DATA_TEST_CASE(a_ring_of_four, data::make(ring_ways), how) {
    driver d(how, tiny());
    read_ten_thousand(d);
    BOOST_TEST(d->capabilities().entries == 4u);
}

BOOST_DATA_TEST_CASE(the_kernel_takes_one_of_n, data::make(ring_ways), how) {
    const fault_script script({{.call = raw_call::ring_enter, .most = 1, .times = always}});
    driver d(how);
    read_ten_thousand(d);
}

BOOST_DATA_TEST_CASE(the_kernel_has_no_memory_for_a_while, data::make(ring_ways), how) {
    const fault_script script(
        {{.call = raw_call::ring_enter, .error = EAGAIN, .first = 5, .times = 7}});
    driver d(how);
    read_ten_thousand(d);
    BOOST_TEST((d->capabilities().kind == backend_kind::uring));
}

BOOST_DATA_TEST_CASE(completions_pile_up, data::make(ring_ways), how) {
    const auto file = test_file::with(pattern(4096));
    driver d(how);
    std::vector<test_operation> ops(6000);
    std::vector<char> buffers(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
        prepare_read(ops[i], *file, &buffers[i], 1, i % 4096);
        d->submit(ops[i]);
        if (i % 100 == 0)
            d->flush(); // and never a reap: they stay in the completion queue
    }
    d->flush();
    d.run();
    for (const test_operation& op : ops)
        BOOST_REQUIRE(op.result == 1);
}

BOOST_DATA_TEST_CASE(more_pipes_than_the_completion_queue_holds, data::make(ring_ways), how) {
    constexpr std::size_t count = 40; // the queue has 16 places
    std::vector<test_pipe> pipes(count);
    std::vector<test_operation> ops(count);
    std::vector<char> buffers(count);
    driver d(how, tiny());
    for (std::size_t i = 0; i < count; ++i) {
        prepare_read(ops[i], *pipes[i].output, &buffers[i], 1, own_position);
        d->submit(ops[i]);
    }
    d->flush();
    // The last of them is heard although those before it never answer.
    BOOST_TEST(write(pipes.back().input->descriptor(), "x", 1) == 1);
    d.run_until([&] { return ops.back().completed == 1; });
    BOOST_TEST((ops.back().path == path_taken::worker));
    BOOST_TEST((ops.front().path == path_taken::ring));
    for (std::size_t i = 0; i + 1 < count; ++i)
        d->cancel(ops[i]);
    d.run();
    for (std::size_t i = 0; i + 1 < count; ++i)
        BOOST_TEST(ops[i].result == -ECANCELED);
}

BOOST_DATA_TEST_CASE(one_system_call_copies_a_bounded_amount, data::make(ring_ways), how) {
    constexpr std::size_t size = 128 * 1024;
    const auto file = test_file::with(pattern(size));
    driver d(how);
    test_operation first; // makes the ring
    char byte;
    prepare_read(first, *file, &byte, 1, 0);
    d.perform(first);
    std::vector<test_operation> ops(64);
    std::vector<std::string> buffers(ops.size(), std::string(size, '?'));
    for (std::size_t i = 0; i < ops.size(); ++i) {
        prepare_read(ops[i], *file, buffers[i].data(), size, 0);
        d->submit(ops[i]);
    }
    d->flush();
    BOOST_TEST(d.turn() <= 8u); // a MiB
    d.run();
    for (const test_operation& op : ops)
        BOOST_TEST(op.result == static_cast<long>(size));
}

BOOST_DATA_TEST_CASE(the_kernel_s_workers_are_bounded, data::make(ring_ways), how) {
    const auto threads = [] {
        const std::filesystem::directory_iterator all("/proc/self/task");
        return std::distance(begin(all), end(all));
    };
    const auto before = threads();
    constexpr std::size_t size = 512 * 1024; // carries IOSQE_ASYNC
    const auto file = test_file::with(pattern(size));
    const std::string text = pattern(size);
    driver d(how);
    std::vector<test_operation> ops(400);
    std::string buffer(size, '?');
    for (test_operation& op : ops) {
        prepare_write(op, *file, text.data(), size, 0);
        d->submit(op);
    }
    d->flush();
    BOOST_TEST(threads() <= before + 2 * 16);
    d.run();
    BOOST_TEST(threads() <= before + 2 * 16);
}

BOOST_AUTO_TEST_SUITE_END()
