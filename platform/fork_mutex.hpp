// Locks that survive a fork: all of them are taken for its duration, so that the child, which has
// none of the other threads, finds none held and what they guard whole. And how a fork is noticed.
//
// Threads: any. A thread that holds one takes no other, makes none, and runs nothing of the user's.
#pragma once

#include <atomic>
#include <mutex>

namespace sluice::platform {

class fork_mutex {
public:
    fork_mutex();
    fork_mutex(const fork_mutex&) = delete;
    fork_mutex& operator=(const fork_mutex&) = delete;
    ~fork_mutex();

    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

private:
    friend class fork_handlers;

    std::mutex mutex_;
    fork_mutex* next_ = nullptr;
    fork_mutex* previous_ = nullptr;
};

/// The one for what the whole process shares; there before any constructor runs.
extern std::mutex process_mutex;

/// How many forks lie between the start of the program and this process.
extern std::atomic<unsigned> fork_generation;

} // namespace sluice::platform
