#include <sluice/platform/posix/describe_file.hpp>

#include <sluice/platform/posix/system_calls.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

#include <sys/sysmacros.h>

namespace sluice::platform {

namespace {

// File systems without a block device of their own that still answer from this machine. From
// linux/magic.h, which does not have all of them.
constexpr std::array<std::uint32_t, 10> local_file_systems{
    0x01021994, // tmpfs
    0x858458f6, // ramfs
    0x9123683e, // btrfs
    0x2fc12fc1, // zfs
    0x794c7630, // overlayfs
    0xca451a4e, // bcachefs
    0x958458f6, // hugetlbfs
    0x00009fa0, // proc
    0x62656572, // sysfs
    0x50495045, // pipefs
};

} // namespace

void take_description(file_handle& file, const struct ::stat& about) noexcept {
    file.regular = S_ISREG(about.st_mode);
    file.block_backed = ::major(about.st_dev) != 0;
    file.seekable = file.regular || sys::seek(file.descriptor, 0, SEEK_CUR) >= 0;
    // Direct reads wait for the device even under RWF_NOWAIT; sockets and pipes can say "not now"
    // both ways.
    file.no_wait_reads = !file.is_direct;
    file.no_wait_writes = !file.seekable;
}

long describe_file(file_handle& file, struct ::stat& about) noexcept {
    if (const long failed = sys::stat(file.descriptor, about); failed < 0)
        return failed;
    take_description(file, about);
    return 0;
}

bool is_local(const file_handle& file) noexcept {
    if (file.block_backed)
        return true;
    struct ::statfs about {};
    if (sys::stat_file_system(file.descriptor, about) < 0)
        return false;
    const auto magic = static_cast<std::uint32_t>(about.f_type);
    return std::find(local_file_systems.begin(), local_file_systems.end(), magic) !=
           local_file_systems.end();
}

} // namespace sluice::platform
