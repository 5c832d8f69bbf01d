// Built where Boost.Asio files was not found.
#include "contenders.hpp"

namespace bench {

std::vector<file_contender> asio_contenders() { return {}; }

} // namespace bench
