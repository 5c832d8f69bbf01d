// Locks at a fork: the child finds none held, and what they guard whole.
#include "support/child_process.hpp"

#include <sluice/platform/fork_mutex.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <optional>
#include <thread>

namespace sluice::test {

namespace {

using platform::fork_mutex;
using platform::process_mutex;

/// Two numbers that are equal whenever nobody holds the lock.
template <class Mutex>
void change(Mutex& mutex, std::array<volatile int, 2>& guarded) {
    const std::lock_guard lock(mutex);
    for (volatile int& number : guarded)
        number = number + 1;
}

template <class Mutex>
bool is_whole(Mutex& mutex, const std::array<volatile int, 2>& guarded) {
    const std::lock_guard lock(mutex);
    return guarded[0] == guarded[1];
}

} // namespace

BOOST_AUTO_TEST_SUITE(fork_mutex_test)

BOOST_AUTO_TEST_CASE(no_lock_is_held_in_the_child) {
    fork_mutex first;
    std::optional<fork_mutex> second(std::in_place);
    std::array<volatile int, 2> of_first{}, of_process{};
    std::atomic<bool> ends{false};
    std::atomic<unsigned> rounds{0};
    std::thread other([&] {
        while (!ends) {
            change(first, of_first);
            change(process_mutex, of_process);
            second.emplace(); // leaves the list of all, and joins it
            ++rounds;
        }
    });
    while (rounds == 0)
        std::this_thread::yield();
    for (int i = 0; i < 100; ++i)
        SLUICE_CHECK_CHILD([&] {
            SLUICE_EXPECT(is_whole(first, of_first));
            SLUICE_EXPECT(is_whole(process_mutex, of_process));
            const fork_mutex mine;
            return 0;
        });
    ends = true;
    other.join();
    BOOST_TEST(is_whole(first, of_first));
}

BOOST_AUTO_TEST_CASE(each_fork_is_a_generation_of_the_child) {
    const unsigned before = platform::fork_generation;
    SLUICE_CHECK_CHILD([&] {
        SLUICE_EXPECT(platform::fork_generation == before + 1);
        const child_outcome inner =
            run_in_child([&] { return platform::fork_generation == before + 2 ? 0 : 1; });
        SLUICE_EXPECT(inner.exit_code == 0);
        return 0;
    });
    BOOST_TEST(platform::fork_generation == before);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
