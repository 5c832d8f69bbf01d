#include <sluice/completion/completion_source.hpp>

namespace sluice::completion {

void end_public_source(source_core& core, std::uint32_t version, cancel_reason reason) noexcept {
    if (reason != cancel_reason::deadline)
        return; // its owner completes it, or goes away
    if (!core.try_claim_version(version))
        return;
    core.fail({.code = make_error_code(errc::timed_out), .path = {}, .exception = {}});
    core.publish_from_outside();
}

} // namespace sluice::completion
