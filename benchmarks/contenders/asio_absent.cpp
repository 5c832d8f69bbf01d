// Built where liburing, which the file classes of Boost.Asio need, was not found.
#include "contenders.hpp"

namespace bench {

std::vector<file_contender> asio_contenders() { return {}; }

} // namespace bench
