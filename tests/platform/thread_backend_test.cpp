// The thread backend: operations, their results, limits, waking and the wait handle.
#include "support/fault_script.hpp"
#include "support/thread_backend_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/resource.h>

namespace {

using namespace sluice;
using namespace sluice::test;
using platform::opcode;
using platform::own_position;
using platform::raw_call;
using fixture = thread_backend_fixture;

bool is_readable(int descriptor) {
    ::pollfd watched{descriptor, POLLIN, 0};
    return ::poll(&watched, 1, 0) == 1;
}

/// A lower limit for the length of files, as long as it lives.
struct file_size_limit {
    ::rlimit before{};
    explicit file_size_limit(::rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before);
        const ::rlimit lower{bytes, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &lower);
    }
    ~file_size_limit() { ::setrlimit(RLIMIT_FSIZE, &before); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(thread_backend, fixture)

BOOST_AUTO_TEST_CASE(says_what_it_is_and_why) {
    const auto other = platform::make_thread_backend(
        {}, {.kind = backend_kind::uring, .reason = EPERM, .explanation = "forbidden"});
    BOOST_TEST((other->capabilities().kind == backend_kind::threads));
    BOOST_TEST(other->capabilities().reason == EPERM);
    BOOST_TEST(other->capabilities().explanation == "forbidden");
}

BOOST_AUTO_TEST_CASE(write_sync_and_read_back) {
    opened it(folder / "file", file_mode::create, file_access::read_write);
    std::vector<std::byte> text = bytes_of("hello, workers");
    auto write = operation(opcode::write, it.file, text, 5);
    BOOST_TEST(driver.run(write) == 14);
    BOOST_TEST((write.path == platform::path_taken::worker));
    auto sync = operation(opcode::sync, it.file);
    BOOST_TEST(driver.run(sync) == 0);
    auto sync_data = operation(opcode::sync_data, it.file);
    BOOST_TEST(driver.run(sync_data) == 0);
    std::vector<std::byte> back(100);
    auto read = operation(opcode::read, it.file, back, 5);
    BOOST_TEST(driver.run(read) == 14);
    BOOST_TEST(std::equal(text.begin(), text.end(), back.begin()));
    BOOST_TEST(backend->in_flight() == 0u);
}

BOOST_AUTO_TEST_CASE(appends_land_at_the_end) {
    opened it(folder.make("file", "start"), file_mode::append, file_access::write);
    std::vector<std::byte> text = bytes_of("-end");
    auto write = operation(opcode::write, it.file, text, own_position);
    BOOST_TEST(driver.run(write) == 4);
    BOOST_TEST(temp_folder::content_of(folder / "file") == "start-end");
    BOOST_TEST(platform::own_position_of(it.file) == 9);
}

BOOST_AUTO_TEST_CASE(calls_run_on_a_worker) {
    static std::thread::id where;
    platform::operation call;
    call.code = opcode::call;
    call.call = [](platform::request& op) noexcept {
        where = std::this_thread::get_id();
        op.result = 42;
    };
    BOOST_TEST(driver.run(call) == 42);
    BOOST_TEST((where != std::this_thread::get_id()));
}

BOOST_AUTO_TEST_CASE(nothing_to_transfer_ends_at_once) {
    opened it(folder.make("file"), file_mode::open, file_access::read_write);
    const fault_script watch({});
    for (const opcode code : {opcode::read, opcode::write}) {
        auto op = operation(code, it.file);
        backend->submit(op);
        driver.take();
        BOOST_TEST(driver.finished.back() == &op);
        BOOST_TEST(op.result == 0);
    }
    BOOST_TEST(watch.seen(raw_call::thread_start) == 0u);
}

BOOST_AUTO_TEST_CASE(errors_are_results) {
    opened reading(folder.make("file", "content"), file_mode::open, file_access::read);
    std::vector<std::byte> data(16);
    auto op = operation(opcode::write, reading.file, data);
    BOOST_TEST(driver.run(op) == -EBADF);
    opened full("/dev/full", file_mode::open, file_access::write);
    op = operation(opcode::write, full.file, data);
    BOOST_TEST(driver.run(op) == -ENOSPC);
}

BOOST_AUTO_TEST_CASE(a_limit_on_the_file_size_is_an_error_and_no_signal) {
    opened it(folder / "file", file_mode::create, file_access::write);
    std::vector<std::byte> data(10);
    auto op = operation(opcode::write, it.file, data);
    {
        const file_size_limit limit(6);
        BOOST_TEST(driver.run(op) == -EFBIG);
    }
    BOOST_TEST(op.done == 6u);
    BOOST_TEST(platform::length_of(it.file) == 6);
}

BOOST_AUTO_TEST_CASE(special_files) {
    std::vector<std::byte> data(1 << 16);
    opened proc("/proc/self/maps", file_mode::open, file_access::read);
    auto op = operation(opcode::read, proc.file, data);
    BOOST_TEST(driver.run(op) > 4096); // more than one call brings
    opened null("/dev/null", file_mode::open, file_access::read_write);
    op = operation(opcode::read, null.file, data);
    BOOST_TEST(driver.run(op) == 0);
    opened zero("/dev/zero", file_mode::open, file_access::read);
    op = operation(opcode::read, zero.file, data);
    BOOST_TEST(driver.run(op) == 1 << 16);
}

BOOST_AUTO_TEST_CASE(short_counts_are_completed) {
    const std::string content(100'000, 'y');
    opened it(folder.make("file", content), file_mode::open, file_access::read_write);
    const fault_script script({
        {.call = raw_call::read, .most = 9'000, .random_short = true, .times = always},
        {.call = raw_call::write, .most = 9'000, .random_short = true, .times = always},
    });
    std::vector<std::byte> data(100'000);
    auto op = operation(opcode::read, it.file, data);
    BOOST_TEST(driver.run(op) == 100'000);
    BOOST_TEST(std::count(data.begin(), data.end(), std::byte{'y'}) == 100'000);
    op = operation(opcode::write, it.file, data, 100'000);
    BOOST_TEST(driver.run(op) == 100'000);
    BOOST_TEST(temp_folder::content_of(folder / "file") == content + content);
}

BOOST_AUTO_TEST_CASE(interrupted_and_again_are_not_seen) {
    opened it(folder.make("file", "content"), file_mode::open, file_access::read);
    std::vector<std::byte> data(7);
    for (const int error : {EINTR, EAGAIN}) {
        const fault_script script({{.call = raw_call::read, .error = error, .times = 3}});
        auto op = operation(opcode::read, it.file, data);
        BOOST_TEST(driver.run(op) == 7);
    }
    const fault_script for_ever({{.call = raw_call::read, .error = EAGAIN, .times = always}});
    auto op = operation(opcode::read, it.file, data);
    BOOST_TEST(driver.run(op) == -EAGAIN);
    BOOST_TEST(for_ever.seen(raw_call::read) <= 16u);
}

BOOST_AUTO_TEST_CASE(the_rest_of_an_inline_attempt) {
    opened it(folder.make("file", "0123456789"), file_mode::open, file_access::read);
    std::vector<std::byte> data(10);
    auto op = operation(opcode::read, it.file, data);
    BOOST_TEST(!backend->try_now(op, {.bytes = 4}));
    BOOST_TEST(driver.run(op) == 10);
    BOOST_TEST((data == bytes_of("0123456789")));
}

BOOST_AUTO_TEST_CASE(a_finished_operation_can_be_submitted_again_from_its_completion) {
    opened it(folder.make("file", "content"), file_mode::open, file_access::read);
    std::vector<std::byte> data(7);
    auto op = operation(opcode::read, it.file, data);
    for (int i = 0; i < 1000; ++i) {
        static_cast<platform::request&>(op) = operation(opcode::read, it.file, data);
        BOOST_REQUIRE(driver.run(op) == 7);
    }
}

BOOST_AUTO_TEST_CASE(wake_ends_the_wait_that_is_going_on_or_the_next) {
    const auto for_ever = platform::backend::clock::time_point::max();
    backend->wake();
    backend->wait(for_ever);
    for (int i = 0; i < 200; ++i) {
        std::thread other([&] { backend->wake(); });
        backend->wait(for_ever);
        other.join();
        backend->wait(platform::backend::clock::time_point{}); // uses up a wake that came late
    }
}

BOOST_AUTO_TEST_CASE(wait_ends_when_its_time_has_come) {
    backend->wait({});
    backend->wait(platform::backend::clock::now());
    backend->wait(platform::backend::clock::now() + std::chrono::milliseconds(1));
    BOOST_TEST(backend->in_flight() == 0u);
}

BOOST_AUTO_TEST_CASE(the_wait_handle_is_readable_when_something_finished) {
    opened it(folder.make("file", "content"), file_mode::open, file_access::read);
    std::vector<std::byte> data(7);
    const int handle = backend->wait_handle();
    driver.take();
    BOOST_TEST(!is_readable(handle));
    for (int i = 0; i < 200; ++i) {
        auto op = operation(opcode::read, it.file, data);
        const std::size_t before = driver.finished.size();
        backend->submit(op);
        backend->flush();
        while (driver.finished.size() == before) {
            ::pollfd watched{handle, POLLIN, 0};
            ::poll(&watched, 1, -1);
            driver.take();
        }
        BOOST_TEST(op.result == 7);
    }
    backend->wake();
    BOOST_TEST(is_readable(handle));
    driver.take();
    BOOST_TEST(!is_readable(handle));
}

BOOST_AUTO_TEST_CASE(never_used) {
    const auto other = platform::make_thread_backend({}, {});
    BOOST_TEST(other->in_flight() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(thread_backend_limits)

BOOST_AUTO_TEST_CASE(more_than_fit_wait_in_a_list) {
    fixture f({.worker_threads = 4, .max_in_flight = 2});
    opened it(f.folder.make("file", "content"), file_mode::open, file_access::read);
    fault_script script({{.call = raw_call::read, .hold = true, .times = always}});
    std::vector<std::array<std::byte, 7>> data(100);
    std::vector<platform::operation> ops;
    for (auto& part : data)
        ops.push_back(f.operation(opcode::read, it.file, part));
    for (platform::operation& op : ops)
        f.backend->submit(op);
    f.backend->flush();
    BOOST_TEST(f.backend->in_flight() == 100u);
    script.wait_until_held(2);
    script.release();
    f.driver.wait_for(100);
    for (const platform::operation& op : ops)
        BOOST_TEST(op.result == 7);
    BOOST_TEST(f.backend->in_flight() == 0u);
}

BOOST_AUTO_TEST_CASE(results_come_in_order_of_completion) {
    fixture f({.worker_threads = 1});
    opened it(f.folder.make("file", "content"), file_mode::open, file_access::read);
    std::vector<std::array<std::byte, 7>> data(200);
    std::vector<platform::operation> ops;
    for (auto& part : data)
        ops.push_back(f.operation(opcode::read, it.file, part));
    for (platform::operation& op : ops)
        f.backend->submit(op);
    f.driver.wait_for(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i)
        BOOST_TEST(f.driver.finished[i] == &ops[i]);
}

BOOST_AUTO_TEST_SUITE_END()
