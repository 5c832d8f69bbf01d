// What is no ordinary file: pipes, FIFOs, devices, /proc, folders, and what the process may not do.
#include "support/child_process.hpp"
#include "support/open_descriptors.hpp"
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <csignal>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
namespace data = boost::unit_test::data;

struct fixture {
    const temp_folder folder;
};

struct two_ends {
    file_stream source, target;
    explicit two_ends(stream_driver& drive) {
        int ends[2];
        BOOST_REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
        source = drive.adopt(ends[0], file_access::read);
        target = drive.adopt(ends[1], file_access::write);
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(stream_specials, fixture)

BOOST_DATA_TEST_CASE_F(fixture, pipe_to_its_end, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    two_ends p(drive);
    BOOST_TEST(!p.source.can_seek());
    BOOST_TEST(!p.source.can_write());
    BOOST_TEST(drive.write(p.target, "hello").has_value());
    BOOST_TEST(drive.write(p.target, "").has_value());
    BOOST_TEST(drive.write(p.target, "world").has_value());
    BOOST_TEST(drive.flush(p.target).has_value());
    BOOST_TEST(drive.read(p.source, {}).value() == 0u);
    BOOST_TEST(drive.read_text(p.source, 5) == "hello");
    BOOST_TEST(drive.read_text(p.source, 100) == "world"); // what there is, at once
    BOOST_TEST(drive.flush(p.source).has_value());
    BOOST_TEST(drive.sync(p.target).has_value()); // nothing to sync
    BOOST_TEST(drive.write(p.target, "!").has_value());
    BOOST_TEST(drive.close(p.target).has_value());
    BOOST_TEST(drive.read_text(p.source, 100) == "!");
    BOOST_TEST(drive.read_text(p.source, 100) == "");
    BOOST_TEST(drive.read_byte(p.source) == -1);
}

BOOST_DATA_TEST_CASE_F(fixture, pipe_in_pieces, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    two_ends p(drive);
    std::string buffer(8, '.');
    BOOST_TEST(drive.write(p.target, "0123456789").has_value());
    BOOST_TEST(drive.flush(p.target).has_value());
    BOOST_TEST(drive.read_byte(p.source) == '0');
    BOOST_TEST(drive.read_exactly(p.source, bytes_in(buffer).first(3)).has_value());
    BOOST_TEST(buffer == "123.....");
    BOOST_TEST(drive.read_at_least(p.source, bytes_in(buffer), 2).value() == 6u);
    BOOST_TEST(buffer == "456789..");
    BOOST_TEST(drive.close(p.target).has_value());
    SLUICE_TEST_ERROR(drive.read_exactly(p.source, bytes_in(buffer)), errc::end_of_stream);
}

// Deviation 3: what was written synchronously goes first.
BOOST_DATA_TEST_CASE_F(fixture, both_styles_on_a_pipe, data::make(asynchronous_ways()), way) {
    stream_driver drive(way);
    two_ends p(drive);
    std::string all;
    for (int i = 0; i < 5; ++i) {
        const std::string first = pattern_of(7, static_cast<unsigned>(i));
        const std::string second = pattern_of(900, static_cast<unsigned>(i) + 100);
        p.target.write(first);
        BOOST_TEST(drive.write(p.target, second).has_value());
        all += first + second;
    }
    p.target.write("end");
    BOOST_TEST(drive.close(p.target).has_value());
    BOOST_TEST((drive.read_to_end(p.source) == all + "end"));
}

BOOST_DATA_TEST_CASE_F(fixture, fifo_with_both_ends, data::make(some_stream_ways()), way) {
    stream_driver drive(way);
    const std::string path = folder / "fifo";
    BOOST_REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    if (way.style == calling::synchronous) {
        auto both = drive.open(path, file_mode::open, file_access::read_write);
        BOOST_TEST(drive.write(both, "x").has_value());
        BOOST_TEST(drive.flush(both).has_value());
        BOOST_TEST(drive.read_byte(both) == 'x');
        return;
    }
    // Each end waits for the other, on workers: the loop goes on.
    value_task<file_stream> reader, writer;
    const auto executor = drive.runtime.get_executor();
    drive.start([&] {
        reader = file_stream::open_async(executor, path, {.buffer_size = way.buffer_size});
        writer = file_stream::open_async(
            executor, path, {.access = file_access::write, .buffer_size = way.buffer_size});
    });
    auto source = drive.wait_for(std::move(reader)).value();
    auto target = drive.wait_for(std::move(writer)).value();
    const std::string large = pattern_of(300'000); // more than a pipe holds
    value_task<void> written;
    drive.start([&] { written = target.write_async(large); });
    std::string got(large.size(), '.');
    BOOST_TEST(drive.read_exactly(source, bytes_in(got)).has_value());
    BOOST_TEST(drive.wait_for(std::move(written)).has_value());
    BOOST_TEST((got == large));
    BOOST_TEST(drive.close(target).has_value());
    BOOST_TEST(drive.read_text(source, 1) == "");
}

BOOST_DATA_TEST_CASE_F(fixture, nobody_reads_the_pipe, data::make(some_stream_ways()), way) {
    SLUICE_CHECK_CHILD([&] {
        signal(SIGPIPE, SIG_IGN);
        stream_driver drive(way);
        two_ends p(drive);
        SLUICE_EXPECT(drive.close(p.source).has_value());
        const auto written = drive.write(p.target, "x");
        const auto flushed = drive.flush(p.target);
        SLUICE_EXPECT((written ? flushed : written).error() == errno_code(EPIPE));
        SLUICE_EXPECT(drive.close(p.target).has_value() == !written.has_value());
        return 0;
    });
}

// O_NONBLOCK set by somebody else: waited for all the same.
BOOST_DATA_TEST_CASE_F(fixture, non_blocking_descriptors, data::make(asynchronous_ways()), way) {
    stream_driver drive(way);
    int pair[2];
    BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
    auto here = drive.adopt(pair[0], file_access::read_write);
    auto there = drive.adopt(pair[1], file_access::read_write);
    const std::string large = pattern_of(2'000'000);
    value_task<void> written;
    drive.start([&] { written = here.write_async(large); });
    std::string got(large.size(), '.');
    BOOST_TEST(drive.read_exactly(there, bytes_in(got)).has_value());
    BOOST_TEST(drive.wait_for(std::move(written)).has_value());
    BOOST_TEST((got == large));
    BOOST_TEST((fcntl(pair[0], F_GETFL) & O_NONBLOCK) != 0); // and it is left as it was
}

BOOST_DATA_TEST_CASE_F(fixture, descriptors_stay_blocking, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    int ends[2];
    BOOST_REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    auto source = drive.adopt(ends[0], file_access::read);
    auto target = drive.adopt(ends[1], file_access::write);
    BOOST_TEST(drive.write(target, "x").has_value());
    BOOST_TEST(drive.flush(target).has_value());
    BOOST_TEST(drive.read_byte(source) == 'x');
    BOOST_TEST((fcntl(ends[0], F_GETFL) & O_NONBLOCK) == 0);
    BOOST_TEST((fcntl(ends[1], F_GETFL) & O_NONBLOCK) == 0);
}

BOOST_DATA_TEST_CASE_F(fixture, devices, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto null = drive.open("/dev/null", file_mode::open, file_access::read_write);
    BOOST_TEST(drive.write(null, "gone").has_value());
    BOOST_TEST(drive.flush(null).has_value());
    BOOST_TEST(drive.read_text(null, 10) == "");
    BOOST_TEST(drive.close(null).has_value());
    auto zero = drive.open("/dev/zero");
    std::string zeros(10'000, 'x'); // a read may be short, when the kernel has a signal for us
    BOOST_TEST(drive.read_exactly(zero, bytes_in(zeros)).has_value());
    BOOST_TEST((zeros == std::string(10'000, '\0')));
    BOOST_TEST(drive.read_byte(zero) == 0);
    BOOST_TEST(drive.close(zero).has_value());
    // create, append and truncate mean nothing to a device, and do no harm.
    auto created = drive.open("/dev/null", file_mode::create, file_access::write);
    BOOST_TEST(drive.write(created, "gone").has_value());
    BOOST_TEST(drive.close(created).has_value());
}

BOOST_DATA_TEST_CASE_F(fixture, files_of_proc, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    for (const char* path : {"/proc/self/status", "/proc/version", "/proc/cpuinfo"}) {
        auto s = drive.open(path);
        const std::string text = drive.read_to_end(s, 100);
        BOOST_TEST(text.size() > 20u);
        (void)s.native_handle(); // some refuse to seek, which is nobody's error
        BOOST_TEST(drive.close(s).has_value());
    }
    auto version = drive.open("/proc/version");
    BOOST_TEST(drive.read_to_end(version, 7) == temp_folder::content_of("/proc/version"));
}

BOOST_DATA_TEST_CASE_F(fixture, what_cannot_be_opened, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    const std::string file = folder.make("file", "x");
    (void)drive.try_open(folder / "warm up"); // the loop has what it needs by now
    const std::size_t before = open_descriptors();
    SLUICE_TEST_ERROR(drive.try_open(folder / "none"), errno_code(ENOENT));
    SLUICE_TEST_ERROR(drive.try_open(folder / "none/file"), errno_code(ENOENT));
    SLUICE_TEST_ERROR(drive.try_open(file + "/file"), errno_code(ENOTDIR));
    SLUICE_TEST_ERROR(drive.try_open(file + "/"), errno_code(ENOTDIR));
    SLUICE_TEST_ERROR(drive.try_open(folder.path()), errno_code(EACCES));
    SLUICE_TEST_ERROR(drive.try_open("."), errno_code(EACCES));
    SLUICE_TEST_ERROR(drive.try_open(folder.path(), {.access = file_access::write}),
                      errno_code(EACCES));
    SLUICE_TEST_ERROR(drive.try_open(folder / std::string(300, 'x')), errno_code(ENAMETOOLONG));
    BOOST_TEST(open_descriptors() == before);
    BOOST_REQUIRE(symlink("loop", (folder / "loop").c_str()) == 0);
    SLUICE_TEST_ERROR(drive.try_open(folder / "loop"), errno_code(ELOOP));
}

BOOST_DATA_TEST_CASE_F(fixture, no_permission, data::make(some_stream_ways()), way) {
    const std::string file = folder.make("file", "x");
    BOOST_REQUIRE(chmod(file.c_str(), 0444) == 0);
    BOOST_REQUIRE(chmod(folder.path().c_str(), 0755) == 0);
    SLUICE_CHECK_CHILD([&] {
        if (geteuid() == 0)
            SLUICE_EXPECT(setgid(65534) == 0 && setuid(65534) == 0);
        stream_driver drive(way);
        SLUICE_EXPECT(drive.try_open(file).has_value());
        SLUICE_EXPECT(drive.try_open(file, {.access = file_access::write}).error() ==
                      errno_code(EACCES));
        SLUICE_EXPECT(drive.try_open(folder / "new", {.mode = file_mode::create,
                                                      .access = file_access::write})
                          .error() == errno_code(EACCES));
        return 0;
    });
}

BOOST_DATA_TEST_CASE_F(fixture, too_many_descriptors, data::make(some_stream_ways()), way) {
    const std::string file = folder.make("file", "x");
    SLUICE_CHECK_CHILD([&] {
        stream_driver drive(way);
        auto first = drive.open(file); // the loop's own descriptors are there now
        std::string one(1, '.');
        SLUICE_EXPECT(drive.read(first, bytes_in(one)).has_value());
        const rlimit limit{static_cast<rlim_t>(open_descriptors()) + 8, 4096};
        SLUICE_EXPECT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        std::vector<file_stream> all;
        error_code refused;
        while (!refused) {
            auto next = drive.try_open(file);
            refused = next.error();
            if (next)
                all.push_back(std::move(*next));
        }
        SLUICE_EXPECT(refused == errno_code(EMFILE));
        SLUICE_EXPECT(all.size() >= 4);
        SLUICE_EXPECT(drive.read_text(all.back(), 9) == "x"); // the open ones go on
        all.pop_back();
        SLUICE_EXPECT(drive.try_open(file).has_value());
        return 0;
    });
}

BOOST_AUTO_TEST_SUITE_END()
