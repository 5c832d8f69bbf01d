#include "asio_modes.hpp"
#include "contenders.hpp"

namespace bench {

std::vector<file_contender> asio_contenders() {
    return {{"asio_uring_only", bench_asio_uring_only},
            {"asio_epoll_uring", bench_asio_epoll_uring}};
}

} // namespace bench
