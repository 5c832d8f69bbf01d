#include <sluice/platform/error.hpp>

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <memory>
#include <set>
#include <string>

namespace {

using namespace sluice;

std::shared_ptr<const std::string> path(const char* text) {
    return std::make_shared<const std::string>(text);
}

} // namespace

BOOST_AUTO_TEST_SUITE(errors)

BOOST_AUTO_TEST_CASE(text_has_operation_path_and_the_words_of_the_system) {
    const file_error failure(system_error_from(-EIO), "read", path("/tmp/x"), 7);
    BOOST_TEST(failure.what() == std::string("read '/tmp/x': Input/output error"));
    BOOST_TEST(failure.operation() == std::string("read"));
    BOOST_TEST(failure.path() == "/tmp/x");
    BOOST_TEST(failure.bytes_transferred() == 7);
    BOOST_TEST((failure.code() == boost::system::errc::io_error));
}

BOOST_AUTO_TEST_CASE(text_without_a_path) {
    BOOST_TEST(file_error(system_error_from(-EPIPE), "write", nullptr).what() ==
               std::string("write: Broken pipe"));
    BOOST_TEST(file_error(errc::end_of_stream, "read", path("")).path().empty());
}

BOOST_AUTO_TEST_CASE(a_caught_copy_keeps_everything) {
    const auto thrown = [] {
        throw file_error(system_error_from(-ENOSPC), "write", path("/dev/full"));
    };
    try {
        thrown();
    } catch (const boost::system::system_error& failure) {
        BOOST_TEST(failure.what() == std::string("write '/dev/full': No space left on device"));
    }
    BOOST_CHECK_THROW(thrown(), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(every_condition_has_words_of_its_own) {
    std::set<std::string> texts;
    for (int i = 1; i <= static_cast<int>(errc::sharing_violation); ++i) {
        const error_code code = static_cast<errc>(i);
        BOOST_TEST(code.category().name() == std::string("sluice"));
        BOOST_TEST(code.failed());
        texts.insert(code.message());
    }
    BOOST_TEST(texts.size() == static_cast<std::size_t>(errc::sharing_violation));
    BOOST_TEST(category().message(999) == "Unknown error of sluice");
}

BOOST_AUTO_TEST_CASE(conditions_equal_the_systems_where_it_has_one) {
    namespace sys = boost::system::errc;
    BOOST_TEST((error_code(errc::timed_out) == sys::timed_out));
    BOOST_TEST((error_code(errc::not_seekable) == sys::invalid_seek));
    BOOST_TEST((error_code(errc::closed) == sys::bad_file_descriptor));
    BOOST_TEST((error_code(errc::sharing_violation) == sys::operation_would_block));
    BOOST_TEST((error_code(errc::end_of_stream) == errc::end_of_stream));
    BOOST_TEST((error_code(errc::end_of_stream) != errc::abandoned));
}

BOOST_AUTO_TEST_CASE(cancelled_is_what_asio_calls_aborted) {
    BOOST_TEST((cancelled_error() == boost::system::errc::operation_canceled));
    BOOST_TEST((cancelled_error() == system_error_from(-ECANCELED)));
}

BOOST_AUTO_TEST_SUITE_END()
