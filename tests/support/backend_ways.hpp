// Runs operations on a backend through the interface alone, as a loop would: one table of ways for
// every test that has to come out the same on each of them.
#pragma once

#include <sluice/platform/backend.hpp>
#include <sluice/platform/linux/uring.hpp>
#include <sluice/platform/posix/file_handle.hpp>

#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace sluice::test {

/// How a backend is used.
struct way {
    const char* name;
    backend_choice choice;
    bool exclusive;
};
inline std::ostream& operator<<(std::ostream& out, const way& w) { return out << w.name; }

/// All that are in this build.
inline const std::vector<way> ring_ways =
    platform::uring_is_built()
        ? std::vector<way>{{"ring, one thread", backend_choice::uring, true},
                           {"ring, any thread", backend_choice::uring, false}}
        : std::vector<way>{};
inline const way thread_way{"threads", backend_choice::threads, true};
inline const std::vector<way> all_ways = [] {
    std::vector<way> all = ring_ways;
    all.push_back(thread_way);
    return all;
}();
/// Those that several threads may run in turns.
inline const std::vector<way> shared_ways = [] {
    std::vector<way> shared;
    for (const way& how : all_ways)
        if (!how.exclusive || how.choice == backend_choice::threads)
            shared.push_back(how);
    return shared;
}();

/// An operation that knows how often it was completed.
struct test_operation : platform::operation {
    test_operation();
    int completed = 0;
    void* owner = nullptr;
};

/// A file without a name, or one end of a pipe; closed at the end.
class test_file {
public:
    explicit test_file(int descriptor);
    test_file(const test_file&) = delete;
    test_file& operator=(const test_file&) = delete;
    ~test_file();

    static std::unique_ptr<test_file> with(std::string_view text, int more_flags = 0);

    platform::file_handle handle;
    int descriptor() const { return handle.descriptor; }
};

struct test_pipe {
    test_pipe();
    std::unique_ptr<test_file> output; ///< the end to read
    std::unique_ptr<test_file> input;  ///< the end to write
};

class driver {
public:
    explicit driver(const way& how, platform::backend_options options = {});
    ~driver();

    platform::backend& operator*() { return *backend_; }
    platform::backend* operator->() { return backend_.get(); }

    void acquire() { backend_->acquire(exclusive_); }
    void release();
    /// reap, and complete what came.
    std::size_t turn();
    /// Waits and turns until nothing is in flight, or until `enough()`.
    void run();
    template <class Enough>
    void run_until(Enough enough) {
        while (!enough()) {
            backend_->wait(platform::backend::clock::time_point::max());
            turn();
        }
    }
    /// Submits and runs until this one is completed. Its result.
    long perform(test_operation& op);

private:
    std::unique_ptr<platform::backend> backend_;
    bool exclusive_;
};

void prepare(test_operation& op, platform::opcode code, test_file& file, void* data,
             std::size_t size, std::uint64_t offset);
inline void prepare_read(test_operation& op, test_file& file, void* data, std::size_t size,
                         std::uint64_t offset) {
    prepare(op, platform::opcode::read, file, data, size, offset);
}
inline void prepare_write(test_operation& op, test_file& file, const void* data, std::size_t size,
                          std::uint64_t offset) {
    prepare(op, platform::opcode::write, file, const_cast<void*>(data), size, offset);
}

/// Bytes in which no two places look alike.
std::string pattern(std::size_t size);

} // namespace sluice::test
