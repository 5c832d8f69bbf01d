// The words for enumerations, as messages and statistics print them.
#include <sluice/platform/backend.hpp>

namespace sluice {

const char* name_of(backend_kind kind) noexcept {
    switch (kind) {
    case backend_kind::uring: return "uring";
    case backend_kind::threads: return "threads";
    case backend_kind::iocp: return "iocp";
    case backend_kind::simulated: return "simulated";
    }
    return "unknown";
}

namespace platform {

const char* name_of(opcode code) noexcept {
    switch (code) {
    case opcode::read: return "read";
    case opcode::write: return "write";
    case opcode::sync: return "sync";
    case opcode::sync_data: return "sync_data";
    case opcode::call: return "call";
    }
    return "unknown";
}

} // namespace platform
} // namespace sluice
