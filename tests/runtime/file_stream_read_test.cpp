// The stream contract: reading (reference, 7.4), in every calling style with every buffer size.
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

namespace {

using namespace sluice;
using namespace sluice::test;
namespace data = boost::unit_test::data;

struct fixture {
    const temp_folder folder;
    std::string file(std::string_view content) const { return folder.make("file", content); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(stream_reads, fixture)

BOOST_DATA_TEST_CASE_F(fixture, nothing_asked_nothing_read, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = drive.open(file("content"));
    BOOST_TEST(drive.read(s, {}).value() == 0u);
    BOOST_TEST(s.position() == 0u);
    BOOST_TEST(drive.read_text(s, 3) == "con");
    BOOST_TEST(drive.read(s, {}).value() == 0u);
    BOOST_TEST(drive.read_exactly(s, {}).has_value());
    BOOST_TEST(drive.read_at_least(s, {}, 0).value() == 0u);
    BOOST_TEST(s.position() == 3u);
    BOOST_TEST(drive.read_to_end(s) == "tent");
    BOOST_TEST(drive.read(s, {}).value() == 0u);
}

BOOST_DATA_TEST_CASE_F(fixture, empty_file, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = drive.open(file(""));
    std::string buffer(20, 'x');
    BOOST_TEST(drive.read(s, bytes_in(buffer)).value() == 0u);
    BOOST_TEST(buffer == std::string(20, 'x'));
    BOOST_TEST(drive.read_byte(s) == -1);
    BOOST_TEST(s.position() == 0u);
    BOOST_TEST(s.length() == 0u);
}

BOOST_DATA_TEST_CASE_F(fixture, bytes_around_the_result_stay, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    const std::string content = pattern_of(20);
    auto s = drive.open(file(content));
    std::string buffer(40, '!');
    const std::size_t n = drive.read(s, bytes_in(buffer).subspan(3, 30)).value();
    BOOST_TEST(n == 20u);
    BOOST_TEST(buffer == "!!!" + content + std::string(17, '!'));
    BOOST_TEST(drive.read(s, bytes_in(buffer)).value() == 0u);
    BOOST_TEST(s.position() == 20u);
}

BOOST_DATA_TEST_CASE_F(fixture, loops_to_the_end, data::make(all_stream_ways()), way) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{256}, std::size_t{4097}}) {
        for (const std::size_t piece : {std::size_t{8}, std::size_t{1000}, std::size_t{5000}}) {
            stream_driver drive(way);
            const std::string content = pattern_of(size);
            auto s = drive.open(file(content));
            BOOST_TEST(drive.read_to_end(s, piece) == content);
            BOOST_TEST(s.position() == size);
            BOOST_TEST(s.seek(0, seek_origin::current) == size);
        }
    }
}

// Longer than one buffer of any size here, and one read is enough: short only at the end.
BOOST_DATA_TEST_CASE_F(fixture, a_read_is_whole, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    const std::string content = pattern_of(100'000);
    auto s = drive.open(file(content));
    BOOST_TEST(drive.read_text(s, 3) == content.substr(0, 3));
    BOOST_TEST(drive.read_text(s, 90'000) == content.substr(3, 90'000));
    BOOST_TEST(s.position() == 90'003u);
    BOOST_TEST(drive.read_text(s, 90'000) == content.substr(90'003));
    BOOST_TEST(s.position() == 100'000u);
}

BOOST_DATA_TEST_CASE_F(fixture, past_the_end, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = drive.open(file("0123456789"));
    BOOST_TEST(drive.read_text(s, 64) == "0123456789"); // A08 (1)
    BOOST_TEST(s.position() == 10u);
    BOOST_TEST(drive.read_text(s, 64) == "");
    BOOST_TEST(s.position() == 10u);
    s.position(20);
    BOOST_TEST(drive.read_text(s, 64) == "");
    BOOST_TEST(drive.read_byte(s) == -1);
    BOOST_TEST(s.position() == 20u);
    s.position(9);
    BOOST_TEST(drive.read_byte(s) == '9');
}

BOOST_DATA_TEST_CASE_F(fixture, exactly, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    const std::string content = pattern_of(5000);
    auto s = drive.open(file(content));
    std::string buffer(10, '\0');
    BOOST_TEST(drive.read_byte(s) == static_cast<unsigned char>(content[0]));
    BOOST_TEST(drive.read_exactly(s, bytes_in(buffer)).has_value());
    BOOST_TEST(buffer == content.substr(1, 10)); // what the buffer held comes first
    BOOST_TEST(s.position() == 11u);
    buffer.resize(4989);
    BOOST_TEST(drive.read_exactly(s, bytes_in(buffer)).has_value());
    BOOST_TEST(buffer == content.substr(11));
    BOOST_TEST(drive.read_exactly(s, {}).has_value());
}

BOOST_DATA_TEST_CASE_F(fixture, exactly_too_much, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = drive.open(file("0123456789"));
    std::string buffer(11, '.');
    SLUICE_TEST_ERROR(drive.read_exactly(s, bytes_in(buffer)), errc::end_of_stream);
    BOOST_TEST(buffer == "0123456789."); // what there was is delivered
    BOOST_TEST(s.position() == 10u);
}

BOOST_DATA_TEST_CASE_F(fixture, at_least, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = drive.open(file("0123456789"));
    std::string buffer(8, '.');
    BOOST_TEST(drive.read_at_least(s, bytes_in(buffer), 0).value() == 0u); // nothing is needed
    BOOST_TEST(s.position() == 0u);
    BOOST_TEST(drive.read_at_least(s, bytes_in(buffer), 2).value() == 8u);
    BOOST_TEST(buffer == "01234567");
    BOOST_TEST(drive.read_at_least(s, bytes_in(buffer), 2).value() == 2u);
    BOOST_TEST(buffer == "89234567");
    SLUICE_TEST_ERROR(drive.read_at_least(s, bytes_in(buffer), 1), errc::end_of_stream);
    BOOST_TEST(drive.read_at_least(s, bytes_in(buffer), 0).value() == 0u);
    BOOST_CHECK_THROW((void)s.read_at_least_async(bytes_in(buffer), 9), std::out_of_range);
    BOOST_CHECK_THROW(s.read_at_least(bytes_in(buffer), 9), std::out_of_range);
}

// Each form of a buffer, and what could be taken for several of them.
BOOST_DATA_TEST_CASE_F(fixture, every_form_of_buffer, data::make(some_stream_ways()), way) {
    stream_driver drive(way);
    const std::string content = pattern_of(100);
    auto s = drive.open(file(content));
    std::string text(10, '.');
    std::array<char, 10> chars{};
    std::byte bytes[10]{};
    const boost::asio::mutable_buffer asio = boost::asio::buffer(chars);
    const auto next_ten = [&](const auto& got) {
        const std::string_view wanted = std::string_view(content).substr(s.position() - 10, 10);
        return std::memcmp(std::data(got), wanted.data(), 10) == 0;
    };

    BOOST_TEST(drive.wait_for(s.read_async(text)).value() == 10u);
    BOOST_TEST(next_ten(text));
    BOOST_TEST(drive.wait_for(s.read_async(asio)).value() == 10u);
    BOOST_TEST(next_ten(chars));
    BOOST_TEST(drive.wait_for(s.read_at_least_async(text, 1)).value() == 10u);
    BOOST_TEST(next_ten(text));
    BOOST_TEST(drive.wait_for(s.read_at_least_async(asio, 1)).value() == 10u);
    BOOST_TEST(next_ten(chars));
    BOOST_TEST(drive.wait_for(s.read_exactly_async(chars)).has_value());
    BOOST_TEST(next_ten(chars));
    BOOST_TEST(drive.wait_for(s.read_exactly_async(asio)).has_value());
    BOOST_TEST(next_ten(chars));
    BOOST_TEST(drive.wait_for(s.read_async({&bytes[0], 10})).value() == 10u);
    BOOST_TEST(next_ten(bytes));

    s.position(0);
    BOOST_TEST(s.read(asio) == 10u);
    BOOST_TEST(next_ten(chars));
    BOOST_TEST(s.read(bytes) == 10u);
    BOOST_TEST(next_ten(bytes));
    BOOST_TEST(s.read_at_least(text, 1) == 10u);
    BOOST_TEST(next_ten(text));
    BOOST_TEST(s.read_at_least(asio, 1) == 10u);
    BOOST_TEST(next_ten(chars));
    s.read_exactly(text);
    BOOST_TEST(next_ten(text));
    s.read_exactly(asio);
    BOOST_TEST(next_ten(chars));
    s.read_exactly({&bytes[0], 10});
    BOOST_TEST(next_ten(bytes));
}

BOOST_DATA_TEST_CASE_F(fixture, exactly_after_writing, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = drive.open(file("0123456789"), file_mode::open, file_access::read_write);
    BOOST_TEST(drive.write(s, "ab").has_value());
    std::string buffer(3, '.');
    BOOST_TEST(drive.read_exactly(s, bytes_in(buffer)).has_value());
    BOOST_TEST(buffer == "234");
    BOOST_TEST(drive.write(s, "X").has_value());
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST(temp_folder::content_of(folder / "file") == "ab234X6789");
}

BOOST_DATA_TEST_CASE_F(fixture, refused_reads, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    std::string buffer(3, '.');
    auto s = drive.open(file("abc"), file_mode::open, file_access::write);
    BOOST_TEST(!s.can_read());
    SLUICE_TEST_ERROR(drive.read(s, bytes_in(buffer)), errc::not_readable);
    SLUICE_TEST_ERROR(drive.read(s, {}), errc::not_readable);
    SLUICE_TEST_ERROR(drive.read_exactly(s, bytes_in(buffer)), errc::not_readable);
    BOOST_TEST(drive.close(s).has_value());
    SLUICE_TEST_ERROR(drive.read(s, bytes_in(buffer)), errc::closed);
    SLUICE_TEST_ERROR(drive.read(s, {}), errc::closed);
    SLUICE_TEST_ERROR(drive.read_exactly(s, bytes_in(buffer)), errc::closed);
    file_stream never_opened;
    SLUICE_TEST_ERROR(drive.read(never_opened, bytes_in(buffer)), errc::closed);
}

BOOST_DATA_TEST_CASE_F(fixture, walk_of_single_bytes, data::make(some_stream_ways()), way) {
    std::mt19937_64 random(seed_for_test());
    stream_driver drive(way);
    const std::string content = pattern_of(16'384);
    auto s = drive.open(file(content));
    bool right = true;
    for (int trial = 0; trial < 1000 && right; ++trial) {
        const auto to = static_cast<std::int64_t>(random() % content.size());
        const auto from = static_cast<seek_origin>(random() % 3);
        const std::int64_t base = from == seek_origin::begin ? 0
                                  : from == seek_origin::end
                                      ? static_cast<std::int64_t>(content.size())
                                      : static_cast<std::int64_t>(s.position());
        right = s.seek(to - base, from) == static_cast<std::uint64_t>(to);
        const auto count = static_cast<std::int64_t>(1 + random() % 20);
        for (std::int64_t i = to; i < to + count && right; ++i)
            right = drive.read_byte(s) ==
                    (i < static_cast<std::int64_t>(content.size())
                         ? static_cast<unsigned char>(content[static_cast<std::size_t>(i)])
                         : -1);
    }
    BOOST_TEST(right);
}

// The second piece is in the buffer: known at once, whatever the loop does.
BOOST_DATA_TEST_CASE_F(fixture, from_the_buffer_at_once, data::make(buffered_ways()), way) {
    if (way.buffer_size < 100)
        return;
    stream_driver drive(way);
    const std::string content = pattern_of(way.buffer_size);
    auto s = drive.open(file(content));
    std::string piece(way.buffer_size / 2, '\0');
    BOOST_TEST(drive.read_text(s, piece.size()) == content.substr(0, piece.size()));
    auto second = s.read_async(bytes_in(piece));
    BOOST_REQUIRE(second.is_completed());
    BOOST_TEST(second.get() == piece.size());
    BOOST_TEST(piece == content.substr(piece.size()));
}

// The data behind the window changed; coming back into a window that was dropped must not find it.
BOOST_DATA_TEST_CASE_F(fixture, no_stale_bytes_after_a_bypass, data::make(buffered_ways()), way) {
    stream_driver drive(way);
    std::string content = pattern_of(4 * way.buffer_size);
    const std::string path = file(content);
    auto s = drive.open(path);
    BOOST_TEST(drive.read_text(s, 1) == content.substr(0, 1)); // fills the buffer
    BOOST_TEST(drive.read_text(s, way.buffer_size - 1) == content.substr(1, way.buffer_size - 1));
    BOOST_TEST(drive.read_text(s, 2 * way.buffer_size) ==
               content.substr(way.buffer_size, 2 * way.buffer_size));          // past the buffer
    s.seek(-static_cast<std::int64_t>(way.buffer_size), seek_origin::current); // #80344
    BOOST_TEST(drive.read_text(s, 5) == content.substr(2 * way.buffer_size, 5));
}

BOOST_DATA_TEST_CASE_F(fixture, beyond_four_gibibytes, data::make(some_stream_ways()), way) {
    stream_driver drive(way);
    const std::string path = file("begin");
    constexpr std::uint64_t far = (std::uint64_t{1} << 32) + 7;
    std::filesystem::resize_file(path, far + 4);
    auto s = drive.open(path, file_mode::open, file_access::read_write);
    BOOST_TEST(drive.read_text(s, 2) == "be");
    BOOST_TEST(s.seek(static_cast<std::int64_t>(far) - 2, seek_origin::current) == far); // #60430
    BOOST_TEST(drive.write(s, "wxyz").has_value());
    BOOST_TEST(s.position() == far + 4);
    BOOST_TEST(s.seek(-static_cast<std::int64_t>(far) - 4, seek_origin::end) == 0u);
    BOOST_TEST(drive.read_text(s, 5) == "begin");
    s.position(far);
    BOOST_TEST(drive.read_text(s, 9) == "wxyz");
    s.position(7);
    BOOST_TEST(drive.read_byte(s) == 0);
}

// A16: somebody cuts the file; one end, no loop.
BOOST_DATA_TEST_CASE_F(fixture, file_that_shrinks, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    const std::string content = pattern_of(200'000);
    const std::string path = file(content);
    auto s = drive.open(path);
    BOOST_TEST(drive.read_text(s, 10) == content.substr(0, 10));
    std::filesystem::resize_file(path, 70'000);
    std::string rest(199'990, '\0');
    SLUICE_TEST_ERROR(drive.read_exactly(s, bytes_in(rest)), errc::end_of_stream);
    BOOST_TEST(s.position() == 70'000u);
    BOOST_TEST(drive.read_text(s, 10) == "");
    BOOST_TEST(s.length() == 70'000u);
}

BOOST_DATA_TEST_CASE_F(fixture, overlapping_reads, data::make(unbuffered_ways()), way) {
    stream_driver drive(way);
    const std::string content = pattern_of(10'000);
    auto s = drive.open(file(content));
    std::vector<std::string> buffers(10, std::string(20'000, '\0'));
    std::vector<value_task<std::size_t>> reads;
    for (std::string& buffer : buffers) {
        reads.push_back(s.read_async(bytes_in(buffer)));
        BOOST_TEST(s.position() <= 200'000u);
    }
    for (std::size_t i = 0; i < reads.size(); ++i)
        BOOST_TEST(drive.wait_for(std::move(reads[i])).value() == (i == 0 ? 10'000u : 0u));
    BOOST_TEST(buffers[0].substr(0, 10'000) == content);
    BOOST_TEST(s.position() == 10'000u);
}

BOOST_AUTO_TEST_SUITE_END()
