#include "support/fault_script.hpp"
#include "support/open_descriptors.hpp"
#include "support/open_file.hpp"
#include "support/temp_folder.hpp"

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
using platform::raw_call;

struct attempt {
    platform::file_handle file;
    platform::open_outcome outcome;
    bool known;

    explicit attempt(const platform::open_request& wanted)
        : known(platform::try_open_now(wanted, file, outcome)) {}
    ~attempt() {
        if (file.is_open())
            platform::close_file(file, nullptr);
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(open_now)

BOOST_AUTO_TEST_CASE(a_cached_regular_file) {
    const temp_folder folder;
    const std::string path = folder.make("file", "content");
    const std::size_t before = open_descriptors();
    {
        const attempt it(request_for(path, file_mode::open, file_access::read_write));
        BOOST_TEST(it.known);
        BOOST_TEST(it.outcome.result == 0);
        BOOST_TEST(it.outcome.length == 7u);
        BOOST_TEST(it.file.regular);
        BOOST_TEST(it.file.readable);
        BOOST_TEST(it.file.writable);
        BOOST_TEST(open_descriptors() == before + 1);
    }
    BOOST_TEST(open_descriptors() == before);
}

BOOST_AUTO_TEST_CASE(a_file_of_more_than_two_gibibytes) {
    const temp_folder folder;
    const std::string path = folder.make("file");
    std::filesystem::resize_file(path, std::uintmax_t{5} << 30);
    BOOST_TEST(attempt(request_for(path)).outcome.length == std::uint64_t{5} << 30);
}

BOOST_AUTO_TEST_CASE(a_name_that_is_known_not_to_exist) {
    const temp_folder folder;
    const std::string path = folder / "missing";
    ::access(path.c_str(), F_OK); // now its absence is cached
    const attempt it(request_for(path));
    BOOST_TEST((!it.known || it.outcome.result == -ENOENT));
    BOOST_TEST(!it.file.is_open());
}

BOOST_AUTO_TEST_CASE(what_changes_or_may_wait_is_left_to_a_worker) {
    const temp_folder folder;
    const std::string path = folder.make("file", "content");
    for (const file_mode mode :
         {file_mode::create, file_mode::create_new, file_mode::open_or_create, file_mode::truncate,
          file_mode::append})
        BOOST_TEST(!attempt(request_for(path, mode, file_access::write)).known);
    platform::open_request wanted = request_for(path);
    wanted.share_given = true;
    BOOST_TEST(!attempt(wanted).known);
    wanted = request_for(path);
    wanted.options = file_options::direct;
    BOOST_TEST(!attempt(wanted).known);
    BOOST_TEST(temp_folder::content_of(path) == "content");
}

BOOST_AUTO_TEST_CASE(a_fifo_is_not_even_touched) {
    const temp_folder folder;
    const std::string path = folder / "fifo";
    BOOST_REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    const fault_script watch({});
    BOOST_TEST(!attempt(request_for(path)).known);
    BOOST_TEST(!attempt(request_for(path, file_mode::open, file_access::write)).known);
    BOOST_TEST(watch.seen(raw_call::open) == 0u);
}

BOOST_AUTO_TEST_CASE(folders_and_devices_are_left_to_a_worker) {
    const temp_folder folder;
    const std::string path = folder.path();
    BOOST_TEST(!attempt(request_for(path)).known);
    BOOST_TEST(!attempt(request_for("/dev/null")).known);
}

BOOST_AUTO_TEST_CASE(not_cached_is_not_now) {
    const temp_folder folder;
    const std::string path = folder.make("file", "content");
    const fault_script script({{.call = raw_call::open_cached, .error = EAGAIN}});
    BOOST_TEST(!attempt(request_for(path)).known);
    BOOST_TEST(attempt(request_for(path)).known);
}

BOOST_AUTO_TEST_CASE(errors_of_the_second_half_are_left_to_a_worker) {
    const temp_folder folder;
    const std::string path = folder.make("file", "content");
    const std::size_t before = open_descriptors();
    for (const raw_call call : {raw_call::stat, raw_call::open}) {
        const fault_script script({{.call = call, .error = EACCES}});
        BOOST_TEST(!attempt(request_for(path)).known);
    }
    BOOST_TEST(open_descriptors() == before);
}

BOOST_AUTO_TEST_SUITE_END()
