// The stream contract: seek, position, length, set_length, append (reference, 7.6).
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <limits>

#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
namespace data = boost::unit_test::data;

constexpr std::uint64_t most = 0x7fff'ffff'ffff'ffff;

struct fixture : temp_file {
    file_stream open(stream_driver& drive, std::string_view text,
                     file_access access = file_access::read_write) const {
        folder.make("file", text);
        return drive.open(path, file_mode::open, access);
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(stream_seeks, fixture)

BOOST_DATA_TEST_CASE_F(fixture, where_a_seek_goes, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = open(drive, "0123456789");
    BOOST_TEST(s.can_seek());
    BOOST_TEST(s.seek(0, seek_origin::end) == s.length());
    BOOST_TEST(s.seek(4, seek_origin::begin) == 4u);
    BOOST_TEST(s.seek(-3, seek_origin::current) == 1u);
    BOOST_TEST(drive.read_byte(s) == '1');
    BOOST_TEST(s.seek(-2, seek_origin::end) == 8u);
    BOOST_TEST(drive.read_byte(s) == '8');
    BOOST_TEST(s.seek(0, seek_origin::current) == 9u);
    BOOST_TEST(s.seek(1000, seek_origin::end) == 1010u);
    BOOST_TEST(s.length() == 10u);
}

BOOST_DATA_TEST_CASE_F(fixture, before_the_beginning, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = open(drive, "0123456789");
    s.position(5);
    const auto code = [&](std::int64_t by, seek_origin from) {
        return error_of([&] { s.seek(by, from); });
    };
    BOOST_TEST(code(-1, seek_origin::begin) == make_error_code(errc::before_begin));
    BOOST_TEST(code(-10, seek_origin::current) == make_error_code(errc::before_begin));
    BOOST_TEST(code(-11, seek_origin::end) == make_error_code(errc::before_begin));
    BOOST_TEST(code(std::numeric_limits<std::int64_t>::min(), seek_origin::end) ==
               make_error_code(errc::before_begin));
    BOOST_CHECK_THROW(s.seek(std::numeric_limits<std::int64_t>::max(), seek_origin::current),
                      std::out_of_range);
    BOOST_CHECK_THROW(s.seek(0, static_cast<seek_origin>(3)), std::invalid_argument);
    BOOST_CHECK_THROW(s.position(most + 1), std::out_of_range);
    BOOST_TEST(s.position() == 5u);
    BOOST_TEST(drive.read_byte(s) == '5');
    s.position(most);
    BOOST_TEST(s.position() == most);
}

BOOST_DATA_TEST_CASE_F(fixture, every_way_to_a_position, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    std::string content = pattern_of(512);
    auto s = open(drive, content);
    using go = std::uint64_t (*)(file_stream&, std::int64_t);
    static constexpr std::array<go, 4> goes = {
        [](file_stream& f, std::int64_t to) {
            f.position(static_cast<std::uint64_t>(to));
            return f.position();
        },
        [](file_stream& f, std::int64_t to) { return f.seek(to, seek_origin::begin); },
        [](file_stream& f, std::int64_t to) {
            return f.seek(to - static_cast<std::int64_t>(f.position()), seek_origin::current);
        },
        [](file_stream& f, std::int64_t to) { return f.seek(to - 512, seek_origin::end); },
    };
    for (const go& goes_to : goes) {
        for (const std::int64_t to : {511, 0, 256, 1}) {
            const auto at = static_cast<std::size_t>(to);
            BOOST_TEST(goes_to(s, to) == at);
            BOOST_TEST(drive.read_byte(s) == static_cast<unsigned char>(content[at]));
            BOOST_TEST(goes_to(s, to) == at);
            content[at] = static_cast<char>(content[at] + 1);
            BOOST_TEST(
                drive.write_byte(s, static_cast<unsigned char>(content[at])).has_value());
            BOOST_TEST(s.position() == at + 1);
            BOOST_TEST(goes_to(s, to) == at);
            BOOST_TEST(drive.read_byte(s) == static_cast<unsigned char>(content[at]));
            BOOST_TEST(s.position() == at + 1);
        }
    }
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST(this->content() == content);
}

BOOST_DATA_TEST_CASE_F(fixture, length_of_a_new_file, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = open(drive, "");
    BOOST_TEST(drive.set_length(s, 4).has_value());
    BOOST_TEST(s.length() == 4u);
    BOOST_TEST(s.position() == 0u);
    BOOST_TEST(drive.write(s, "abcdef").has_value());
    BOOST_TEST(s.length() == 6u);
    BOOST_TEST(s.position() == 6u);
    BOOST_TEST(drive.set_length(s, 3).has_value());
    BOOST_TEST(s.length() == 3u);
    BOOST_TEST(s.position() == 3u);
    BOOST_TEST(drive.read_byte(s) == -1);
    BOOST_TEST(drive.write_byte(s, 'x').has_value());
    BOOST_TEST(s.length() == 4u);
    BOOST_TEST(s.position() == 4u);
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST(content() == "abcx");
}

BOOST_DATA_TEST_CASE_F(fixture, cut_and_grown, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = open(drive, "abcd");
    s.position(4);
    BOOST_TEST(drive.set_length(s, 3).has_value());
    BOOST_TEST(s.position() == 3u);
    BOOST_TEST(drive.set_length(s, 4).has_value());
    BOOST_TEST(s.position() == 3u);
    BOOST_TEST(drive.read_byte(s) == 0);
    s.position(0);
    BOOST_TEST(drive.read_text(s, 2) == "ab");
    BOOST_TEST(drive.set_length(s, 1).has_value()); // what is in the buffer goes too
    BOOST_TEST(s.position() == 1u);
    BOOST_TEST(drive.read_text(s, 2) == "");
    BOOST_CHECK_THROW(s.set_length(most + 1), std::out_of_range);
    const auto huge = drive.set_length(s, most);
    BOOST_TEST((huge.has_value() ? s.length() == most : s.length() == 1u));
}

BOOST_DATA_TEST_CASE_F(fixture, closed_and_unseekable_state, data::make(some_stream_ways()), way) {
    stream_driver drive(way);
    auto s = open(drive, "abc");
    BOOST_TEST(drive.close(s).has_value());
    const auto all_say = [](file_stream& f, error_code code) {
        BOOST_TEST(error_of([&] { (void)f.position(); }) == code);
        BOOST_TEST(error_of([&] { f.position(0); }) == code);
        BOOST_TEST(error_of([&] { (void)f.length(); }) == code);
        BOOST_TEST(error_of([&] { f.seek(0, seek_origin::begin); }) == code);
        BOOST_TEST(error_of([&] { f.set_length(0); }) == code);
        BOOST_TEST(!f.can_seek());
    };
    all_say(s, errc::closed);
    file_stream never_opened;
    all_say(never_opened, errc::closed);
    int ends[2];
    BOOST_REQUIRE(pipe(ends) == 0);
    auto source = drive.adopt(ends[0], file_access::read);
    auto target = drive.adopt(ends[1], file_access::write);
    all_say(source, errc::not_seekable);
    all_say(target, errc::not_seekable);
    BOOST_TEST(source.can_read());
    BOOST_TEST(target.can_write());
}

// --- append: O_APPEND ---

BOOST_DATA_TEST_CASE_F(fixture, append_to_a_new_file, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    auto s = drive.open(path, file_mode::append, file_access::write);
    BOOST_TEST(!s.can_read());
    BOOST_TEST(s.position() == 0u);
    BOOST_TEST(drive.write(s, "abcde").has_value());
    BOOST_TEST(s.position() == 5u);
    BOOST_TEST(s.length() == 5u);
    BOOST_TEST(s.seek(1, seek_origin::begin) == 1u);
    BOOST_TEST(s.position() == 1u);
    BOOST_TEST(drive.write(s, "xyz").has_value());
    BOOST_TEST(s.position() == 8u); // where it ended, and not 4 as in the reference
    BOOST_TEST(s.length() == 8u);
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST(content() == "abcdexyz");
}

BOOST_DATA_TEST_CASE_F(fixture, append_knows_its_start, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    folder.make("file", "0123456789");
    auto s = drive.open(path, file_mode::append, file_access::write);
    BOOST_TEST(s.position() == 10u);
    const auto below = make_error_code(errc::below_append_start);
    const auto refused = [&] {
        const auto at = s.position();
        BOOST_TEST(error_of([&] { s.position(9); }) == below);
        BOOST_TEST(error_of([&] { s.seek(0, seek_origin::begin); }) == below);
        BOOST_TEST(error_of([&] {
                       s.seek(9 - static_cast<std::int64_t>(s.position()), seek_origin::current);
                   }) == below);
        BOOST_TEST(error_of([&] {
                       s.seek(9 - static_cast<std::int64_t>(s.length()), seek_origin::end);
                   }) == below);
        SLUICE_TEST_ERROR(drive.set_length(s, 9), below);
        BOOST_TEST(s.position() == at);
    };
    refused();
    BOOST_TEST(drive.write(s, "ab").has_value());
    BOOST_TEST(s.position() == 12u);
    refused();
    BOOST_TEST(s.seek(10, seek_origin::begin) == 10u);
    s.position(11);
    BOOST_TEST(s.position() == 11u);
    BOOST_TEST(drive.write(s, "cd").has_value());
    BOOST_TEST(s.position() == 14u);
    BOOST_TEST(drive.flush(s).has_value());
    BOOST_TEST(drive.set_length(s, 11).has_value());
    BOOST_TEST(s.length() == 11u);
    BOOST_TEST(s.position() == 11u);
    BOOST_TEST(drive.write(s, "ef").has_value());
    BOOST_TEST(s.position() == 13u);
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST(content() == "0123456789aef");
}

// Two streams, as two processes would: neither writes over the other.
BOOST_DATA_TEST_CASE_F(fixture, appends_of_two, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    folder.make("file", "#");
    auto one = drive.open(path, file_mode::append, file_access::write);
    auto two = drive.open(path, file_mode::append, file_access::write);
    for (int i = 0; i < 5; ++i) {
        BOOST_TEST(drive.write(one, "one").has_value());
        BOOST_TEST(drive.flush(one).has_value());
        BOOST_TEST(one.position() == 4u + 9u * static_cast<unsigned>(i));
        BOOST_TEST(drive.write(two, "twotwo").has_value());
        BOOST_TEST(drive.flush(two).has_value());
        BOOST_TEST(two.position() == 10u + 9u * static_cast<unsigned>(i));
        BOOST_TEST(one.length() == two.position());
    }
    BOOST_TEST(content() == "#onetwotwoonetwotwoonetwotwoonetwotwoonetwotwo");
}

BOOST_DATA_TEST_CASE_F(fixture, append_of_much, data::make(all_stream_ways()), way) {
    stream_driver drive(way);
    folder.make("file", "start");
    auto s = drive.open(path, file_mode::append, file_access::write);
    const std::string large = pattern_of(300'000);
    BOOST_TEST(drive.write(s, "abc").has_value());
    BOOST_TEST(drive.write(s, large).has_value());
    BOOST_TEST(drive.write(s, "").has_value());
    BOOST_TEST(drive.write(s, "xyz").has_value());
    BOOST_TEST(s.position() == 300'011u);
    BOOST_TEST(s.length() == 300'011u);
    BOOST_TEST(drive.close(s).has_value());
    BOOST_TEST((content() == "startabc" + large + "xyz"));
}

BOOST_AUTO_TEST_SUITE_END()
