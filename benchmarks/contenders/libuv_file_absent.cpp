// Built where libuv was not found.
#include "contenders.hpp"

namespace bench {

std::vector<file_contender> libuv_contenders() { return {}; }

} // namespace bench
