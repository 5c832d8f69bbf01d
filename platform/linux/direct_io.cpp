#include <sluice/platform/linux/direct_io.hpp>

#include <sluice/platform/posix/system_calls.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace sluice::platform {

namespace {

struct freed {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
};

bool has_alignments(const struct ::statx& about) noexcept {
    return (about.stx_mask & STATX_DIOALIGN) != 0;
}

/// For files that cannot be read for a trial: whether the file system itself says that it does not.
bool is_ruled_out(const file_handle& file) noexcept {
    struct ::statx about {};
    return sys::stat_more(file.descriptor, STATX_DIOALIGN, about) == 0 && has_alignments(about) &&
           about.stx_dio_offset_align == 0;
}

bool reads_directly(const file_handle& file) noexcept {
    const std::size_t size = direct_alignment_of(file);
    const std::unique_ptr<std::byte, freed> block(
        static_cast<std::byte*>(std::aligned_alloc(size, size)));
    if (block == nullptr)
        return false;
    return sys::uninterrupted([&]() noexcept {
        return sys::read_at(file.descriptor, block.get(), size, 0);
    }) >= 0;
}

} // namespace

// The flag is set after opening: open(O_CREAT | O_DIRECT) leaves the new file behind when it
// answers EINVAL.
bool turn_on_direct(file_handle& file) noexcept {
    const int others = file.append ? O_APPEND : 0;
    if (!file.regular || sys::set_flags(file.descriptor, others | O_DIRECT) < 0)
        return false;
    if (file.readable ? !reads_directly(file) : is_ruled_out(file)) {
        sys::set_flags(file.descriptor, others);
        return false;
    }
    file.is_direct = true;
    file.no_wait_reads = false;
    return true;
}

std::size_t direct_alignment_of(const file_handle& file) noexcept {
    struct ::statx about {};
    const bool known = sys::stat_more(file.descriptor, STATX_DIOALIGN, about) == 0;
    if (known && has_alignments(about) && about.stx_dio_offset_align != 0)
        return std::max<std::size_t>(
            {about.stx_dio_mem_align, about.stx_dio_offset_align, sizeof(void*)});
    // Before 6.1, or a file system that does not say: its block size, which is never too small.
    return known && about.stx_blksize != 0 ? about.stx_blksize : 4096;
}

} // namespace sluice::platform
