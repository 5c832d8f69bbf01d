#include <sluice/strategies/system_port.hpp>

namespace sluice::strategies {

bool system_port::attempt(platform::request& r) const noexcept {
    if (r.code == platform::opcode::call)
        return false;
    platform::inline_limits limits{.may_block = loop_.options().may_block_inline()};
    if (loop_.running_here()) {
        if (!loop_.inline_allowed())
            return false;
        limits.bytes = loop_.bytes_left();
    }
    if (!loop_.backend().try_now(r, limits))
        return false;
    loop_.count(path_of_attempt(r), r.done);
    return true;
}

bool system_port::perform(platform::request& op) const noexcept {
    switch (way_) {
    case way::defers:
        return false;
    case way::attempts:
        return attempt(op);
    case way::blocks:
        break;
    }
    if (op.code == platform::opcode::call)
        op.call(op);
    else
        platform::perform_blocking(op);
    loop_.count(operation_path::blocking, op.done);
    return true;
}

} // namespace sluice::strategies
