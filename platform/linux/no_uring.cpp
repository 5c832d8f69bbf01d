// The ring in a build without liburing: never there, and says so.
#include <sluice/platform/linux/uring.hpp>

#include <sluice/platform/posix/thread_backend.hpp>

#include <cerrno>

namespace sluice::platform {

bool uring_is_built() noexcept { return false; }

backend_info find_uring() {
    return {backend_kind::threads, ENOSYS, "io_uring is not in this build (made without liburing)",
            0};
}

std::unique_ptr<backend> make_uring_backend(const backend_options& options) {
    return make_thread_backend(options, find_uring());
}

} // namespace sluice::platform
