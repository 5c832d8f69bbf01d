// Which files take the shortest way, one bare call: none that needs flags, another order of calls,
// or an answer that only the longer ways understand.
#include <sluice/platform/posix/whole_transfer.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>

namespace {

using namespace sluice;
using platform::adaptive_inlining;
using platform::may_read_here;
using platform::may_write_here;

constexpr std::size_t piece = 4096;

platform::file_handle plain() {
    platform::file_handle file;
    file.regular = file.seekable = file.readable = file.writable = file.block_backed = true;
    return file;
}

} // namespace

BOOST_AUTO_TEST_SUITE(whole_transfers)

BOOST_AUTO_TEST_CASE(plain_files_do) {
    BOOST_TEST(may_read_here(plain(), piece));
    BOOST_TEST(may_write_here(plain(), piece));
    BOOST_TEST(may_write_here(plain(), adaptive_inlining::largest_inline));
}

BOOST_AUTO_TEST_CASE(not_too_much_at_once) {
    BOOST_TEST(!may_read_here(plain(), adaptive_inlining::largest_inline + 1));
    BOOST_TEST(!may_write_here(plain(), adaptive_inlining::largest_inline + 1));
}

BOOST_AUTO_TEST_CASE(nothing_that_needs_flags_or_waits_for_the_device) {
    platform::file_handle uncached = plain();
    uncached.transfer_flags = 0x80; // RWF_DONTCACHE
    platform::file_handle direct = plain();
    direct.is_direct = true;
    for (const platform::file_handle& file : {uncached, direct}) {
        BOOST_TEST(!may_read_here(file, piece));
        BOOST_TEST(!may_write_here(file, piece));
    }
    platform::file_handle synchronous = plain();
    synchronous.synchronous = true;
    BOOST_TEST(!may_write_here(synchronous, piece));
}

// Some of these seek, and then have no offsets: the longer ways find out.
BOOST_AUTO_TEST_CASE(nothing_but_regular_files) {
    platform::file_handle device = plain();
    device.regular = false;
    BOOST_TEST(!may_read_here(device, piece));
    BOOST_TEST(!may_write_here(device, piece));
}

BOOST_AUTO_TEST_CASE(nothing_that_was_slow) {
    platform::file_handle slow = plain();
    const auto now = adaptive_inlining::clock::now();
    slow.inlining.learn(piece, now, now + std::chrono::seconds(1));
    BOOST_TEST(!may_read_here(slow, piece));
    BOOST_TEST(!may_write_here(slow, piece));
}

BOOST_AUTO_TEST_SUITE_END()
