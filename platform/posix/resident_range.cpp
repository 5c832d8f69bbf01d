#include <sluice/platform/posix/resident_range.hpp>

#include <sluice/platform/posix/system_calls.hpp>
#include <sluice/platform/relaxed.hpp>

#include <algorithm>

namespace sluice::platform {

namespace {

// Older kernels: not asked again.
relaxed<bool> system_tells{true};

constexpr std::uint64_t page = 4096; // or a multiple: then fewer are counted than expected

} // namespace

bool is_resident(const file_handle& file, std::uint64_t offset, std::size_t size) noexcept {
    if (!system_tells || size == 0)
        return false;
    std::uint64_t resident = 0;
    const long answer = sys::count_cached(file.descriptor, offset, size, resident);
    if (answer == -ENOSYS)
        system_tells = false;
    const std::uint64_t last = offset + size - 1;
    if (answer < 0 || resident < last / page - offset / page + 1)
        return false;
    std::byte probe;
    return sys::read_with(file.descriptor, &probe, 1, last, RWF_NOWAIT) == 1;
}

bool resident_range::ask(const file_handle& file, std::uint64_t offset, std::size_t size,
                         tick_clock::ticks now) noexcept {
    forget();
    const long length = length_of(file);
    const auto file_end = static_cast<std::uint64_t>(std::max(length, 0L));
    if (offset + size > file_end)
        return false; // says nothing about the rest of the file
    const std::uint64_t extent = std::min<std::uint64_t>(window, file_end - offset);
    if (is_resident(file, offset, extent)) {
        begin_ = offset;
        end_ = offset + extent;
        asked_at_ = now;
        needed_streak_ = 1;
        return true;
    }
    needed_streak_ =
        static_cast<std::uint16_t>(std::clamp(2U * needed_streak_, first_streak, longest_streak));
    return false;
}

} // namespace sluice::platform
