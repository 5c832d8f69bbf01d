// Every cell of the table mode x access x {missing, existing} (reference, 2.3).
#include "support/open_descriptors.hpp"
#include "support/open_file.hpp"
#include "support/temp_folder.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <filesystem>
#include <ostream>

#include <fcntl.h>
#include <sys/stat.h>

namespace {

using namespace sluice;
using namespace sluice::test;

enum class then { refused, created, kept, emptied };

struct row {
    file_mode mode;
    int missing_error;
    then missing;
    int existing_error;
    then existing;
};

std::ostream& operator<<(std::ostream& out, const row& r) {
    return out << "mode " << static_cast<int>(r.mode);
}

const row table[] = {
    {file_mode::create_new, 0, then::created, EEXIST, then::refused},
    {file_mode::create, 0, then::created, 0, then::emptied},
    {file_mode::open, ENOENT, then::refused, 0, then::kept},
    {file_mode::open_or_create, 0, then::created, 0, then::kept},
    {file_mode::truncate, ENOENT, then::refused, 0, then::emptied},
    {file_mode::append, 0, then::created, 0, then::kept},
};
const file_access accesses[] = {file_access::write, file_access::read_write};

} // namespace

namespace sluice {
static std::ostream& operator<<(std::ostream& out, file_access access) {
    return out << static_cast<int>(access);
}
} // namespace sluice

BOOST_AUTO_TEST_SUITE(open_table)

BOOST_DATA_TEST_CASE(missing, boost::unit_test::data::make(table) * accesses, r, access) {
    const temp_folder folder;
    const std::string path = folder / "file";
    const std::size_t before = open_descriptors();
    opened it(path, r.mode, access);
    BOOST_TEST(it.outcome.result == -r.missing_error);
    BOOST_TEST(it.file.is_open() == (r.missing == then::created));
    BOOST_TEST(std::filesystem::exists(path) == (r.missing == then::created));
    BOOST_TEST(it.outcome.length == 0);
    it.close();
    BOOST_TEST(open_descriptors() == before);
}

BOOST_DATA_TEST_CASE(existing, boost::unit_test::data::make(table) * accesses, r, access) {
    const temp_folder folder;
    const std::string path = folder.make("file", "content");
    const std::size_t before = open_descriptors();
    opened it(path, r.mode, access);
    BOOST_TEST(it.outcome.result == -r.existing_error);
    BOOST_TEST(temp_folder::content_of(path) == (r.existing == then::emptied ? "" : "content"));
    if (r.existing != then::refused) {
        BOOST_TEST(it.outcome.length == (r.existing == then::kept ? 7u : 0u));
        BOOST_TEST(it.file.append == (r.mode == file_mode::append));
        BOOST_TEST(it.file.regular);
        BOOST_TEST(it.file.seekable);
        BOOST_TEST(it.file.writable);
        BOOST_TEST(it.file.readable == (access == file_access::read_write));
    }
    it.close();
    BOOST_TEST(open_descriptors() == before);
}

BOOST_AUTO_TEST_CASE(reading) {
    const temp_folder folder;
    const std::string path = folder.make("file", "content");
    opened it(path, file_mode::open, file_access::read);
    BOOST_TEST(it.outcome.result == 0);
    BOOST_TEST(it.outcome.length == 7u);
    BOOST_TEST(it.file.readable);
    BOOST_TEST(!it.file.writable);

    opened made(folder / "new", file_mode::open_or_create, file_access::read);
    BOOST_TEST(made.outcome.result == 0);
    BOOST_TEST(std::filesystem::file_size(folder / "new") == 0u);
}

BOOST_AUTO_TEST_CASE(permissions_of_an_existing_file_are_kept) {
    const temp_folder folder;
    const std::string path = folder.make("file", "content");
    ::chmod(path.c_str(), 0640);
    opened it(path, file_mode::create, file_access::write);
    struct ::stat about {};
    ::stat(path.c_str(), &about);
    BOOST_TEST((about.st_mode & 07777u) == 0640u);
}

BOOST_AUTO_TEST_CASE(permissions_of_a_new_file_are_those_asked_for_without_the_mask) {
    const temp_folder folder;
    const std::string path = folder / "file";
    platform::open_request wanted = request_for(path, file_mode::create_new, file_access::write);
    wanted.create_permissions = 0666;
    const ::mode_t before = ::umask(027);
    {
        opened it(wanted);
        BOOST_TEST(it.outcome.result == 0);
    }
    ::umask(before);
    struct ::stat about {};
    ::stat(path.c_str(), &about);
    BOOST_TEST((about.st_mode & 07777u) == 0640u);
}

BOOST_AUTO_TEST_CASE(a_directory_is_no_permission) {
    const temp_folder folder;
    const std::string path = folder.path();
    for (const file_access access : {file_access::read, file_access::write}) {
        const std::size_t before = open_descriptors();
        opened it(path, file_mode::open, access);
        BOOST_TEST(it.outcome.result == -EACCES);
        BOOST_TEST(it.outcome.is_directory);
        BOOST_TEST(!it.file.is_open());
        BOOST_TEST(open_descriptors() == before);
    }
    BOOST_TEST(opened(path, file_mode::create, file_access::write).outcome.is_directory);
    BOOST_TEST(std::filesystem::exists(path));
}

BOOST_AUTO_TEST_CASE(missing_folder_and_impossible_names) {
    const temp_folder folder;
    const auto result = [](const std::string& path) {
        return opened(path, file_mode::create, file_access::write).outcome.result;
    };
    BOOST_TEST(result(folder / "no/file") == -ENOENT);
    BOOST_TEST(result(folder.make("plain") + "/file") == -ENOTDIR);
    BOOST_TEST(result(folder / std::string(300, 'x')) == -ENAMETOOLONG);
    BOOST_TEST(result("") == -ENOENT);
}

BOOST_AUTO_TEST_CASE(special_files) {
    opened null("/dev/null", file_mode::create, file_access::read_write);
    BOOST_TEST(null.outcome.result == 0);
    BOOST_TEST(!null.file.regular);
    BOOST_TEST(null.file.seekable);

    opened proc("/proc/self/status", file_mode::open, file_access::read);
    BOOST_TEST(proc.outcome.result == 0);
    BOOST_TEST(proc.file.regular);
    BOOST_TEST(!proc.file.block_backed);

    const temp_folder folder;
    const std::string path = folder / "fifo";
    BOOST_REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    opened fifo(path, file_mode::open, file_access::read_write);
    BOOST_TEST(fifo.outcome.result == 0);
    BOOST_TEST(!fifo.file.regular);
    BOOST_TEST(!fifo.file.seekable);
}

BOOST_AUTO_TEST_SUITE_END()
