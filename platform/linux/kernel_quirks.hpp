// What single kernels do wrong, in one table. A version only raises the suspicion; where the file
// can be asked, its answer decides.
#pragma once

namespace sluice::platform {

/// Releases [first, fixed), as major * 1000 + minor.
struct kernel_quirk {
    int first;
    int fixed;
    const char* source;
};

/// preadv2(RWF_NOWAIT) answers 0, the end of file, where the data is merely not cached.
/// preadv2(2), BUGS; tokio-rs/tokio#3803; ClickHouse/ClickHouse#39800.
inline constexpr kernel_quirk false_end_of_file{5'009, 5'011, "tokio-rs/tokio#3803"};

/// Whether the running kernel is one of them. Asked once per process and quirk by the caller.
bool is_suspected(const kernel_quirk& quirk) noexcept;

} // namespace sluice::platform
