#include <sluice/platform/posix/share_lock.hpp>

#include <sluice/platform/posix/system_calls.hpp>

#include <cstdint>

namespace sluice::platform {

namespace {

constexpr std::uint32_t nfs_magic = 0x6969;
constexpr std::uint32_t cifs_magic = 0xff534d42;
constexpr std::uint32_t smb_magic = 0x517b;
constexpr std::uint32_t smb2_magic = 0xfe534d42;

// A shared lock on a file that is open for writing makes such a server drop the writes and report
// success (dotnet/runtime#44546).
bool loses_writes_under_shared_lock(const file_handle& file) noexcept {
    struct ::statfs about {};
    if (sys::stat_file_system(file.descriptor, about) < 0)
        return false;
    switch (static_cast<std::uint32_t>(about.f_type)) {
    case nfs_magic:
    case cifs_magic:
    case smb_magic:
    case smb2_magic: return true;
    default: return false;
    }
}

} // namespace

long take_share_lock(file_handle& file, file_share share) noexcept {
    // The exact comparison is the reference's: `none | inheritable` locks shared.
    const bool exclusive = share == file_share::none;
    if (!exclusive && file.writable && loses_writes_under_shared_lock(file))
        return 0;
    const int operation = (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB;
    const long locked =
        sys::uninterrupted([&]() noexcept { return sys::lock_whole(file.descriptor, operation); });
    if (locked == -EWOULDBLOCK)
        return locked;
    // Whatever else a file system answers (EACCES, ENOLCK, ENOTSUP): the lock is advisory, best
    // effort.
    file.unlocks = file.share_enforced = locked == 0;
    return 0;
}

void drop_share_lock(file_handle& file) noexcept {
    if (file.unlocks)
        sys::lock_whole(file.descriptor, LOCK_UN);
    file.unlocks = false;
}

} // namespace sluice::platform
