// Waits for files that may never answer (pipes, sockets, terminals) on one thread, so that they
// hold no worker. Each operation is attempted, without waiting, when its file is readable or
// writable.
//
// submit and cancel: one thread at a time. While it has an operation the poller uses next,
// previous, tag and stage.
#pragma once

#include <sluice/platform/operation_list.hpp>
#include <sluice/platform/posix/completion_inbox.hpp>

#include <memory>

namespace sluice::platform {

class poller {
public:
    poller() noexcept; ///< no thread and no descriptor before the first operation
    poller(const poller&) = delete;
    poller& operator=(const poller&) = delete;
    ~poller(); ///< nothing may be pending

    /// 0: taken. Else -errno, and the operation is still the caller's: -EPERM says that such a file
    /// is never "not ready" (a plain call is the only way), others that poller or watch could not
    /// be made.
    long submit(operation& op, completion_inbox& inbox) noexcept;

    /// True: taken out, and in its inbox as cancelled. False: just being attempted (it ends at
    /// once, with what the attempt brought) or finished.
    bool cancel(operation& op) noexcept;

    /// In the child of a fork: forgets the parent's thread and everything pending.
    void forget_after_fork() noexcept;

private:
    struct state;

    long start() noexcept;

    std::unique_ptr<state> state_; // made by the first submit
};

} // namespace sluice::platform
