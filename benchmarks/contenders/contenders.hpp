// Every way of doing an operation that this program knows. The file named beside each has the code;
// where CMake does not find what it needs, it takes the file NAME_absent.cpp instead.
#pragma once

#include "../harness/contender.hpp"
#include "../harness/file_work.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

// Baselines: the cheapest way to do the same thing without asynchrony or without a library.
std::unique_ptr<contender> plain_calls(const file_work& work);      // plain_calls.cpp
std::unique_ptr<contender> standard_stream(const file_work& work);  // standard_stream.cpp
std::unique_ptr<contender> atomic_exchange();                       // atomic_exchange.cpp

using file_contender_factory = std::function<std::unique_ptr<contender>(const file_work&)>;

/// Something that does file work asynchronously, for comparison.
struct file_contender {
    std::string name;
    file_contender_factory make;
};

// Each returns nothing where it is absent.
std::vector<file_contender> raw_uring_contenders();  // raw_uring.cpp
std::vector<file_contender> asio_contenders();       // asio.cpp
std::vector<file_contender> libuv_contenders();      // libuv_file.cpp

/// The way of doing `work` that has this name, for use as a baseline. Throws where it is absent.
std::unique_ptr<contender> make_named(const std::vector<file_contender>& known,
                                      const std::string& name, const file_work& work);

} // namespace bench
