// How a copy is made. Trivially destructible, see open_options.hpp; the function behind `progress`
// must outlive the copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace sluice {

/// A reference to a function void(std::uint64_t bytes_done); owns nothing.
class progress_ref {
public:
    constexpr progress_ref() noexcept = default;
    template <class Function>
        requires(!std::is_same_v<std::remove_cvref_t<Function>, progress_ref>)
    constexpr progress_ref(Function& function) noexcept
        : function_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
          call_([](void* f, std::uint64_t done) { (*static_cast<Function*>(f))(done); }) {}

    explicit operator bool() const noexcept { return call_ != nullptr; }
    void operator()(std::uint64_t done) const { call_(function_, done); }

private:
    void* function_ = nullptr;
    void (*call_)(void*, std::uint64_t) = nullptr;
};

struct copy_options {
    std::size_t buffer_size = 0; ///< bytes; 0: chosen by the library
    progress_ref progress{};     ///< called on the executor after each piece
    // Of copies between paths; no effect yet.
    bool keep_permissions = false;
    bool keep_times = false;
    bool overwrite = false;
};
static_assert(std::is_trivially_destructible_v<copy_options>);

} // namespace sluice
