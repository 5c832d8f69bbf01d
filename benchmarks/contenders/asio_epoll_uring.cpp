// Asio with epoll for sockets and io_uring for files: what a server that keeps its epoll loop gets.
#define BOOST_ASIO_HAS_IO_URING 1
#include "asio_file.hpp"
#include "asio_modes.hpp"

std::unique_ptr<bench::contender> bench_asio_epoll_uring(const bench::file_work& work) {
    return bench::make_asio_contender(work);
}
