// Drives a backend as a loop would: submits, reaps, waits, and keeps what finished in order.
#pragma once

#include <sluice/platform/backend.hpp>
#include <sluice/platform/posix/file_handle.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace sluice::test {

class backend_driver {
public:
    explicit backend_driver(platform::backend& driven) : backend_(driven) {
        backend_.acquire(false);
    }
    ~backend_driver() { backend_.release(); }
    backend_driver(const backend_driver&) = delete;
    backend_driver& operator=(const backend_driver&) = delete;

    /// Waits until `count` more operations finished.
    void wait_for(std::size_t count) {
        const std::size_t target = finished.size() + count;
        for (take(); finished.size() < target; take())
            backend_.wait(platform::backend::clock::time_point::max());
    }
    /// Takes what finished already.
    void take() {
        platform::operation_list list;
        backend_.reap(list);
        while (!list.empty())
            finished.push_back(&list.pop_front());
    }
    /// Submits one operation and waits for it.
    long run(platform::operation& op) {
        const auto before = static_cast<std::ptrdiff_t>(finished.size());
        backend_.submit(op);
        do
            wait_for(1);
        while (std::find(finished.begin() + before, finished.end(), &op) == finished.end());
        return op.result;
    }

    std::vector<platform::operation*> finished;

private:
    platform::backend& backend_;
};

inline platform::operation make_operation(platform::opcode code, platform::file_handle& file,
                                          std::span<std::byte> data = {},
                                          std::uint64_t offset = 0) {
    platform::operation op;
    op.code = code;
    op.file = &file;
    op.data = data.data();
    op.size = data.size();
    op.offset = offset;
    return op;
}

/// A copy of the text that an operation may write from and read into.
inline std::vector<std::byte> bytes_of(std::string_view text) {
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    return {first, first + text.size()};
}

} // namespace sluice::test
