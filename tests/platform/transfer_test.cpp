#include <sluice/platform/file_handle.hpp>
#include <sluice/platform/transfer.hpp>

#include <boost/test/unit_test.hpp>

#include <cerrno>

namespace {

using namespace sluice::platform;
using sluice::platform::file_handle;

struct transfer_fixture {
    file_handle file;
    request r;

    transfer_fixture() {
        file.seekable = file.regular = true;
        r.file = &file;
        r.size = 100;
    }
    void make_unseekable() {
        file.seekable = file.regular = false;
        r.offset = own_position;
    }
    next_step feed(long raw, bool cancelled = false) { return advance(r, raw, cancelled); }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(transfer, transfer_fixture)

BOOST_AUTO_TEST_CASE(whole_count_finishes) {
    BOOST_TEST((feed(100) == next_step::finished));
    BOOST_TEST(r.result == 100);
}

BOOST_AUTO_TEST_CASE(short_read_of_a_regular_file_goes_on_behind_it) {
    r.offset = 1000;
    BOOST_TEST((feed(30) == next_step::again));
    BOOST_TEST(next_offset(r) == 1030);
    BOOST_TEST(next_size(r) == 70);
    BOOST_TEST((feed(70) == next_step::finished));
    BOOST_TEST(r.result == 100);
}

BOOST_AUTO_TEST_CASE(zero_ends_a_read_with_what_there_is) {
    BOOST_TEST((feed(30) == next_step::again));
    BOOST_TEST((feed(0) == next_step::finished));
    BOOST_TEST(r.result == 30);
}

BOOST_AUTO_TEST_CASE(some_is_enough_for_a_read_elsewhere) {
    make_unseekable();
    BOOST_TEST((feed(1) == next_step::finished));
    BOOST_TEST(r.result == 1);
}

BOOST_AUTO_TEST_CASE(a_device_that_seeks_is_no_regular_file) {
    file.regular = false;
    BOOST_TEST((feed(1) == next_step::finished));
}

BOOST_AUTO_TEST_CASE(a_write_is_always_whole) {
    r.code = opcode::write;
    make_unseekable();
    BOOST_TEST((feed(99) == next_step::again));
    BOOST_TEST(next_offset(r) == own_position);
    BOOST_TEST((feed(1) == next_step::finished));
    BOOST_TEST(r.result == 100);
}

BOOST_AUTO_TEST_CASE(a_write_that_writes_nothing_is_an_error_in_the_end) {
    r.code = opcode::write;
    int answers = 1;
    while (feed(0) == next_step::again)
        ++answers;
    BOOST_TEST(answers == most_tries);
    BOOST_TEST(r.result == -EIO);
}

BOOST_AUTO_TEST_CASE(interrupted_does_not_count) {
    for (int i = 0; i < 1000; ++i)
        BOOST_REQUIRE((feed(-EINTR) == next_step::again));
    BOOST_TEST(r.tries == 0);
    BOOST_TEST(!r.must_block);
}

BOOST_AUTO_TEST_CASE(again_from_a_plain_file_is_tried_on_a_way_that_may_block) {
    BOOST_TEST((feed(-EAGAIN) == next_step::again));
    BOOST_TEST(r.must_block);
    int answers = 2;
    while (feed(-EAGAIN) == next_step::again)
        ++answers;
    BOOST_TEST(answers == most_tries);
    BOOST_TEST(r.result == -EAGAIN);
}

BOOST_AUTO_TEST_CASE(progress_forgets_the_tries) {
    for (int i = 0; i < most_tries - 1; ++i)
        BOOST_REQUIRE((feed(-EAGAIN) == next_step::again));
    BOOST_TEST((feed(1) == next_step::again));
    BOOST_TEST(r.tries == 0);
    BOOST_TEST((feed(-EAGAIN) == next_step::again));
}

BOOST_AUTO_TEST_CASE(again_from_an_unseekable_file_means_to_wait_for_it) {
    make_unseekable();
    r.ready = true;
    for (int i = 0; i < 1000; ++i)
        BOOST_REQUIRE((feed(-EAGAIN) == next_step::again));
    BOOST_TEST(!r.ready);
    BOOST_TEST(!r.must_block);
}

BOOST_AUTO_TEST_CASE(cancelled_when_asked) {
    BOOST_TEST((feed(-ECANCELED, true) == next_step::finished));
    BOOST_TEST(r.result == -ECANCELED);
}

BOOST_AUTO_TEST_CASE(a_cancelled_read_reports_what_it_brought) {
    BOOST_TEST((feed(40) == next_step::again));
    BOOST_TEST((feed(-ECANCELED, true) == next_step::finished));
    BOOST_TEST(r.result == 40);
}

BOOST_AUTO_TEST_CASE(a_cancelled_write_tells_how_far_it_came) {
    r.code = opcode::write;
    BOOST_TEST((feed(40) == next_step::again));
    BOOST_TEST((feed(-ECANCELED, true) == next_step::finished));
    BOOST_TEST(r.result == -ECANCELED);
    BOOST_TEST(r.done == 40);
}

BOOST_AUTO_TEST_CASE(a_success_is_never_called_cancelled) {
    BOOST_TEST((feed(100, true) == next_step::finished));
    BOOST_TEST(r.result == 100);
}

BOOST_AUTO_TEST_CASE(nothing_more_is_issued_once_the_end_was_asked_for) {
    BOOST_TEST((feed(-EINTR, true) == next_step::finished));
    BOOST_TEST(r.result == -ECANCELED);
    r = request{.code = opcode::write, .file = &file, .size = 100};
    BOOST_TEST((feed(10, true) == next_step::finished));
    BOOST_TEST(r.result == -ECANCELED);
    BOOST_TEST(r.done == 10);
}

BOOST_AUTO_TEST_CASE(stray_cancellation_of_a_positional_transfer_is_repeated) {
    int answers = 1;
    while (feed(-ECANCELED) == next_step::again)
        ++answers;
    BOOST_TEST(answers == most_tries);
    BOOST_TEST(r.result == -ECANCELED);
}

BOOST_AUTO_TEST_CASE(stray_cancellation_of_an_append_is_reported) {
    r.code = opcode::write;
    r.offset = own_position;
    BOOST_TEST((feed(-ECANCELED) == next_step::finished));
    BOOST_TEST(r.result == -ECANCELED);
}

BOOST_AUTO_TEST_CASE(error_after_progress) {
    BOOST_TEST((feed(40) == next_step::again));
    BOOST_TEST((feed(-EIO) == next_step::finished));
    BOOST_TEST(r.result == 40);

    r = request{.code = opcode::write, .file = &file, .size = 100};
    BOOST_TEST((feed(40) == next_step::again));
    BOOST_TEST((feed(-ENOSPC) == next_step::finished));
    BOOST_TEST(r.result == -ENOSPC);
    BOOST_TEST(r.done == 40);
}

BOOST_AUTO_TEST_CASE(nothing_to_transfer) {
    r.size = 0;
    r.code = opcode::write;
    BOOST_TEST((feed(0) == next_step::finished));
    BOOST_TEST(r.result == 0);
}

BOOST_AUTO_TEST_CASE(no_call_exceeds_the_limit_of_the_system) {
    r.size = std::size_t{5} << 30;
    BOOST_TEST(next_size(r) == largest_transfer);
    r.done = r.size - 10;
    BOOST_TEST(next_size(r) == 10);
    BOOST_TEST(next_offset(r) == r.size - 10);
}

BOOST_AUTO_TEST_CASE(results_beyond_32_bits) {
    r.size = std::size_t{6} << 30;
    while (feed(static_cast<long>(next_size(r))) == next_step::again) {}
    BOOST_TEST(r.result == long{6} << 30);
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_synchronised_have_nothing_to_lose) {
    for (const int error : {EROFS, EINVAL, EOPNOTSUPP}) {
        r = request{.code = opcode::sync, .file = &file};
        BOOST_TEST((feed(-error) == next_step::finished));
        BOOST_TEST(r.result == 0);
    }
    r = request{.code = opcode::sync_data, .file = &file};
    BOOST_TEST((feed(-EINTR) == next_step::again));
    BOOST_TEST((feed(-EIO) == next_step::finished));
    BOOST_TEST(r.result == -EIO);
}

BOOST_AUTO_TEST_SUITE_END()
