// A buffered stream that reads a cached file in sequence comes to use the plain call; what it reads
// is the same, whatever that call answers.
#include "support/fault_script.hpp"
#include "support/open_file.hpp"
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"

#include <sluice/platform/posix/resident_range.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
using platform::raw_call;
namespace data = boost::unit_test::data;

constexpr stream_way awaited{.style = calling::awaited, .buffer_size = 4096};
constexpr std::size_t size = 3 * platform::resident_range::window + 1000;

struct fixture {
    const temp_folder folder;
    const std::string text = pattern_of(size);
    const std::string path = folder.make("file", text);

    std::uint64_t plain_reads(runtime_options options = options_for(awaited)) const {
        stream_driver drive(awaited, options);
        auto s = drive.open(path);
        BOOST_TEST((drive.read_to_end(s, 512) == text));
        return statistics(drive.runtime).of(operation_path::inline_).operations;
    }
    /// Not where the file system or the kernel does not tell what is cached.
    bool applies() const {
        stream_driver drive(awaited);
        auto s = drive.open(path);
        platform::file_handle file;
        file.descriptor = s.native_handle();
        return platform::is_resident(file, 0, 4096) && plain_reads() != 0;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(stream_resident, fixture)

BOOST_AUTO_TEST_CASE(none_where_nothing_may_block) {
    runtime_options options = options_for(awaited);
    options.inline_budget.blocking_time = {};
    BOOST_TEST(plain_reads(options) == 0u);
}

BOOST_AUTO_TEST_CASE(none_of_what_is_not_cached) {
    if (!opened(path, file_mode::open, file_access::read).file.block_backed)
        return; // in memory: nothing is dropped
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    BOOST_REQUIRE(::fsync(descriptor) == 0);
    BOOST_REQUIRE(::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0);
    ::close(descriptor);
    const fault_script watch({{.call = raw_call::count_cached, .error = EINVAL, .times = always}});
    BOOST_TEST(plain_reads() == 0u);
}

BOOST_AUTO_TEST_CASE(every_answer_of_the_plain_call) {
    if (!applies()) {
        BOOST_TEST_MESSAGE("what is cached is not told here");
        return;
    }
    const auto random_short = [](std::size_t most) {
        return fault{.call = raw_call::read, .most = most, .random_short = true, .times = always};
    };
    const auto error = [](int number) {
        return fault{.call = raw_call::read, .error = number, .first = 3, .times = 1};
    };
    for (const fault& f : {random_short(1), random_short(4096), error(EINTR), error(EAGAIN),
                           error(EIO), error(EINVAL)}) {
        const fault_script script({f});
        stream_driver drive(awaited);
        auto s = drive.open(path);
        BOOST_TEST((drive.read_to_end(s, 512) == text));
        BOOST_TEST(s.position() == size);
        BOOST_TEST(script.seen(raw_call::read) >= 1u);
    }
}

// The reader jumps, and another writes and truncates: the window of the plain call follows.
BOOST_AUTO_TEST_CASE(jumps_and_files_that_shrink) {
    stream_driver drive(awaited);
    auto s = drive.open(path);
    for (const std::size_t from : {std::size_t{0}, size / 2, size - 5000, std::size_t{4097}}) {
        s.position(from);
        std::string got(std::min(size - from, std::size_t{400'000}), '.');
        for (std::size_t at = 0; at < got.size(); at += 512) {
            const auto piece =
                bytes_in(got).subspan(at, std::min<std::size_t>(512, got.size() - at));
            BOOST_REQUIRE(drive.read(s, piece).value() == piece.size());
        }
        BOOST_TEST((got == text.substr(from, got.size())));
    }
    const std::uint64_t shorter = s.position() + 10'000;
    BOOST_REQUIRE(::truncate(path.c_str(), static_cast<off_t>(shorter)) == 0);
    const std::string rest = drive.read_to_end(s, 512);
    BOOST_TEST((rest == text.substr(shorter - 10'000, 10'000)));
}

BOOST_AUTO_TEST_SUITE_END()
