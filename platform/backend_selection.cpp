// Which backend a context gets: the option, else the environment, else the ring where it can be
// had.
#include <sluice/platform/backend.hpp>

#include <sluice/platform/error.hpp>
#include <sluice/platform/linux/uring.hpp>
#include <sluice/platform/posix/thread_backend.hpp>

#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace sluice::platform {

namespace {

constexpr const char* variable = "SLUICE_BACKEND";

struct selection {
    backend_choice choice;
    bool by_environment;
};

backend_choice choice_in_environment() {
    const char* const value = std::getenv(variable);
    const std::string_view name = value == nullptr ? "" : value;
    if (name.empty() || name == "auto")
        return backend_choice::auto_;
    if (name == "uring")
        return backend_choice::uring;
    if (name == "threads")
        return backend_choice::threads;
    throw boost::system::system_error(
        EINVAL, boost::system::system_category(),
        std::string(variable) + " must be auto, uring or threads, and is '" + value + "'");
}

selection select(backend_choice option) {
    if (option != backend_choice::auto_)
        return {option, false};
    return {choice_in_environment(), true};
}

void demand_uring() {
    const backend_info found = find_uring();
    if (found.kind != backend_kind::uring)
        throw boost::system::system_error(found.reason, boost::system::system_category(),
                                          "io_uring was asked for and cannot be had: " +
                                              found.explanation);
}

backend_info why_threads(bool by_environment) {
    backend_info info;
    info.explanation = by_environment ? "chosen by SLUICE_BACKEND=threads" : "chosen by the option";
    return info;
}

} // namespace

std::unique_ptr<backend> make_backend(const backend_options& options) {
    const selection selected = select(options.choice);
    if (selected.choice == backend_choice::threads)
        return make_thread_backend(options, why_threads(selected.by_environment));
    if (selected.choice == backend_choice::uring)
        demand_uring();
    return make_uring_backend(options);
}

std::vector<backend_availability> available_backends() {
    backend_availability ring{backend_kind::uring, uring_is_built(), false, {}};
    // Trying it may be what must not happen: a seccomp filter can kill for it.
    if (ring.built && select(backend_choice::auto_).choice == backend_choice::threads) {
        ring.reason = "not tried: SLUICE_BACKEND=threads";
    } else {
        const backend_info found = find_uring();
        ring.usable = found.kind == backend_kind::uring;
        ring.reason = found.explanation;
    }
    return {ring, {backend_kind::threads, true, true, {}}};
}

} // namespace sluice::platform
