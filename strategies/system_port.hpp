// How a strategy reaches the system: on this thread however long it takes (synchronous calls), on
// this thread only if it does not wait (asynchronous ones), or not at all before its turn with the
// backend.
#pragma once

#include <sluice/completion/loop.hpp>
#include <sluice/platform/file_handle.hpp>

namespace sluice::strategies {

class system_port {
public:
    static system_port blocking(completion::loop& loop) noexcept { return {loop, way::blocks}; }
    static system_port deferred(completion::loop& loop) noexcept { return {loop, way::defers}; }
    /// An attempt within what is left of the loop's budget; off the loop's thread there is no
    /// budget.
    static system_port attempting(completion::loop& loop) noexcept { return {loop, way::attempts}; }

    /// True: finished, op.result is set. False: to be submitted.
    bool perform(platform::request& op) const noexcept;
    bool is_blocking() const noexcept { return way_ == way::blocks; }

private:
    enum class way : std::uint8_t { blocks, attempts, defers };
    system_port(completion::loop& loop, way how) noexcept : loop_(loop), way_(how) {}
    bool attempt(platform::request& r) const noexcept;

    completion::loop& loop_;
    way way_;
};

/// The path that a request finished by try_now has taken.
inline operation_path path_of_attempt(const platform::request& r) noexcept {
    const bool no_wait =
        r.code == platform::opcode::read ? r.file->no_wait_reads : r.file->no_wait_writes;
    return no_wait ? operation_path::no_wait : operation_path::inline_;
}

} // namespace sluice::strategies
