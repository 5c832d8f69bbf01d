// The backend that every POSIX system can have: the operations as blocking calls on a bounded pool
// of workers, those that may never answer watched by one poller thread.
#pragma once

#include <sluice/platform/backend.hpp>
#include <sluice/platform/posix/completion_inbox.hpp>

#include <memory>

namespace sluice::platform {

/// `why` tells why it is threads and not the ring; its `kind` is set here. Throws file_error only
/// when the process has no descriptor left for the wake event.
std::unique_ptr<backend> make_thread_backend(const backend_options& options, backend_info why);
/// The same as a part of another backend, which sleeps by itself: `wake(owner)` is called on any
/// thread when reap() has got something.
std::unique_ptr<backend> make_thread_backend(const backend_options& options, backend_info why,
                                             completion_inbox::wake_function wake, void* owner);

} // namespace sluice::platform
