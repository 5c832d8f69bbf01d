// Built where liburing was not found.
#include "contenders.hpp"

namespace bench {

std::vector<file_contender> raw_uring_contenders() { return {}; }

} // namespace bench
