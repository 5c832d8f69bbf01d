// A thread backend with its driver and a folder: what the tests of this backend have in common.
#pragma once

#include "support/backend_driver.hpp"
#include "support/open_file.hpp"
#include "support/temp_folder.hpp"

#include <sluice/platform/posix/thread_backend.hpp>

#include <memory>
#include <string>

namespace sluice::test {

struct thread_backend_fixture {
    explicit thread_backend_fixture(platform::backend_options options = {})
        : backend(platform::make_thread_backend(options, {})), driver(*backend) {}

    platform::operation operation(platform::opcode code, platform::file_handle& file,
                                  std::span<std::byte> data = {}, std::uint64_t offset = 0) {
        return make_operation(code, file, data, offset);
    }

    temp_folder folder;
    std::unique_ptr<platform::backend> backend;
    backend_driver driver;
};

} // namespace sluice::test
