#include <sluice/strategies/system_port.hpp>

namespace sluice::strategies {

bool system_port::perform(platform::request& op) const noexcept {
    switch (way_) {
    case way::defers:
        return false;
    case way::attempts:
        if (op.code == platform::opcode::call || !loop_.backend().try_now(op, limits_))
            return false;
        loop_.count(path_of_attempt(op), op.done);
        return true;
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
