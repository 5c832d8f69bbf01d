// The stream contract: writing and the position (reference, 7.5).
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <random>
#include <span>
#include <vector>

namespace {

using namespace sluice;
using namespace sluice::test;
namespace data = boost::unit_test::data;

struct fixture : temp_file {
    file_stream make(stream_driver& drive, file_access access = file_access::read_write) const {
        return drive.open(path, file_mode::create, access);
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(stream_writes, fixture)

BOOST_DATA_TEST_CASE_F(fixture, nothing_written, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    BOOST_TEST(drive.write(s, "").has_value());
    BOOST_TEST(s.length() == 0u);
    BOOST_TEST(s.position() == 0u);
    const std::span<const std::byte> nowhere; // null, which memcpy must never see
    BOOST_TEST(drive.write(s, nowhere).has_value());
    BOOST_TEST(drive.write(s, "ab").has_value());
    BOOST_TEST(drive.write(s, "").has_value());
    BOOST_TEST(drive.write(s, nowhere).has_value());
    BOOST_TEST(s.position() == 2u);
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST(content() == "ab");
}

BOOST_DATA_TEST_CASE_F(fixture, written_rewound_read, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    std::string all;
    for (unsigned i = 0; i < 3; ++i) {
        const std::string piece = pattern_of(1024, i);
        BOOST_TEST(drive.write(s, piece).has_value());
        all += piece;
        BOOST_TEST(s.position() == all.size());
        BOOST_TEST(s.length() == all.size());
    }
    s.position(0);
    BOOST_TEST(drive.read_to_end(s, 700) == all);
}

BOOST_DATA_TEST_CASE_F(fixture, around_the_buffer_size, data::make(all_stream_ways()), way) {
    std::mt19937_64 random(seed_for_test());
    stream_driver drive(way);
    auto s = make(drive);
    const int rounds = way.buffer_size > 5000 ? 40 : 300;
    std::string all;
    bool right = true;
    for (int i = 0; i < rounds && right; ++i) {
        const std::size_t less = way.buffer_size > 1 ? way.buffer_size - 1 : 1;
        const std::string piece =
            pattern_of(random() % 2 == 0 ? less : way.buffer_size + 1, static_cast<unsigned>(i));
        right = drive.write(s, piece).has_value();
        all += piece;
        right = right && s.position() == all.size() && s.length() == all.size();
    }
    BOOST_TEST(right);
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST((content() == all));
}

BOOST_DATA_TEST_CASE_F(fixture, buffer_exactly_full, data::make(buffered_ways()), way) {
    for (const std::size_t size :
         {way.buffer_size - 2, way.buffer_size - 1, way.buffer_size, way.buffer_size + 1}) {
        stream_driver drive(way);
        auto s = make(drive);
        const std::string middle = pattern_of(size);
        BOOST_TEST(drive.write_byte(s, '<').has_value());
        BOOST_TEST(drive.write(s, middle).has_value());
        BOOST_TEST(drive.write_byte(s, '>').has_value());
        BOOST_TEST(s.position() == size + 2);
        BOOST_TEST(drive.close(s).has_value());
        BOOST_TEST((content() == "<" + middle + ">"));
    }
}

BOOST_DATA_TEST_CASE_F(fixture, fits_and_is_done_at_once, data::make(buffered_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    BOOST_TEST(drive.write(s, "a").has_value());
    auto second = s.write_async("b");
    BOOST_REQUIRE(second.is_completed());
    second.get();
    BOOST_TEST(content() == "");
    BOOST_TEST(s.length() == 2u);
    BOOST_TEST(drive.flush(s).has_value());
    BOOST_TEST(content() == "ab");
}

// Each form of what is written, and what could be taken for several of them.
BOOST_DATA_TEST_CASE_F(fixture, every_form_of_data, data::make(some_stream_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    const std::string text = "text ";
    const std::vector<char> chars{'v', 'e', 'c', ' '};
    std::array<char, 4> few{'a', 'r', 'r', ' '};
    const std::span<const char> span(chars);
    const std::span<const std::byte> bytes = bytes_of(text);
    const boost::asio::const_buffer asio = boost::asio::buffer(chars);

    BOOST_TEST(drive.wait_for(s.write_async(span)).has_value());
    BOOST_TEST(drive.wait_for(s.write_async(std::span<char>(few))).has_value());
    BOOST_TEST(drive.wait_for(s.write_async(chars)).has_value());
    BOOST_TEST(drive.wait_for(s.write_async(few)).has_value());
    BOOST_TEST(drive.wait_for(s.write_async(text)).has_value());
    BOOST_TEST(drive.wait_for(s.write_async("array ")).has_value());
    BOOST_TEST(drive.wait_for(s.write_async(asio)).has_value());
    BOOST_TEST(drive.wait_for(s.write_async(boost::asio::buffer(few))).has_value());
    BOOST_TEST(drive.wait_for(s.write_async({bytes.data(), 4})).has_value());
    BOOST_TEST(drive.wait_for(s.write_async({text.data(), 5})).has_value());

    s.write(span);
    s.write(few);
    s.write(text);
    s.write("array ");
    s.write(asio);
    s.write({bytes.data(), 4});
    s.write({text.data(), 5});
    s.close();
    BOOST_TEST(content() == "vec arr vec arr text array vec arr texttext "
                            "vec arr text array vec texttext ");
}

BOOST_DATA_TEST_CASE_F(fixture, gap_behind_the_end, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    folder.make("file", "content");
    auto s = drive.open(path, file_mode::open, file_access::read_write);
    BOOST_TEST(s.seek(5, seek_origin::end) == 12u);
    BOOST_TEST(s.length() == 7u); // the seek alone changes nothing
    BOOST_TEST(drive.write(s, "0123456789").has_value());
    BOOST_TEST(s.position() == 22u);
    BOOST_TEST(s.length() == 22u);
    s.position(s.position());
    s.position(5);
    BOOST_TEST(drive.read_to_end(s) == std::string("nt\0\0\0\0\0", 7) + "0123456789");
}

BOOST_DATA_TEST_CASE_F(fixture, in_turns_with_reads, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    folder.make("file", "0123456789abcdef");
    auto s = drive.open(path, file_mode::open, file_access::read_write);
    BOOST_TEST(drive.read_text(s, 2) == "01");
    BOOST_TEST(drive.write(s, "AB").has_value());
    BOOST_TEST(s.position() == 4u);
    BOOST_TEST(drive.read_text(s, 2) == "45");
    BOOST_TEST(drive.write(s, "C").has_value());
    s.seek(-3, seek_origin::current);
    BOOST_TEST(drive.read_text(s, 4) == "45C7");
    BOOST_TEST(drive.write_byte(s, 'D').has_value());
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST(content() == "01AB45C7D9abcdef");
}

BOOST_DATA_TEST_CASE_F(fixture, large_ones, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = make(drive);
    const std::string large = pattern_of(1'000'003);
    BOOST_TEST(drive.write(s, "abc").has_value());
    BOOST_TEST(drive.write(s, large).has_value());
    BOOST_TEST(drive.write(s, "xyz").has_value());
    BOOST_TEST(s.position() == large.size() + 6);
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST((content() == "abc" + large + "xyz"));
}

BOOST_DATA_TEST_CASE_F(fixture, refused_writes, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    folder.make("file", "abc");
    auto s = drive.open(path);
    BOOST_TEST(!s.can_write());
    SLUICE_TEST_ERROR(drive.write(s, "x"), errc::not_writable);
    SLUICE_TEST_ERROR(drive.write(s, ""), errc::not_writable);
    SLUICE_TEST_ERROR(drive.write_byte(s, 'x'), errc::not_writable);
    SLUICE_TEST_ERROR(drive.set_length(s, 3), errc::not_writable);
    SLUICE_TEST_ERROR(drive.set_length(s, 4), errc::not_writable);
    SLUICE_TEST_ERROR(drive.set_length(s, 5), errc::not_writable);
    BOOST_TEST(s.position() == 0u);
    BOOST_TEST(drive.read_text(s, 9) == "abc");
    BOOST_TEST(drive.close(s).has_value());
    SLUICE_TEST_ERROR(drive.write(s, "x"), errc::closed);
    SLUICE_TEST_ERROR(drive.write(s, ""), errc::closed);
    SLUICE_TEST_ERROR(drive.set_length(s, 3), errc::closed);
    file_stream never_opened;
    SLUICE_TEST_ERROR(drive.write(never_opened, "x"), errc::closed);
}

// A stop that was asked for before beats closed and forbidden, and no system call is made.
BOOST_DATA_TEST_CASE_F(fixture, stopped_before, data::make(asynchronous_ways()), way) {
    stream_driver drive(way);
    folder.make("file", "abc");
    std::stop_source stop;
    stop.request_stop();
    std::string buffer(3, '.');
    auto s = drive.open(path);
    const auto all_cancelled = [&] {
        SLUICE_TEST_ERROR(drive.wait_for(s.write_async("x", stop.get_token())), cancelled_error());
        SLUICE_TEST_ERROR(drive.wait_for(s.read_async(bytes_in(buffer), stop.get_token())),
                          cancelled_error());
        SLUICE_TEST_ERROR(drive.wait_for(s.flush_async(stop.get_token())), cancelled_error());
        SLUICE_TEST_ERROR(drive.wait_for(s.sync_async(stop.get_token())), cancelled_error());
        SLUICE_TEST_ERROR(drive.wait_for(s.set_length_async(1, stop.get_token())),
                          cancelled_error());
    };
    all_cancelled();
    BOOST_TEST(buffer == "...");
    BOOST_TEST(s.position() == 0u);
    BOOST_CHECK_THROW((void)s.set_length_async(~std::uint64_t{0}, stop.get_token()),
                      std::out_of_range); // arguments come first
    BOOST_TEST(drive.close(s).has_value());
    all_cancelled();
    BOOST_TEST(content() == "abc");
}

// As many as one second of the reference's mini stress would do, nine of ten asynchronous.
BOOST_DATA_TEST_CASE_F(fixture, both_styles_in_turns, data::make(asynchronous_ways()), way) {
    std::mt19937_64 random(seed_for_test());
    stream_driver drive(way);
    auto s = make(drive);
    std::string all;
    bool right = true;
    for (int i = 0; i < 60 && right; ++i) {
        const std::string piece = pattern_of(16 + random() % 16'368, static_cast<unsigned>(i));
        if (random() % 10 == 0)
            s.write(piece);
        else
            right = drive.write(s, piece).has_value();
        all += piece;
    }
    BOOST_TEST(right);
    BOOST_TEST(s.position() == all.size());
    s.close();
    BOOST_TEST((content() == all));
}

BOOST_AUTO_TEST_SUITE_END()
