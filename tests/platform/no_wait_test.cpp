// The inline attempt: what it finishes, what it leaves, what it remembers.
#include "support/backend_driver.hpp"
#include "support/fault_script.hpp"
#include "support/open_file.hpp"
#include "support/temp_folder.hpp"

#include <sluice/platform/linux/no_wait.hpp>
#include <sluice/platform/posix/system_calls.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cerrno>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
using platform::inline_limits;
using platform::opcode;
using platform::raw_call;
using platform::request;

constexpr inline_limits never_block{.may_block = false};

struct no_wait_fixture {
    temp_folder folder;
    std::string path = folder.make("file", std::string(10'000, 'x'));
    opened it{path, file_mode::open, file_access::read_write};
    std::vector<std::byte> buffer = std::vector<std::byte>(16'384);

    request reading(std::size_t size, std::uint64_t offset = 0) {
        return make_operation(opcode::read, it.file, std::span(buffer).first(size), offset);
    }
    request writing(std::size_t size, std::uint64_t offset = 0) {
        return make_operation(opcode::write, it.file, std::span(buffer).first(size), offset);
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(no_wait, no_wait_fixture)

BOOST_AUTO_TEST_CASE(cached_read_is_one_call) {
    const fault_script watch({});
    request r = reading(4096, 100);
    BOOST_TEST(platform::try_request_now(r, never_block));
    BOOST_TEST(r.result == 4096);
    BOOST_TEST(watch.seen(raw_call::read_no_wait) == 1u);
    BOOST_TEST(watch.seen(raw_call::read) == 0u);
    BOOST_TEST((buffer[4095] == std::byte{'x'}));
}

BOOST_AUTO_TEST_CASE(short_at_the_end_of_file_only) {
    request r = reading(16'000);
    BOOST_TEST(platform::try_request_now(r, never_block));
    BOOST_TEST(r.result == 10'000);
    r = reading(10, 10'000);
    BOOST_TEST(platform::try_request_now(r, never_block));
    BOOST_TEST(r.result == 0);
}

BOOST_AUTO_TEST_CASE(partial_answers_are_continued) {
    const fault_script script({{.call = raw_call::read_no_wait, .most = 700, .random_short = true,
                                .times = always}});
    request r = reading(10'000);
    BOOST_TEST(platform::try_request_now(r, never_block));
    BOOST_TEST(r.result == 10'000);
    BOOST_TEST(std::all_of(buffer.begin(), buffer.begin() + 10'000,
                           [](std::byte b) { return b == std::byte{'x'}; }));
}

BOOST_AUTO_TEST_CASE(not_now_tells_how_far_it_came) {
    const fault_script script({{.call = raw_call::read_no_wait, .most = 1000},
                               {.call = raw_call::read_no_wait, .error = EAGAIN, .first = 2}});
    request r = reading(4096);
    BOOST_TEST(!platform::try_request_now(r, {}));
    BOOST_TEST(r.done == 1000u);
    BOOST_TEST(script.seen(raw_call::read) == 0u);
    platform::perform_blocking(r);
    BOOST_TEST(r.result == 4096);
}

BOOST_AUTO_TEST_CASE(errors_are_left_to_the_way_that_may_block) {
    for (const int error : {EIO, EBADF, EINTR}) {
        const fault_script script({{.call = raw_call::read_no_wait, .error = error}});
        request r = reading(100);
        BOOST_TEST(!platform::try_request_now(r, {}));
        platform::perform_blocking(r);
        BOOST_TEST(r.result == 100);
    }
}

BOOST_AUTO_TEST_CASE(no_more_bytes_than_allowed) {
    request r = reading(4096);
    BOOST_TEST(!platform::try_request_now(r, {.bytes = 1000}));
    BOOST_TEST(r.done == 1000u);
    r = reading(4096);
    BOOST_TEST(!platform::try_request_now(r, {.bytes = 0}));
    BOOST_TEST(r.done == 0u);
    r = writing(4096);
    BOOST_TEST(!platform::try_request_now(r, {.bytes = 1000}));
    BOOST_TEST(r.done == 1000u);
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_say_is_remembered_and_read_plainly) {
    const fault_script script({{.call = raw_call::read_no_wait, .error = EOPNOTSUPP}});
    request r = reading(100);
    BOOST_TEST(platform::try_request_now(r, {}));
    BOOST_TEST(r.result == 100);
    BOOST_TEST(!it.file.no_wait_reads);
    r = reading(100);
    BOOST_TEST(platform::try_request_now(r, {}));
    BOOST_TEST(script.seen(raw_call::read_no_wait) == 1u);
    BOOST_TEST(script.seen(raw_call::read) == 2u);
    BOOST_TEST(!platform::try_request_now(r = reading(100), never_block));
}

BOOST_AUTO_TEST_CASE(a_system_that_does_not_know_the_further_flag_may_know_this_one) {
    it.file.transfer_flags = platform::sys::drop_behind;
    const fault_script script({{.call = raw_call::read_no_wait, .error = EOPNOTSUPP}});
    request r = reading(100);
    BOOST_TEST(!platform::try_request_now(r, {}));
    BOOST_TEST(platform::try_request_now(r, {}));
    BOOST_TEST(r.result == 100);
    BOOST_TEST(it.file.no_wait_reads);
}

BOOST_AUTO_TEST_CASE(writes_go_inline_while_the_file_is_fast) {
    const fault_script watch({});
    request r = writing(4096);
    BOOST_TEST(platform::try_request_now(r, {}));
    BOOST_TEST(r.result == 4096);
    BOOST_TEST(watch.seen(raw_call::write) == 1u);
    BOOST_TEST(it.file.wrote);
    BOOST_TEST(!platform::try_request_now(r = writing(10), never_block));
    it.file.inlining.learn(1, {}, platform::adaptive_inlining::clock::now());
    BOOST_TEST(!platform::try_request_now(r = writing(10), {}));
}

BOOST_AUTO_TEST_CASE(errors_of_a_write_are_final) {
    const fault_script script({{.call = raw_call::write, .error = ENOSPC}});
    request r = writing(10);
    BOOST_TEST(platform::try_request_now(r, {}));
    BOOST_TEST(r.result == -ENOSPC);
}

BOOST_AUTO_TEST_CASE(appends_are_not_torn) {
    opened appending(path, file_mode::append, file_access::write);
    request r = make_operation(opcode::write, appending.file, std::span(buffer).first(10),
                               platform::own_position);
    BOOST_TEST(!platform::try_request_now(r, {.bytes = 5}));
    BOOST_TEST(r.done == 0u);
    BOOST_TEST(platform::try_request_now(r, {.bytes = 10}));
    BOOST_TEST(platform::length_of(appending.file) == 10'010);
}

BOOST_AUTO_TEST_CASE(what_waits_for_a_device_never_goes_inline) {
    it.file.synchronous = true;
    request r = writing(10);
    BOOST_TEST(!platform::try_request_now(r, {}));
    it.file.synchronous = false;
    it.file.is_direct = true;
    it.file.no_wait_reads = false;
    BOOST_TEST(!platform::try_request_now(r, {}));
    BOOST_TEST(!platform::try_request_now(r = reading(10), {}));
    for (const opcode code : {opcode::sync, opcode::sync_data, opcode::call})
        BOOST_TEST(!platform::try_request_now(r = make_operation(code, it.file), {}));
}

BOOST_AUTO_TEST_CASE(nothing_to_transfer_is_finished) {
    request r = reading(0);
    BOOST_TEST(platform::try_request_now(r, {}));
    r = writing(0);
    BOOST_TEST(platform::try_request_now(r, {}));
    BOOST_TEST(r.result == 0);
}

BOOST_AUTO_TEST_CASE(proc_files_and_devices) {
    opened proc("/proc/self/status", file_mode::open, file_access::read);
    request r = make_operation(opcode::read, proc.file, buffer);
    BOOST_TEST(platform::try_request_now(r, {}));
    BOOST_TEST(r.result > 100);

    opened null("/dev/null", file_mode::open, file_access::read_write);
    r = make_operation(opcode::read, null.file, buffer);
    BOOST_TEST(platform::try_request_now(r, {}));
    BOOST_TEST(r.result == 0);
    r = make_operation(opcode::write, null.file, buffer);
    BOOST_TEST(platform::try_request_now(r, {}));
    BOOST_TEST(r.result == 16'384);

    opened full("/dev/full", file_mode::open, file_access::read_write);
    r = make_operation(opcode::write, full.file, buffer);
    BOOST_TEST(platform::try_request_now(r, {}));
    BOOST_TEST(r.result == -ENOSPC);
}

namespace {

struct two_ends {
    platform::file_handle source;
    platform::file_handle target;

    two_ends() {
        int ends[2];
        std::uint64_t position = 0;
        BOOST_REQUIRE(::pipe(ends) == 0);
        platform::adopt_descriptor(ends[0], file_access::read, source, position);
        platform::adopt_descriptor(ends[1], file_access::write, target, position);
    }
    explicit two_ends(const std::string& fifo) {
        BOOST_REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
        platform::open_file(request_for(fifo, file_mode::open, file_access::read_write), source);
        platform::open_file(request_for(fifo, file_mode::open, file_access::read_write), target);
    }
    ~two_ends() {
        platform::close_file(source, nullptr);
        platform::close_file(target, nullptr);
    }
};

void check_ends(two_ends& ends, std::span<std::byte> buffer, inline_limits limits) {
    const auto read = [&] {
        return make_operation(opcode::read, ends.source, buffer, platform::own_position);
    };
    request r = read();
    BOOST_TEST(!platform::try_request_now(r, limits));
    request w = make_operation(opcode::write, ends.target, buffer.first(3), platform::own_position);
    BOOST_TEST(platform::try_request_now(w, limits));
    BOOST_TEST(platform::try_request_now(r, limits));
    BOOST_TEST(r.result == 3);
    // More than it holds: the rest has to wait.
    std::vector<std::byte> large(1 << 20);
    w = make_operation(opcode::write, ends.target, large, platform::own_position);
    BOOST_TEST(!platform::try_request_now(w, limits));
    BOOST_TEST(w.done == 65'536u);
}

} // namespace

BOOST_AUTO_TEST_CASE(pipes_never_wait) {
    two_ends ends;
    check_ends(ends, buffer, never_block);
}

BOOST_AUTO_TEST_CASE(fifos_are_polled_where_they_cannot_say) {
    two_ends ends(folder / "fifo");
    check_ends(ends, buffer, {});
}

BOOST_AUTO_TEST_SUITE_END()
