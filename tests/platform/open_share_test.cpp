// `share`: no lock unless given, else flock as the reference emulates it (2.4).
#include "support/fault_script.hpp"
#include "support/open_descriptors.hpp"
#include "support/open_file.hpp"
#include "support/temp_folder.hpp"

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <thread>

#include <fcntl.h>

namespace {

using namespace sluice;
using namespace sluice::test;
using platform::raw_call;

struct share_fixture {
    temp_folder folder;
    std::string path = folder.make("file", "content");

    platform::open_request wanted(std::optional<file_share> share, file_mode mode = file_mode::open,
                                  file_access access = file_access::read) const {
        platform::open_request request = request_for(path, mode, access);
        request.share_given = share.has_value();
        request.share = share.value_or(file_share::none);
        return request;
    }
    long result(std::optional<file_share> share) const {
        return opened(wanted(share)).outcome.result;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(open_share, share_fixture)

BOOST_AUTO_TEST_CASE(no_lock_unless_asked_for) {
    const fault_script watch({});
    opened first(wanted({}, file_mode::open_or_create, file_access::read_write));
    opened second(wanted({}, file_mode::create, file_access::read_write));
    BOOST_TEST(first.outcome.result == 0);
    BOOST_TEST(second.outcome.result == 0);
    BOOST_TEST(watch.seen(raw_call::flock) == 0u);
    BOOST_TEST(watch.seen(raw_call::statfs) == 0u);
    BOOST_TEST(watch.seen(raw_call::advise) == 0u);
}

BOOST_AUTO_TEST_CASE(none_excludes_every_other) {
    opened holder(wanted(file_share::none));
    BOOST_TEST(holder.outcome.result == 0);
    BOOST_TEST(holder.file.share_enforced);
    BOOST_TEST(result(file_share::none) == -EWOULDBLOCK);
    BOOST_TEST(result(file_share::read) == -EWOULDBLOCK);
    BOOST_TEST(result(file_share::read_write) == -EWOULDBLOCK);
    BOOST_TEST(result({}) == 0);
    holder.close();
    BOOST_TEST(result(file_share::none) == 0);
}

BOOST_AUTO_TEST_CASE(everything_else_is_shared_and_not_told_apart) {
    for (const file_share share :
         {file_share::read, file_share::write, file_share::read_write, file_share::remove,
          file_share::none | file_share::inheritable}) {
        opened holder(wanted(share));
        BOOST_TEST(holder.outcome.result == 0);
        BOOST_TEST(result(file_share::read) == 0);
        BOOST_TEST(result(file_share::write | file_share::remove) == 0);
        BOOST_TEST(result(file_share::none) == -EWOULDBLOCK);
    }
}

BOOST_AUTO_TEST_CASE(a_violation_names_its_step_and_destroys_nothing) {
    opened holder(wanted(file_share::read));
    const std::size_t before = open_descriptors();
    for (const file_mode mode : {file_mode::create, file_mode::truncate}) {
        opened it(wanted(file_share::none, mode, file_access::write));
        BOOST_TEST(it.outcome.result == -EWOULDBLOCK);
        BOOST_TEST(it.outcome.step == std::string("lock"));
    }
    BOOST_TEST(temp_folder::content_of(path) == "content");
    BOOST_TEST(open_descriptors() == before);
}

BOOST_AUTO_TEST_CASE(cutting_happens_under_the_lock) {
    opened it(wanted(file_share::read, file_mode::create, file_access::write));
    BOOST_TEST(it.outcome.result == 0);
    BOOST_TEST(it.outcome.length == 0u);
    BOOST_TEST(temp_folder::content_of(path).empty());
}

BOOST_AUTO_TEST_CASE(only_would_block_is_an_error) {
    for (const int error : {EACCES, ENOLCK, EOPNOTSUPP, EINVAL}) {
        const fault_script script({{.call = raw_call::flock, .error = error}});
        opened it(wanted(file_share::none));
        BOOST_TEST(it.outcome.result == 0);
        BOOST_TEST(!it.file.share_enforced);
        BOOST_TEST(!it.file.unlocks);
    }
}

BOOST_AUTO_TEST_CASE(shared_and_writing_asks_for_the_kind_of_mount) {
    const fault_script watch({});
    opened it(wanted(file_share::read, file_mode::open, file_access::write));
    BOOST_TEST(watch.seen(raw_call::statfs) == 1u);
    opened reading(wanted(file_share::read));
    BOOST_TEST(watch.seen(raw_call::statfs) == 1u);
}

BOOST_AUTO_TEST_CASE(inheritable_decides_about_close_on_exec) {
    const auto inherited = [](const opened& it) {
        return (::fcntl(it.file.descriptor, F_GETFD) & FD_CLOEXEC) == 0;
    };
    BOOST_TEST(!inherited(opened(wanted({}))));
    BOOST_TEST(!inherited(opened(wanted(file_share::read))));
    BOOST_TEST(inherited(opened(wanted(file_share::read | file_share::inheritable))));
}

BOOST_AUTO_TEST_CASE(closing_unlocks_before_the_last_duplicate_is_gone) {
    opened holder(wanted(file_share::none));
    const int copy = ::dup(holder.file.descriptor);
    BOOST_TEST(holder.close() == 0);
    BOOST_TEST(result(file_share::none) == 0);
    ::close(copy);
}

BOOST_AUTO_TEST_CASE(exclusive_and_removed_on_close_opens_the_file_that_has_the_name) {
    platform::open_request request =
        wanted(file_share::none, file_mode::open_or_create, file_access::read_write);
    request.options = file_options::delete_on_close;
    {
        // Another holder removes the name between open and lock, once.
        fault_script script({{.call = raw_call::flock, .hold = true}});
        std::thread remover([&] {
            script.wait_until_held(1);
            std::filesystem::remove(path);
            script.release();
        });
        opened it(request);
        remover.join();
        BOOST_TEST(it.outcome.result == 0);
        BOOST_TEST(it.outcome.length == 0u);
        BOOST_TEST(script.seen(raw_call::open) == 2u);
        BOOST_TEST(std::filesystem::exists(path));
    }
    BOOST_TEST(!std::filesystem::exists(path));
}

BOOST_AUTO_TEST_CASE(a_name_that_never_stays_is_a_violation_in_the_end) {
    platform::open_request request =
        wanted(file_share::none, file_mode::open_or_create, file_access::read_write);
    request.options = file_options::delete_on_close;
    const std::size_t before = open_descriptors();
    const fault gone{
        .call = raw_call::stat, .error = ENOENT, .times = always, .descriptor = by_path};
    const fault_script script({gone});
    opened it(request);
    BOOST_TEST(it.outcome.result == -EWOULDBLOCK);
    BOOST_TEST(!it.file.is_open());
    BOOST_TEST(open_descriptors() == before);
}

BOOST_AUTO_TEST_SUITE_END()
