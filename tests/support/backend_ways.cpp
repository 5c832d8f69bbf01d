#include "support/backend_ways.hpp"

#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

namespace sluice::test {

namespace {

void count(platform::operation& op) { ++static_cast<test_operation&>(op).completed; }

} // namespace

test_operation::test_operation() { complete = &count; }

test_file::test_file(int descriptor) {
    if (descriptor < 0)
        throw std::runtime_error("no test file");
    std::uint64_t position = 0;
    const int flags = fcntl(descriptor, F_GETFL) & O_ACCMODE;
    const file_access access = flags == O_RDONLY   ? file_access::read
                               : flags == O_WRONLY ? file_access::write
                                                   : file_access::read_write;
    if (platform::adopt_descriptor(descriptor, access, handle, position) < 0)
        throw std::runtime_error("test file not adopted");
}

test_file::~test_file() {
    if (handle.descriptor >= 0)
        ::close(handle.descriptor);
}

std::unique_ptr<test_file> test_file::with(std::string_view text, int more_flags) {
    char name[] = "/var/tmp/sluice-test-XXXXXX"; // not /tmp, which may be in memory
    const int descriptor = mkostemp(name, O_CLOEXEC | more_flags);
    if (descriptor >= 0)
        unlink(name);
    auto made = std::make_unique<test_file>(descriptor);
    if (write(descriptor, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        throw std::runtime_error("test file not written");
    return made;
}

test_pipe::test_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw std::runtime_error("no pipe");
    output = std::make_unique<test_file>(ends[0]);
    input = std::make_unique<test_file>(ends[1]);
}

driver::driver(const way& how, platform::backend_options options) : exclusive_(how.exclusive) {
    options.choice = how.choice;
    backend_ = platform::make_backend(options);
    acquire();
}

driver::~driver() { release(); }

void driver::release() {
    if (exclusive_)
        backend_->release();
}

std::size_t driver::turn() {
    platform::operation_list finished;
    backend_->reap(finished);
    std::size_t count = 0;
    for (; !finished.empty(); ++count) {
        platform::operation& op = finished.pop_front();
        op.complete(op);
    }
    return count;
}

void driver::run() {
    run_until([this] { return backend_->in_flight() == 0; });
}

long driver::perform(test_operation& op) {
    const int before = op.completed;
    backend_->submit(op);
    run_until([&] { return op.completed > before; });
    return op.result;
}

void prepare(test_operation& op, platform::opcode code, test_file& file, void* data,
             std::size_t size, std::uint64_t offset) {
    static_cast<platform::request&>(op) = {};
    op.code = code;
    op.file = &file.handle;
    op.data = static_cast<std::byte*>(data);
    op.size = size;
    op.offset = offset;
}

std::string pattern(std::size_t size) {
    std::string text(size, '\0');
    std::uint32_t state = 1;
    for (char& c : text) {
        state = state * 1664525u + 1013904223u;
        c = static_cast<char>(state >> 24);
    }
    return text;
}

} // namespace sluice::test
