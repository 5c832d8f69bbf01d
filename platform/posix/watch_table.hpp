// What the poller knows of each descriptor: who waits for it to become readable, who for writable.
// Found by the descriptor's number; addresses are stable, and memory is taken for new ranges of
// numbers only.
#pragma once

#include <sluice/platform/operation_list.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace sluice::platform {

struct watch {
    operation_list reads;
    operation_list writes;
    bool registered = false; ///< as far as known: descriptors are closed without notice
};

class watch_table {
public:
    /// The watch of a descriptor that was reserved.
    watch& operator[](int descriptor) noexcept {
        const auto number = static_cast<std::size_t>(descriptor);
        return (*pages_[number / page_size])[number % page_size];
    }

    /// False: no memory.
    bool reserve(int descriptor) noexcept {
        const std::size_t page = static_cast<std::size_t>(descriptor) / page_size;
        try {
            if (page >= pages_.size())
                pages_.resize(page + 1);
            if (pages_[page] == nullptr)
                pages_[page] = std::make_unique<watches>();
        } catch (const std::bad_alloc&) {
            return false;
        }
        return true;
    }

private:
    static constexpr std::size_t page_size = 64;
    using watches = std::array<watch, page_size>;

    std::vector<std::unique_ptr<watches>> pages_;
};

} // namespace sluice::platform
