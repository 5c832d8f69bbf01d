// A bounded pool of threads that performs operations as blocking calls. Threads start when they are
// needed.
//
// submit and cancel: any thread. The pool uses operation::next, previous, tag and stage while it
// has the operation, and nothing else but the request itself. Every operation ends in the inbox it
// came with.
#pragma once

#include <sluice/platform/operation_list.hpp>
#include <sluice/platform/posix/completion_inbox.hpp>

#include <memory>

namespace sluice::platform {

class worker_pool {
public:
    /// `threads` 0: as many as there are processors, at least 2, at most 16. Starts none yet.
    explicit worker_pool(unsigned threads);
    worker_pool(const worker_pool&) = delete;
    worker_pool& operator=(const worker_pool&) = delete;
    ~worker_pool(); ///< performs what is queued, then joins

    /// Takes the operation. Without any thread (none could be started) it is performed here and
    /// now.
    void submit(operation& op, completion_inbox& inbox) noexcept;
    /// The same for all of `list`, which is empty afterwards.
    void submit(operation_list& list, completion_inbox& inbox) noexcept;

    /// True: it was still queued; it was taken out, never runs, and is in its inbox with
    /// -ECANCELED. False: a worker has it or it is finished; it ends by itself.
    bool cancel(operation& op) noexcept;

    /// In the child of a fork: forgets the parent's threads and everything queued.
    void forget_after_fork() noexcept;

    unsigned thread_limit() const noexcept { return limit_; }
    unsigned thread_count() const noexcept; ///< threads running now
    unsigned idle_count() const noexcept;   ///< those of them that wait for an operation

private:
    struct state;

    unsigned limit_;
    std::unique_ptr<state> state_;
};

} // namespace sluice::platform
