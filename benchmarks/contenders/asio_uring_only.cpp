// Asio with io_uring for everything: sockets and timers too, no epoll.
#define BOOST_ASIO_HAS_IO_URING 1
#define BOOST_ASIO_DISABLE_EPOLL 1
#include "asio_file.hpp"
#include "asio_modes.hpp"

std::unique_ptr<bench::contender> bench_asio_uring_only(const bench::file_work& work) {
    return bench::make_asio_contender(work);
}
