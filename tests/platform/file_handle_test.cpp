// What is done to an open file besides transfers: adopt, close, length, position, range locks.
#include "support/fault_script.hpp"
#include "support/open_descriptors.hpp"
#include "support/open_file.hpp"
#include "support/temp_folder.hpp"

#include <boost/test/unit_test.hpp>

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
using platform::raw_call;

struct handle_fixture {
    temp_folder folder;
    std::string path = folder.make("file", "0123456789");
    opened it{path, file_mode::open, file_access::read_write};
};

/// What a child process answers to a question, since range locks hold between processes only.
template <class Question>
int in_child(Question question) {
    const ::pid_t child = ::fork();
    if (child == 0)
        ::_exit(question());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(handle, handle_fixture)

BOOST_AUTO_TEST_CASE(length_and_truncation) {
    BOOST_TEST(platform::length_of(it.file) == 10);
    BOOST_TEST(platform::set_length_of(it.file, 4) == 0);
    BOOST_TEST(temp_folder::content_of(path) == "0123");
    BOOST_TEST(platform::set_length_of(it.file, 6) == 0);
    BOOST_TEST(temp_folder::content_of(path) == std::string("0123\0\0", 6));
    BOOST_TEST(platform::set_length_of(it.file, ~std::uint64_t{0}) == -EFBIG);
    const fault_script script({{.call = raw_call::truncate, .error = EINTR, .times = 3}});
    BOOST_TEST(platform::set_length_of(it.file, 1) == 0);
}

BOOST_AUTO_TEST_CASE(the_systems_own_position) {
    BOOST_TEST(platform::own_position_of(it.file) == 0);
    BOOST_TEST(platform::set_own_position_of(it.file, 7) == 7);
    BOOST_TEST(platform::own_position_of(it.file) == 7);
    BOOST_TEST(platform::set_own_position_of(it.file, ~std::uint64_t{0}) == -EINVAL);
}

BOOST_AUTO_TEST_CASE(close_is_called_once_and_its_error_reported) {
    const std::size_t before = open_descriptors();
    {
        opened other(path, file_mode::open, file_access::read);
        const int copy = other.file.descriptor;
        const fault_script script({{.call = raw_call::close, .error = EINTR}});
        BOOST_TEST(other.close() == -EINTR);
        BOOST_TEST(script.seen(raw_call::close) == 1u);
        BOOST_TEST(!other.file.is_open());
        BOOST_TEST(platform::close_file(other.file, nullptr) == -EBADF);
        ::close(copy); // the script answered without closing
    }
    BOOST_TEST(open_descriptors() == before);
}

BOOST_AUTO_TEST_CASE(closes_fast_unless_it_may_have_to_wait) {
    BOOST_TEST(platform::closes_fast(it.file));
    it.file.wrote = true;
    BOOST_TEST(platform::closes_fast(it.file) == it.file.block_backed);
    it.file.block_backed = false;
    const fault_script script({{.call = raw_call::statfs, .error = EIO}});
    BOOST_TEST(!platform::closes_fast(it.file));
}

BOOST_AUTO_TEST_CASE(memory_file_systems_are_local) {
    const temp_folder memory("/dev/shm");
    const std::string file = memory.make("file");
    opened in_memory(file, file_mode::open, file_access::write);
    in_memory.file.wrote = true;
    BOOST_TEST(!in_memory.file.block_backed);
    BOOST_TEST(platform::closes_fast(in_memory.file));
}

BOOST_AUTO_TEST_CASE(adopted_regular_file_starts_where_the_system_stands) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
    ::lseek(descriptor, 5, SEEK_SET);
    platform::file_handle file;
    std::uint64_t position = 0;
    BOOST_TEST(
        platform::adopt_descriptor(descriptor, file_access::read_write, file, position) == 0);
    BOOST_TEST(position == 5u);
    BOOST_TEST(file.regular);
    BOOST_TEST(file.append);
    BOOST_TEST(file.descriptor == descriptor);
    ::close(descriptor);
}

BOOST_AUTO_TEST_CASE(adopted_pipe) {
    int ends[2];
    BOOST_REQUIRE(::pipe(ends) == 0);
    platform::file_handle file;
    std::uint64_t position = 99;
    BOOST_TEST(platform::adopt_descriptor(ends[0], file_access::read, file, position) == 0);
    BOOST_TEST(position == 0u);
    BOOST_TEST(!file.seekable);
    BOOST_TEST(!file.regular);
    ::close(ends[0]);
    ::close(ends[1]);
}

BOOST_AUTO_TEST_CASE(adopting_what_is_not_open_closes_nothing) {
    platform::file_handle file;
    std::uint64_t position = 0;
    BOOST_TEST(platform::adopt_descriptor(-1, file_access::read, file, position) == -EBADF);
    BOOST_TEST(!file.is_open());
    const int directory = ::open("/tmp", O_RDONLY | O_CLOEXEC);
    BOOST_TEST(platform::adopt_descriptor(directory, file_access::read, file, position) == -EACCES);
    BOOST_TEST(::close(directory) == 0);
}

BOOST_AUTO_TEST_CASE(range_locks_hold_between_processes) {
    BOOST_TEST(platform::lock_range(it.file, 2, 3) == 0);
    const auto conflict = [&](std::uint64_t offset, std::uint64_t length) {
        return in_child([&] {
            opened mine(path, file_mode::open, file_access::read_write);
            const long locked = platform::lock_range(mine.file, offset, length);
            return locked == -EAGAIN || locked == -EACCES ? 1 : locked == 0 ? 0 : 2;
        });
    };
    BOOST_TEST(conflict(0, 2) == 0);
    BOOST_TEST(conflict(4, 1) == 1);
    BOOST_TEST(conflict(0, 0) == 1); // to the end of the file
    BOOST_TEST(platform::unlock_range(it.file, 2, 3) == 0);
    BOOST_TEST(conflict(4, 1) == 0);
    BOOST_TEST(platform::lock_range(it.file, ~std::uint64_t{0}, 1) == -EINVAL);
}

BOOST_AUTO_TEST_CASE(readers_share_a_range) {
    opened reader(path, file_mode::open, file_access::read);
    BOOST_TEST(platform::lock_range(reader.file, 0, 5) == 0);
    BOOST_TEST(in_child([&] {
        opened mine(path, file_mode::open, file_access::read);
        return platform::lock_range(mine.file, 0, 5) == 0 ? 0 : 1;
    }) == 0);
    BOOST_TEST(in_child([&] {
        opened mine(path, file_mode::open, file_access::read_write);
        return platform::lock_range(mine.file, 0, 5) == 0 ? 0 : 1;
    }) == 1);
}

BOOST_AUTO_TEST_SUITE_END()
