#include <sluice/platform/linux/kernel_quirks.hpp>

#include <cstdio>

#include <sys/utsname.h>

namespace sluice::platform {

bool is_suspected(const kernel_quirk& quirk) noexcept {
    struct ::utsname about {};
    int major = 0;
    int minor = 0;
    if (::uname(&about) != 0 || std::sscanf(about.release, "%d.%d", &major, &minor) != 2)
        return true; // unknown: the check costs little
    const int version = major * 1'000 + minor;
    return version >= quirk.first && version < quirk.fixed;
}

} // namespace sluice::platform
