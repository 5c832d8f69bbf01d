// Streams where io_uring is really refused, by a filter, from the start or in the middle of work
// (D01, C13): the contract holds on threads, the context says why, nothing is printed.
#include "support/child_process.hpp"
#include "support/environment.hpp"
#include "support/refuse_io_uring.hpp"
#include "support/sanitizers.hpp"
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
namespace data = boost::unit_test::data;

struct fixture {
    const temp_folder folder;
    const std::string path = folder / "file";
    const environment any_backend{"SLUICE_BACKEND", nullptr};
    bool built = false;

    fixture() {
        for (const backend_availability& one : available_backends())
            built = built || (one.kind == backend_kind::uring && one.usable);
    }
};

/// A day in the life of a stream; the line that went wrong, or 0.
int use_streams(const stream_way& way, const std::string& path, int reason) {
    stream_driver drive(way);
    const std::string large = pattern_of(150'000);
    auto s = drive.open(path, file_mode::create, file_access::read_write);
    SLUICE_EXPECT(drive.write(s, "abc").has_value());
    SLUICE_EXPECT(drive.write(s, large).has_value());
    SLUICE_EXPECT(drive.flush(s).has_value());
    SLUICE_EXPECT(drive.sync(s).has_value());
    SLUICE_EXPECT(drive.set_length(s, 100'003).has_value());
    s.position(1);
    SLUICE_EXPECT(drive.read_text(s, 2) == "bc");
    SLUICE_EXPECT(drive.read_to_end(s, 7000) == large.substr(0, 100'000));
    SLUICE_EXPECT(drive.close(s).has_value());
    auto end = drive.open(path, file_mode::append, file_access::write);
    SLUICE_EXPECT(drive.write(end, "end").has_value());
    SLUICE_EXPECT(end.position() == 100'006);
    SLUICE_EXPECT(drive.close(end).has_value());
    SLUICE_EXPECT(drive.try_open(path + "/no").error() == errno_code(ENOTDIR));

    int ends[2];
    SLUICE_EXPECT(pipe2(ends, O_CLOEXEC) == 0);
    auto source = drive.adopt(ends[0], file_access::read);
    auto target = drive.adopt(ends[1], file_access::write);
    std::stop_source stop;
    std::string got(150'000, '.');
    if (way.style != calling::synchronous) {
        value_task<std::size_t> endless;
        drive.start([&] { endless = source.read_async(bytes_in(got), stop.get_token()); });
        drive.start([&] { stop.request_stop(); });
        SLUICE_EXPECT(drive.wait_for(std::move(endless)).error() == cancelled_error());
        value_task<void> written;
        drive.start([&] { written = target.write_async(large); });
        SLUICE_EXPECT(drive.read_exactly(source, bytes_in(got)).has_value());
        SLUICE_EXPECT(drive.wait_for(std::move(written)).has_value());
        SLUICE_EXPECT(got == large);
    }
    const backend_info info = backend(drive.runtime);
    SLUICE_EXPECT(info.kind == backend_kind::threads);
    SLUICE_EXPECT(info.reason == reason);
    SLUICE_EXPECT(!info.explanation.empty());
    SLUICE_EXPECT(statistics(drive.runtime).of(operation_path::ring).operations == 0);
    return 0;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(stream_fallback, fixture)

BOOST_DATA_TEST_CASE_F(fixture, refused_from_the_start,
                       data::make(some_stream_ways()) *
                           data::make({EPERM, ENOSYS, EACCES, ENOMEM, EINVAL}),
                       way, error) {
    if (!built || !child_may_start_threads)
        return;
    SLUICE_CHECK_CHILD([&] {
        SLUICE_EXPECT(refuse_io_uring(error));
        return use_streams(way, path, error);
    });
}

BOOST_AUTO_TEST_CASE(asked_for_and_refused) {
    if (!built)
        return;
    SLUICE_CHECK_CHILD([&] {
        SLUICE_EXPECT(refuse_io_uring(EPERM));
        runtime_options options;
        options.backend = backend_choice::uring;
        try {
            io_runtime runtime(options);
            runtime.poll();
        } catch (const boost::system::system_error& failure) {
            return failure.code() == errno_code(EPERM) ? 0 : 2;
        }
        return 1;
    });
}

BOOST_AUTO_TEST_CASE(strict_choice_of_each) {
    for (const backend_kind kind : {backend_kind::uring, backend_kind::threads}) {
        if (kind == backend_kind::uring && !built)
            continue;
        runtime_options options;
        options.backend =
            kind == backend_kind::uring ? backend_choice::uring : backend_choice::threads;
        options.inline_budget.completions = 0;
        stream_driver drive({calling::awaited, 0}, options);
        auto s = drive.open(path, file_mode::create, file_access::read_write);
        BOOST_TEST(drive.write(s, "abc").has_value());
        s.position(0);
        BOOST_TEST(drive.read_text(s, 9) == "abc");
        BOOST_TEST((backend(drive.runtime).kind == kind));
        BOOST_TEST(backend(drive.runtime).reason == 0);
        const auto path_used =
            kind == backend_kind::uring ? operation_path::ring : operation_path::worker;
        BOOST_TEST(statistics(drive.runtime).of(path_used).operations >= 2u);
        BOOST_TEST(statistics(drive.runtime).of(operation_path::fallback).operations == 0u);
    }
}

// With reads that wait, and writes that nobody has handed over yet.
BOOST_DATA_TEST_CASE_F(fixture, refused_in_the_middle,
                       data::make(some_stream_ways()) *
                           data::make({refused_calls::all, refused_calls::enter_only}),
                       way, which) {
    if (!built || !child_may_start_threads || way.style == calling::synchronous)
        return;
    SLUICE_CHECK_CHILD([&] {
        stream_driver drive(way);
        auto s = drive.open(path, file_mode::create, file_access::read_write);
        SLUICE_EXPECT(drive.write(s, "before").has_value());
        SLUICE_EXPECT(drive.sync(s).has_value());
        SLUICE_EXPECT(backend(drive.runtime).kind == backend_kind::uring);
        int ends[2];
        SLUICE_EXPECT(pipe2(ends, O_CLOEXEC) == 0);
        auto source = drive.adopt(ends[0], file_access::read);
        const std::string large = pattern_of(150'000);
        std::string got(4, '.'), back(large.size(), '.');
        std::vector<value_task<void>> done;
        value_task<void> waits;
        drive.start([&] {
            waits = source.read_exactly_async(bytes_in(got));
            done.push_back(s.write_async(large));
        });
        SLUICE_EXPECT(refuse_io_uring(EPERM, which));
        drive.start([&] {
            done.push_back(s.write_async("after"));
            done.push_back(s.sync_async());
        });
        for (auto& task : done)
            SLUICE_EXPECT(drive.wait_for(std::move(task)).has_value());
        s.position(6);
        SLUICE_EXPECT(drive.read_exactly(s, bytes_in(back)).has_value());
        SLUICE_EXPECT(back == large);
        SLUICE_EXPECT(write(ends[1], "abcd", 4) == 4);
        SLUICE_EXPECT(drive.wait_for(std::move(waits)).has_value());
        SLUICE_EXPECT(got == "abcd");
        const backend_info info = backend(drive.runtime);
        SLUICE_EXPECT(info.kind == backend_kind::threads);
        SLUICE_EXPECT(info.reason == EPERM);
        SLUICE_EXPECT(drive.close(s).has_value());
        ::close(ends[1]);
        return 0;
    });
    if (!temp_folder::content_of(path).empty())
        BOOST_TEST((temp_folder::content_of(path) == "before" + pattern_of(150'000) + "after"));
}

BOOST_AUTO_TEST_SUITE_END()
