#include <sluice/platform/fork_mutex.hpp>

#include <pthread.h>

namespace sluice::platform {

constinit std::mutex process_mutex;
constinit std::atomic<unsigned> fork_generation{0};

namespace {
constinit fork_mutex* newest = nullptr; // guarded by process_mutex
} // namespace

class fork_handlers {
public:
    // RACE: a fork against what other threads do with these locks.
    //  - held: the fork waits until it is let go of; none is held for long.
    //  - made or destroyed: under process_mutex, which is taken first and held until the end.
    //  - a thread that holds one needs no other, so the order in which they are taken is free.
    static void prepare() noexcept {
        process_mutex.lock();
        for (fork_mutex* at = newest; at != nullptr; at = at->next_)
            at->mutex_.lock();
    }
    // By the thread that has taken them, which is the one that goes on in the child.
    static void parent() noexcept {
        for (fork_mutex* at = newest; at != nullptr; at = at->next_)
            at->mutex_.unlock();
        process_mutex.unlock();
    }
    static void child() noexcept {
        fork_generation.fetch_add(1, std::memory_order_relaxed);
        parent();
    }
    static void add(fork_mutex& joining) {
        const std::lock_guard lock(process_mutex);
        joining.next_ = newest;
        if (newest != nullptr)
            newest->previous_ = &joining;
        newest = &joining;
    }
    static void remove(fork_mutex& leaving) {
        const std::lock_guard lock(process_mutex);
        (leaving.previous_ != nullptr ? leaving.previous_->next_ : newest) = leaving.next_;
        if (leaving.next_ != nullptr)
            leaving.next_->previous_ = leaving.previous_;
    }
};

namespace {
// When the program starts: handlers that come later are called before this one and may still use
// what it locks.
[[maybe_unused]] const int registered =
    ::pthread_atfork(&fork_handlers::prepare, &fork_handlers::parent, &fork_handlers::child);
} // namespace

fork_mutex::fork_mutex() { fork_handlers::add(*this); }

fork_mutex::~fork_mutex() {
    fork_handlers::remove(*this);
    // The destructor of std::mutex says nothing to those who watch the order of locks, and the
    // next one at this address is another.
    ::pthread_mutex_destroy(mutex_.native_handle());
}

} // namespace sluice::platform
