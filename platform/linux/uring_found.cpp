#include <sluice/platform/linux/uring.hpp>

#include <sluice/platform/linux/uring_backend.hpp>
#include <sluice/platform/linux/uring_check.hpp>
#include <sluice/platform/linux/uring_explain.hpp>

namespace sluice::platform {

bool uring_is_built() noexcept { return true; }

backend_info find_uring() {
    const uring::check_outcome outcome = uring::check();
    if (outcome.result < 0)
        return {backend_kind::threads, static_cast<int>(-outcome.result), uring::explain(outcome),
                0};
    return {backend_kind::uring, 0, {}, 0};
}

std::unique_ptr<backend> make_uring_backend(const backend_options& options) {
    return std::make_unique<uring_backend>(options);
}

} // namespace sluice::platform
