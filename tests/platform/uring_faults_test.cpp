// Answers of the kernel that a healthy machine does not give: short, interrupted, again, cancelled
// unasked.
#include "support/backend_ways.hpp"
#include "support/child_process.hpp"
#include "support/fault_script.hpp"

#include <sluice/platform/linux/uring_config.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <csignal>

#include <unistd.h>

using namespace sluice;
using namespace sluice::test;
using platform::own_position;
using platform::raw_call;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(uring_faults)

BOOST_DATA_TEST_CASE(short_reads_are_no_end_of_file, data::make(ring_ways), how) {
    const std::string text = pattern(1 << 20);
    const auto file = test_file::with(text);
    const fault_script script(
        {{.call = raw_call::ring_read, .most = 40'000, .random_short = true, .times = always}});
    driver d(how);
    std::string seen(text.size(), '?');
    test_operation op;
    prepare_read(op, *file, seen.data(), seen.size(), 0);
    BOOST_TEST(d.perform(op) == 1 << 20);
    BOOST_TEST((seen == text));
}

BOOST_DATA_TEST_CASE(short_writes_are_continued, data::make(ring_ways), how) {
    const std::string text = pattern(1 << 20);
    const auto file = test_file::with("");
    const fault_script script(
        {{.call = raw_call::ring_write, .most = 40'000, .random_short = true, .times = always}});
    driver d(how);
    test_operation op;
    prepare_write(op, *file, text.data(), text.size(), 0);
    BOOST_TEST(d.perform(op) == 1 << 20);
    std::string seen(text.size(), '?');
    BOOST_TEST(pread(file->descriptor(), seen.data(), seen.size(), 0) == 1 << 20);
    BOOST_TEST((seen == text));
}

namespace {

struct error_row {
    int error;
    unsigned times;
    long result;
};
const std::array<error_row, 6> error_rows = {{
    {EAGAIN, 3, 4},
    {EINTR, 30, 4},
    {ECANCELED, 3, 4}, // nobody asked for it
    {EIO, 1, -EIO},
    {EAGAIN, always, -EAGAIN},
    {ECANCELED, always, -ECANCELED},
}};
std::ostream& operator<<(std::ostream& out, const error_row& row) {
    return out << row.error << 'x' << row.times;
}

} // namespace

BOOST_DATA_TEST_CASE(errors_of_reads, data::make(ring_ways) * data::make(error_rows), how, row) {
    const auto file = test_file::with("text");
    const fault_script script(
        {{.call = raw_call::ring_read, .error = row.error, .times = row.times}});
    driver d(how);
    char buffer[4];
    test_operation op;
    prepare_read(op, *file, buffer, 4, 0);
    BOOST_TEST(d.perform(op) == row.result);
    BOOST_TEST(script.seen(raw_call::ring_read) <= 40u); // bounded, no spinning
}

BOOST_DATA_TEST_CASE(again_goes_a_way_that_may_block, data::make(ring_ways), how) {
    const auto file = test_file::with("text");
    const fault_script script({{.call = raw_call::ring_read, .error = EAGAIN}});
    driver d(how);
    char buffer[4];
    test_operation op;
    prepare_read(op, *file, buffer, 4, 0);
    BOOST_TEST(d.perform(op) == 4);
    BOOST_TEST(op.must_block);
}

BOOST_DATA_TEST_CASE(errors_of_syncs, data::make(ring_ways), how) {
    const auto file = test_file::with("text");
    const fault_script script({{.call = raw_call::ring_sync, .error = EIO}});
    driver d(how);
    test_operation op;
    prepare(op, platform::opcode::sync, *file, nullptr, 0, 0);
    BOOST_TEST(d.perform(op) == -EIO);
    BOOST_TEST(d.perform(op) == 0);
}

BOOST_DATA_TEST_CASE(an_append_cancelled_unasked_is_not_repeated, data::make(ring_ways), how) {
    const auto file = test_file::with("");
    const fault_script script({{.call = raw_call::ring_write, .error = ECANCELED}});
    driver d(how);
    test_operation op;
    prepare_write(op, *file, "text", 4, own_position);
    BOOST_TEST(d.perform(op) == -ECANCELED);
}

BOOST_DATA_TEST_CASE(a_refused_poll_leaves_it_to_the_read, data::make(ring_ways), how) {
    test_pipe pipe;
    const fault_script script(
        {{.call = raw_call::ring_poll, .error = EOPNOTSUPP, .times = always}});
    driver d(how);
    char buffer[4];
    test_operation op;
    prepare_read(op, *pipe.output, buffer, 4, own_position);
    d->submit(op);
    d->flush();
    d.turn();
    BOOST_TEST(write(pipe.input->descriptor(), "text", 4) == 4);
    d.run();
    BOOST_TEST(op.result == 4);
}

// Both were on their way with the flag when the first was told that it is not known.
BOOST_DATA_TEST_CASE(a_transfer_flag_that_is_not_known_is_left_out, data::make(ring_ways), how) {
    const auto file = test_file::with("text");
    file->handle.transfer_flags = 0x80; // RWF_DONTCACHE, in no header yet
    const fault_script script({{.call = raw_call::ring_read, .error = EOPNOTSUPP, .times = 2}});
    driver d(how);
    char buffers[2][4];
    test_operation ops[2];
    for (int i = 0; i < 2; ++i) {
        prepare_read(ops[i], *file, buffers[i], 4, 0);
        d->submit(ops[i]);
    }
    d.run();
    for (const test_operation& op : ops)
        BOOST_TEST(op.result == 4);
    BOOST_TEST(file->handle.transfer_flags == 0);
}

BOOST_DATA_TEST_CASE(an_unknown_tag_ends_a_debug_build, data::make(ring_ways), how) {
    if (!platform::uring::checks_tags)
        return;
    const child_outcome child = run_in_child([&] {
        const auto file = test_file::with("text");
        driver d(how);
        char buffer[4];
        test_operation op;
        prepare_read(op, *file, buffer, 4, 0);
        d->submit(op);
        d->flush();
        op.tag += 8; // as if the ring's answer were meant for somebody else
        d.run();
        return 0;
    });
    BOOST_TEST(child.signal == SIGABRT);
    BOOST_TEST(child.errors.find("unknown tag") != std::string::npos, child.errors);
}

BOOST_AUTO_TEST_SUITE_END()
