// In the child of a fork the backend forgets what was the parent's, and works again.
#include "support/pipe_ends.hpp"
#include "support/sanitizers.hpp"
#include "support/thread_backend_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
using platform::opcode;
using platform::own_position;

} // namespace

BOOST_FIXTURE_TEST_SUITE(thread_backend_fork, thread_backend_fixture)

BOOST_AUTO_TEST_CASE(the_child_forgets_and_the_parent_goes_on) {
    opened it(folder.make("file", "content"), file_mode::open, file_access::read);
    pipe_ends silent;
    std::vector<std::byte> data(7);
    std::vector<std::byte> never(1);
    auto warm = operation(opcode::read, it.file, data);
    BOOST_TEST(driver.run(warm) == 7);
    auto waiting = operation(opcode::read, silent.source, never, own_position);
    backend->submit(waiting);
    const int handle = backend->wait_handle();

    const ::pid_t child = ::fork();
    if (child == 0) {
        backend->forget_after_fork();
        const bool empty = backend->in_flight() == 0;
        const bool same = backend->wait_handle() == handle;
        backend->wake(); // and not the parent
        ::_exit(empty && same ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    BOOST_TEST(WIFEXITED(status));
    BOOST_TEST(WEXITSTATUS(status) == 0);

    const char byte = 'x';
    BOOST_TEST(::write(silent.target.descriptor, &byte, 1) == 1);
    driver.wait_for(1);
    BOOST_TEST(waiting.result == 1);
}

BOOST_AUTO_TEST_CASE(the_child_does_new_operations_of_its_own) {
    if constexpr (!child_may_start_threads)
        return;
    opened it(folder.make("file", "content"), file_mode::open, file_access::read);
    std::vector<std::byte> data(7);
    auto warm = operation(opcode::read, it.file, data);
    BOOST_TEST(driver.run(warm) == 7);
    const ::pid_t child = ::fork();
    if (child == 0) {
        backend->forget_after_fork();
        auto read = operation(opcode::read, it.file, data);
        ::_exit(driver.run(read) == 7 ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    BOOST_TEST(WIFEXITED(status));
    BOOST_TEST(WEXITSTATUS(status) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
