// Every operation comes out the same, whatever way it goes.
#include "support/backend_ways.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <string>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

using namespace sluice;
using namespace sluice::test;
using platform::opcode;
using platform::own_position;
using platform::path_taken;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(backend_operations)

namespace {

struct read_row {
    std::size_t size;
    std::uint64_t offset;
    long result;
};
constexpr std::size_t file_size = 1'000'003;
const std::array<read_row, 9> read_rows = {{
    {0, 0, 0},
    {1, 0, 1},
    {512, 0, 512},
    {4096, 4097, 4096},
    {300'000, 7, 300'000}, // above the largest inline copy
    {file_size, 0, file_size},
    {100, file_size - 10, 10}, // short: the end of file
    {100, file_size, 0},
    {100, file_size + 1'000'000, 0},
}};
std::ostream& operator<<(std::ostream& out, const read_row& row) {
    return out << row.size << '@' << row.offset;
}

} // namespace

BOOST_DATA_TEST_CASE(reads, data::make(all_ways) * data::make(read_rows), how, row) {
    const std::string text = pattern(file_size);
    const auto file = test_file::with(text);
    driver d(how);
    std::string buffer(row.size, '?');
    test_operation op;
    prepare_read(op, *file, buffer.data(), row.size, row.offset);
    BOOST_TEST(d.perform(op) == row.result);
    BOOST_TEST(op.completed == 1);
    const auto count = static_cast<std::size_t>(row.result);
    BOOST_TEST((row.result == 0 || buffer.substr(0, count) == text.substr(row.offset, count)));
    BOOST_TEST(buffer.substr(count) == std::string(row.size - count, '?'));
    BOOST_TEST(
        (op.path == (how.choice == backend_choice::uring ? path_taken::ring : path_taken::worker) ||
         row.size == 0));
}

BOOST_DATA_TEST_CASE(writes,
                     data::make(all_ways) * data::make({0, 1, 512, 4096, 300'000, 5'000'000}), how,
                     size) {
    const auto file = test_file::with("");
    const std::string text = pattern(static_cast<std::size_t>(size));
    driver d(how);
    test_operation op;
    prepare_write(op, *file, text.data(), text.size(), 3);
    BOOST_TEST(d.perform(op) == size);
    std::string seen(text.size(), '?');
    BOOST_TEST(pread(file->descriptor(), seen.data(), seen.size(), 3) == size);
    BOOST_TEST((seen == text));
    BOOST_TEST((size == 0 || file->handle.wrote));
}

BOOST_DATA_TEST_CASE(appends_land_at_the_end, data::make(all_ways), how) {
    const auto file = test_file::with("begin", O_APPEND);
    driver d(how);
    for (const char* part : {" one", " two"}) {
        test_operation op;
        prepare_write(op, *file, part, 4, own_position);
        BOOST_TEST(d.perform(op) == 4);
    }
    std::string seen(32, '\0');
    seen.resize(static_cast<std::size_t>(pread(file->descriptor(), seen.data(), seen.size(), 0)));
    BOOST_TEST(seen == "begin one two");
}

BOOST_DATA_TEST_CASE(syncs, data::make(all_ways) * data::make({false, true}), how, whole) {
    const auto file = test_file::with("text");
    driver d(how);
    test_operation op;
    prepare(op, whole ? opcode::sync : opcode::sync_data, *file, nullptr, 0, 0);
    BOOST_TEST(d.perform(op) == 0);
}

BOOST_DATA_TEST_CASE(a_call_runs_on_a_worker, data::make(all_ways), how) {
    driver d(how);
    test_operation op;
    std::thread::id where;
    op.code = opcode::call;
    op.owner = &where;
    op.call = [](platform::request& self) noexcept {
        *static_cast<std::thread::id*>(static_cast<test_operation&>(self).owner) =
            std::this_thread::get_id();
        self.result = -EXDEV;
    };
    BOOST_TEST(d.perform(op) == -EXDEV);
    BOOST_TEST((where != std::thread::id() && where != std::this_thread::get_id()));
    BOOST_TEST((op.path == path_taken::worker));
}

BOOST_DATA_TEST_CASE(errors_come_as_results, data::make(all_ways), how) {
    driver d(how);
    char buffer[16] = {};
    test_operation op;
    test_file full(open("/dev/full", O_RDWR | O_CLOEXEC));
    prepare_write(op, full, buffer, sizeof buffer, 0);
    BOOST_TEST(d.perform(op) == -ENOSPC);

    const auto read_only =
        std::make_unique<test_file>(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    prepare_write(op, *read_only, buffer, sizeof buffer, 0);
    BOOST_TEST(d.perform(op) == -EBADF);

    const auto file = test_file::with("text");
    prepare_read(op, *file, reinterpret_cast<void*>(8), 4, 0);
    BOOST_TEST(d.perform(op) == -EFAULT);
}

BOOST_DATA_TEST_CASE(a_proc_file_without_a_size_is_read_to_its_end, data::make(all_ways), how) {
    driver d(how);
    test_file status(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
    std::string text(65536, '\0');
    test_operation op;
    prepare_read(op, status, text.data(), text.size(), 0);
    BOOST_TEST(d.perform(op) > 0);
    BOOST_TEST(text.find("Name:") == 0u);
    BOOST_TEST(text.find("nonvoluntary_ctxt_switches") != std::string::npos);
}

BOOST_DATA_TEST_CASE(a_pipe_answers_when_it_has_something, data::make(all_ways), how) {
    test_pipe pipe;
    driver d(how);
    char buffer[64] = {};
    test_operation op;
    prepare_read(op, *pipe.output, buffer, sizeof buffer, own_position);
    d->submit(op);
    d->flush();
    d.turn();
    BOOST_TEST(op.completed == 0);
    BOOST_TEST(write(pipe.input->descriptor(), "hello", 5) == 5);
    d.run();
    BOOST_TEST(op.completed == 1);
    BOOST_TEST(op.result == 5); // what there was, not what was asked for
    BOOST_TEST(std::string(buffer) == "hello");
}

BOOST_DATA_TEST_CASE(a_closed_pipe_is_the_end_of_file, data::make(all_ways), how) {
    test_pipe pipe;
    driver d(how);
    char buffer[64];
    test_operation op;
    prepare_read(op, *pipe.output, buffer, sizeof buffer, own_position);
    d->submit(op);
    d->flush();
    pipe.input.reset();
    d.run();
    BOOST_TEST(op.result == 0);
}

BOOST_DATA_TEST_CASE(a_write_above_the_pipe_s_capacity_is_written_whole, data::make(all_ways),
                     how) {
    test_pipe pipe;
    const std::string text = pattern(1'000'000);
    driver d(how);
    test_operation op;
    prepare_write(op, *pipe.input, text.data(), text.size(), own_position);
    std::string seen;
    std::thread reader([&] {
        std::string part(50'000, '\0');
        while (seen.size() < text.size()) {
            const ssize_t count = read(pipe.output->descriptor(), part.data(), part.size());
            if (count <= 0)
                return;
            seen.append(part, 0, static_cast<std::size_t>(count));
        }
    });
    BOOST_TEST(d.perform(op) == static_cast<long>(text.size()));
    reader.join();
    BOOST_TEST((seen == text));
    BOOST_TEST((fcntl(pipe.input->descriptor(), F_GETFL) & O_NONBLOCK) == 0);
}

BOOST_DATA_TEST_CASE(waiting_pipes_do_not_hold_up_disk_operations, data::make(all_ways), how) {
    platform::backend_options options;
    options.max_in_flight = 4;
    options.worker_threads = 2;
    const auto file = test_file::with("0123456789");
    std::vector<test_pipe> pipes(20);
    std::vector<test_operation> reads(20);
    char buffers[20];
    driver d(how, options);
    for (std::size_t i = 0; i < pipes.size(); ++i) {
        prepare_read(reads[i], *pipes[i].output, &buffers[i], 1, own_position);
        d->submit(reads[i]);
    }
    char buffer[10];
    test_operation op;
    prepare_read(op, *file, buffer, 10, 0);
    BOOST_TEST(d.perform(op) == 10);
    for (const test_pipe& pipe : pipes)
        BOOST_TEST(write(pipe.input->descriptor(), "x", 1) == 1);
    d.run();
    for (const test_operation& read : reads)
        BOOST_TEST(read.result == 1);
}

BOOST_AUTO_TEST_SUITE_END()
