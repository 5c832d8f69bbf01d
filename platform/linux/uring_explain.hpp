// Why there is no ring, in words that name every gate that may have closed. Files under /proc are
// read for the text alone, never to decide.
#pragma once

#include <sluice/platform/linux/uring_setup.hpp>

#include <string>

namespace sluice::platform::uring {

std::string explain(const ring_outcome& failed);

} // namespace sluice::platform::uring
