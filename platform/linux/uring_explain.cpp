#include <sluice/platform/linux/uring_explain.hpp>

#include <boost/system/error_code.hpp>

#include <cerrno>
#include <fstream>
#include <sys/resource.h>

namespace sluice::platform::uring {

namespace {

std::string disabled_setting() {
    std::ifstream file("/proc/sys/kernel/io_uring_disabled");
    std::string value;
    return file >> value ? "is " + value : "cannot be read here";
}

// Both can answer each of these, so neither is claimed.
std::string gates() {
    return ". Two gates can do that: a seccomp filter, as container engines and sandboxes install, "
           "or the setting "
           "/proc/sys/kernel/io_uring_disabled, which " +
           disabled_setting() + " (1 asks for a group or a privilege, 2 refuses everybody)";
}

std::string memory_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        return {};
    const std::string now = limit.rlim_cur == RLIM_INFINITY
                                ? "unlimited"
                                : std::to_string(limit.rlim_cur / 1024) + " KiB";
    return ". The limit of locked memory (RLIMIT_MEMLOCK, ulimit -l; counted per user) is " + now;
}

std::string advice_for(long error) {
    switch (error) {
    case EPERM:
    case EACCES:
        return gates();
    case ENOSYS:
        return ". The kernel is older than 5.11 or built without it, or it was refused" + gates();
    case ENOMEM:
        return memory_limit();
    case ETIME:
        return ": a no-op and a read of an open file did not end within a second";
    case EOPNOTSUPP:
        return ". The kernel lacks an operation that is needed";
    default:
        return {};
    }
}

} // namespace

std::string explain(const ring_outcome& failed) {
    const int error = static_cast<int>(-failed.result);
    const boost::system::error_code code(error, boost::system::system_category());
    return std::string(failed.step) + ": " + code.message() + " (errno " + std::to_string(error) +
           ")" + advice_for(error);
}

} // namespace sluice::platform::uring
