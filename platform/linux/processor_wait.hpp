// Whether a call looked slow because this thread waited for a processor and not for the file. On a
// busy machine that happens every few milliseconds, and says nothing about the file.
#pragma once

#include <sluice/platform/adaptive_inlining.hpp>

namespace sluice::platform {

/// Lets a file's experience grow by a call of `bytes` that took from `start` to `end` on this
/// thread. A few microseconds when the call was slow, else next to nothing.
void judge_call(adaptive_inlining& inlining, std::size_t bytes,
                adaptive_inlining::clock::time_point start,
                adaptive_inlining::clock::time_point end) noexcept;

} // namespace sluice::platform
