// What a sequential reader believes to be in the page cache: asked when it pays, never where the
// system does not say so.
#include "support/fault_script.hpp"
#include "support/open_file.hpp"
#include "support/temp_folder.hpp"

#include <sluice/platform/posix/resident_range.hpp>
#include <sluice/platform/posix/whole_transfer.hpp>

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <chrono>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
using platform::raw_call;
using platform::resident_range;

constexpr std::size_t piece = 4096;

struct fixture {
    const temp_folder folder;
    const std::string path =
        folder.make("file", std::string(2 * resident_range::window + 100, 'x'));
    const opened it{path, file_mode::open, file_access::read_write};
    resident_range range;

    /// Kernels before 6.5, and file systems that keep their pages elsewhere.
    bool system_tells() const { return platform::is_resident(it.file, 0, piece); }
    bool covers(std::uint64_t offset, std::size_t size = piece) {
        return range.covers(it.file, offset, size, platform::tick_clock::now());
    }
    /// Cached reads until the system is asked; the offset of the one that asked.
    std::uint64_t read_until_covered(std::uint64_t offset = 0) {
        for (unsigned i = 0; i < resident_range::first_streak; ++i, offset += piece)
            if (covers(offset))
                return offset;
        return offset;
    }
};

#define REQUIRE_THAT_THE_SYSTEM_TELLS()                                                            \
    if (!system_tells()) {                                                                         \
        BOOST_TEST_MESSAGE("cachestat does not tell here");                                        \
        return;                                                                                    \
    }

} // namespace

BOOST_FIXTURE_TEST_SUITE(resident_ranges, fixture)

BOOST_AUTO_TEST_CASE(what_was_written_is_there_and_what_was_dropped_is_not) {
    REQUIRE_THAT_THE_SYSTEM_TELLS();
    BOOST_TEST(platform::is_resident(it.file, 0, resident_range::window));
    BOOST_TEST(platform::is_resident(it.file, 1, 1));
    if (!it.file.block_backed)
        return; // in memory: nothing is dropped
    BOOST_REQUIRE(::fsync(it.file.descriptor) == 0);
    BOOST_REQUIRE(::posix_fadvise(it.file.descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0);
    BOOST_TEST(!platform::is_resident(it.file, 0, resident_range::window));
}

BOOST_AUTO_TEST_CASE(nothing_is_there_behind_the_end) {
    const std::uint64_t size = 2 * resident_range::window + 100;
    BOOST_TEST(!platform::is_resident(it.file, size + 2 * piece, piece));
    BOOST_TEST(!platform::is_resident(it.file, size - 50, piece));
    BOOST_TEST(!platform::is_resident(it.file, 0, 0));
}

BOOST_AUTO_TEST_CASE(asked_after_a_streak_and_once_for_a_window) {
    REQUIRE_THAT_THE_SYSTEM_TELLS();
    const fault_script watch({});
    std::uint64_t at = 0;
    for (unsigned i = 1; i < resident_range::first_streak; ++i, at += piece)
        BOOST_TEST(!covers(at));
    BOOST_TEST(watch.seen(raw_call::count_cached) == 0u);
    const std::uint64_t begin = at;
    // The trust also ends with time, which a busy machine may take from the test.
    for (; at + piece <= begin + resident_range::window; at += piece)
        BOOST_TEST(covers(at));
    BOOST_TEST(watch.seen(raw_call::count_cached) >= 1u);
    BOOST_TEST(watch.seen(raw_call::count_cached) < resident_range::window / piece / 2);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_file_ends_the_window) {
    REQUIRE_THAT_THE_SYSTEM_TELLS();
    const std::uint64_t size = 2 * resident_range::window + 100;
    const std::uint64_t from = resident_range::window + piece;
    const std::uint64_t at = read_until_covered(from);
    BOOST_TEST(covers(at));
    BOOST_TEST(covers(size - piece));
    BOOST_TEST(!covers(size - piece + 1));
}

BOOST_AUTO_TEST_CASE(forgotten_means_a_new_streak) {
    REQUIRE_THAT_THE_SYSTEM_TELLS();
    const std::uint64_t at = read_until_covered();
    BOOST_TEST(covers(at));
    range.forget();
    BOOST_TEST(covers(at)); // it was worth asking: one read is streak enough
}

BOOST_AUTO_TEST_CASE(what_is_not_all_there_is_asked_about_ever_less) {
    if (!it.file.block_backed)
        return;
    BOOST_REQUIRE(::fsync(it.file.descriptor) == 0);
    BOOST_REQUIRE(::posix_fadvise(it.file.descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0);
    const fault_script watch({});
    for (unsigned i = 0; i < 200; ++i)
        BOOST_TEST(!covers((i % 100) * piece));
    BOOST_TEST(watch.seen(raw_call::count_cached) <= 4u); // 16, 32, 64, 128 reads later
}

// Never believed without an answer, and never without the last page being readable.
BOOST_AUTO_TEST_CASE(errors_mean_no) {
    for (const int error : {EINVAL, EBADF, EFAULT, EINTR}) {
        const fault_script script(
            {{.call = raw_call::count_cached, .error = error, .times = always}});
        BOOST_TEST(!platform::is_resident(it.file, 0, piece));
    }
    const fault_script script({{.call = raw_call::read_no_wait, .error = EAGAIN, .times = always}});
    BOOST_TEST(!platform::is_resident(it.file, 0, piece));
}

// A file in doubt is read here again when the doubt is over, and then it is trusted again: a reader
// that makes no other blocking call must not stay with the dearer one for ever.
BOOST_AUTO_TEST_CASE(doubt_ends_by_fast_reads) {
    using clock = platform::adaptive_inlining::clock;
    if (!it.file.block_backed)
        return; // never read here
    opened other(path, file_mode::open, file_access::read);
    platform::file_handle& file = other.file;
    BOOST_TEST(platform::may_read_here(file, piece));
    const clock::time_point now = clock::now();
    file.inlining.learn(piece, now - std::chrono::milliseconds(1), now);
    BOOST_TEST(!file.inlining.is_trusted());
    BOOST_TEST(platform::may_read_here(file, piece)); // one slow call may have been the scheduler
    file.inlining.learn(piece, now - std::chrono::milliseconds(1), now + std::chrono::hours(1));
    BOOST_TEST(!platform::may_read_here(file, piece));

    opened again(path, file_mode::open, file_access::read);
    again.file.inlining.learn(piece, now - std::chrono::milliseconds(1), now);
    again.file.inlining.set_limit(
        std::chrono::seconds(1)); // no read shall be slow on a busy machine
    std::byte data[piece];
    while (!again.file.inlining.is_trusted())
        BOOST_REQUIRE(platform::read_here(again.file, data, piece, 0,
                                          platform::tick_clock::now()) == static_cast<long>(piece));
}

BOOST_AUTO_TEST_SUITE_END()
