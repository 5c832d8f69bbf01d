// What the shared objects with Asio inside export; asio_file.hpp says why they exist.
#pragma once

#include "../harness/contender.hpp"
#include "../harness/file_work.hpp"

#include <memory>

std::unique_ptr<bench::contender> bench_asio_uring_only(const bench::file_work& work);
std::unique_ptr<bench::contender> bench_asio_epoll_uring(const bench::file_work& work);
