// Files that may never answer: they wait with the poller, and hold nobody else up.
#include "support/fault_script.hpp"
#include "support/pipe_ends.hpp"
#include "support/thread_backend_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
using platform::opcode;
using platform::own_position;
using platform::raw_call;
using fixture = thread_backend_fixture;

void feed(const platform::file_handle& file, std::size_t size) {
    const std::vector<char> data(size, 'f');
    BOOST_REQUIRE(::write(file.descriptor, data.data(), size) == static_cast<ssize_t>(size));
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(thread_backend_pollable, fixture)

BOOST_AUTO_TEST_CASE(a_read_waits_for_data_and_some_is_enough) {
    pipe_ends ends;
    std::vector<std::byte> data(100);
    auto op = operation(opcode::read, ends.source, data, own_position);
    backend->submit(op);
    feed(ends.target, 3);
    driver.wait_for(1);
    BOOST_TEST(op.result == 3);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_other_side_is_the_end_of_file) {
    pipe_ends ends;
    std::vector<std::byte> data(100);
    auto op = operation(opcode::read, ends.source, data, own_position);
    backend->submit(op);
    ends.close_target();
    driver.wait_for(1);
    BOOST_TEST(op.result == 0);
}

BOOST_AUTO_TEST_CASE(a_write_is_whole_however_long_the_reader_takes) {
    pipe_ends ends;
    std::vector<std::byte> data(1 << 20, std::byte{'w'});
    auto op = operation(opcode::write, ends.target, data, own_position);
    backend->submit(op);
    std::thread reader([&] {
        std::vector<char> in(5'000);
        std::size_t got = 0;
        while (got < data.size()) {
            const ssize_t n = ::read(ends.source.descriptor, in.data(), in.size());
            got += n > 0 ? static_cast<std::size_t>(n) : 0;
        }
    });
    driver.wait_for(1);
    reader.join();
    BOOST_TEST(op.result == 1 << 20);
}

BOOST_AUTO_TEST_CASE(a_reader_that_left_is_an_error_and_no_signal) {
    pipe_ends ends;
    ends.close_source();
    std::vector<std::byte> data(10);
    auto op = operation(opcode::write, ends.target, data, own_position);
    BOOST_TEST(driver.run(op) == -EPIPE);
}

BOOST_AUTO_TEST_CASE(both_directions_of_a_socket_at_once) {
    int pair[2];
    BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    platform::file_handle mine;
    platform::file_handle theirs;
    std::uint64_t position = 0;
    platform::adopt_descriptor(pair[0], file_access::read_write, mine, position);
    platform::adopt_descriptor(pair[1], file_access::read_write, theirs, position);
    std::vector<std::byte> in(10);
    std::vector<std::byte> out(1 << 20);
    auto read = operation(opcode::read, mine, in, own_position);
    auto write = operation(opcode::write, mine, out, own_position);
    backend->submit(read);
    backend->submit(write);
    feed(theirs, 4);
    driver.wait_for(1);
    BOOST_TEST(read.result == 4);
    std::vector<char> sink(1 << 16);
    std::thread reader([&] {
        for (std::size_t got = 0; got < out.size();) {
            const ssize_t n = ::read(pair[1], sink.data(), sink.size());
            got += n > 0 ? static_cast<std::size_t>(n) : 0;
        }
    });
    driver.wait_for(1);
    reader.join();
    BOOST_TEST(write.result == 1 << 20);
    platform::close_file(mine, nullptr);
    platform::close_file(theirs, nullptr);
}

BOOST_AUTO_TEST_CASE(operations_of_one_file_keep_their_order) {
    pipe_ends ends;
    std::deque<std::vector<std::byte>> data;
    std::deque<platform::operation> ops;
    for (int i = 0; i < 50; ++i) {
        data.emplace_back(1);
        ops.push_back(operation(opcode::read, ends.source, data.back(), own_position));
        backend->submit(ops.back());
    }
    for (char c = 0; c < 50; ++c)
        BOOST_REQUIRE(::write(ends.target.descriptor, &c, 1) == 1);
    driver.wait_for(50);
    for (std::size_t i = 0; i < 50; ++i) {
        BOOST_TEST(driver.finished[i] == &ops[i]);
        BOOST_TEST((data[i][0] == static_cast<std::byte>(i)));
    }
}

BOOST_AUTO_TEST_CASE(a_fifo_that_cannot_say_not_now) {
    const std::string path = folder / "fifo";
    BOOST_REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    opened it(path, file_mode::open, file_access::read_write);
    std::vector<std::byte> in(10);
    auto read = operation(opcode::read, it.file, in, own_position);
    backend->submit(read);
    std::vector<std::byte> out(10'000);
    auto write = operation(opcode::write, it.file, out, own_position);
    backend->submit(write);
    driver.wait_for(2);
    BOOST_TEST(write.result == 10'000);
    BOOST_TEST(read.result == 10);
}

BOOST_AUTO_TEST_CASE(a_descriptor_that_somebody_made_non_blocking) {
    pipe_ends ends;
    ::fcntl(ends.source.descriptor, F_SETFL, O_NONBLOCK);
    std::vector<std::byte> data(10);
    platform::request r = make_operation(opcode::read, ends.source, data, own_position);
    std::thread writer([&] { feed(ends.target, 2); });
    platform::perform_blocking(r);
    writer.join();
    BOOST_TEST(r.result == 2);
}

// User need C05.
BOOST_AUTO_TEST_CASE(silent_files_hold_no_worker_and_do_not_count) {
    fixture f({.worker_threads = 2, .max_in_flight = 2});
    std::deque<pipe_ends> silent;
    std::deque<platform::operation> waiting;
    std::byte byte{};
    for (int i = 0; i < 50; ++i) {
        silent.emplace_back();
        platform::file_handle& source = silent.back().source;
        waiting.push_back(f.operation(opcode::read, source, {&byte, 1}, own_position));
        f.backend->submit(waiting.back());
    }
    opened it(f.folder.make("file", "content"), file_mode::open, file_access::read);
    std::vector<std::byte> data(7);
    auto op = f.operation(opcode::read, it.file, data);
    BOOST_TEST(f.driver.run(op) == 7);
    BOOST_TEST(f.backend->in_flight() == 50u);
    for (platform::operation& w : waiting)
        f.backend->cancel(w);
    f.driver.wait_for(50);
}

BOOST_AUTO_TEST_CASE(the_number_of_a_closed_file_is_used_again) {
    std::vector<std::byte> data(1);
    for (int i = 0; i < 100; ++i) {
        pipe_ends ends;
        auto op = operation(opcode::read, ends.source, data, own_position);
        backend->submit(op);
        // A duplicate keeps the old registration alive under the old number.
        const int copy = ::dup(ends.source.descriptor);
        if (i % 2 == 0) {
            backend->cancel(op);
            driver.wait_for(1);
            BOOST_TEST(op.result == -ECANCELED);
        } else {
            feed(ends.target, 1);
            driver.wait_for(1);
            BOOST_TEST(op.result == 1);
        }
        ::close(copy);
    }
}

BOOST_AUTO_TEST_CASE(without_a_poller_a_worker_waits) {
    for (const raw_call call : {raw_call::poll, raw_call::event, raw_call::thread_start}) {
        fixture f;
        pipe_ends ends;
        const fault_script script({{.call = call, .error = EMFILE}});
        std::vector<std::byte> data(10);
        auto op = f.operation(opcode::read, ends.source, data, own_position);
        f.backend->submit(op);
        f.backend->flush();
        feed(ends.target, 2);
        f.driver.wait_for(1);
        BOOST_TEST(op.result == 2, name_of(call));
    }
}

BOOST_AUTO_TEST_CASE(interruptions_and_false_alarms) {
    const fault_script script({
        {.call = raw_call::read_no_wait, .error = EAGAIN, .times = 3},
        {.call = raw_call::read_no_wait, .error = EINTR, .first = 4, .times = 3},
        {.call = raw_call::poll, .error = EINTR, .first = 3, .times = 5},
    });
    pipe_ends ends;
    std::vector<std::byte> data(10);
    auto op = operation(opcode::read, ends.source, data, own_position);
    backend->submit(op);
    feed(ends.target, 5);
    driver.wait_for(1);
    BOOST_TEST(op.result == 5);
}

BOOST_AUTO_TEST_SUITE_END()
