#include <sluice/platform/linux/uring_check.hpp>

#include <sluice/platform/fault_seam.hpp>
#include <sluice/platform/fork_mutex.hpp>
#include <sluice/platform/linux/uring_limits.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

namespace sluice::platform::uring {

namespace {

// A context can do nothing without these; a missing sync alone goes to a worker.
constexpr std::array<unsigned, 5> needed_opcodes = {IORING_OP_NOP, IORING_OP_READ, IORING_OP_WRITE,
                                                    IORING_OP_POLL_ADD, IORING_OP_ASYNC_CANCEL};

constexpr unsigned most_opcodes = 256; // as many as the field has values

class opcode_table {
public:
    long ask(ring& asked) noexcept {
        const raw_call_site site{raw_call::ring_probe, asked.descriptor(), most_opcodes,
                                 ~std::uint64_t{0}};
        return pass(site, [&](std::size_t size) -> long {
            return io_uring_register(static_cast<unsigned>(asked.descriptor()),
                                     IORING_REGISTER_PROBE, memory_, static_cast<unsigned>(size));
        });
    }

    bool has(unsigned code) const noexcept {
        const auto& head = *reinterpret_cast<const io_uring_probe*>(memory_);
        const raw_call_site site{raw_call::ring_probe, -1, 1, code};
        return pass(site, [&](std::size_t) -> long {
                   io_uring_probe_op row;
                   std::memcpy(&row, memory_ + sizeof head + code * sizeof row, sizeof row);
                   return code <= head.last_op && (row.flags & IO_URING_OP_SUPPORTED) != 0;
               }) > 0;
    }

private:
    alignas(io_uring_probe) unsigned char memory_[sizeof(io_uring_probe) +
                                                  most_opcodes * sizeof(io_uring_probe_op)]{};
};

// Static, because a kernel that hangs may still write to it after we gave up.
constexpr char test_text[] = "sluice";
char test_buffer[sizeof test_text];

// A file that is open already and has known bytes; -1 where memfd is not to be had.
int open_test_file() noexcept {
    const int file = memfd_create("sluice-self-test", MFD_CLOEXEC);
    if (file >= 0 && ::write(file, test_text, sizeof test_text) != sizeof test_text) {
        ::close(file);
        return -1;
    }
    return file;
}

void queue_read(ring& tested, int file) noexcept {
    io_uring_sqe& read = tested.next_entry();
    read.opcode = IORING_OP_READ;
    read.fd = file;
    read.addr = reinterpret_cast<std::uintptr_t>(test_buffer);
    read.len = sizeof test_text;
    read.user_data = sizeof test_text; // the result that is expected
}

// 0, or why not: the errno of a refused call, ETIME when nothing came, EIO when something wrong
// came.
long self_test(ring& tested) noexcept {
    std::memset(test_buffer, 0, sizeof test_buffer);
    const int file = open_test_file();
    tested.next_entry().opcode = IORING_OP_NOP;
    if (file >= 0)
        queue_read(tested, file);
    unsigned missing = tested.pending();
    bool wrong = false;
    long answer = 0;
    const auto deadline = std::chrono::steady_clock::now() + self_test_limit;
    while (missing > 0 && answer >= 0) {
        const __kernel_timespec limit{self_test_limit.count(), 0};
        answer = tested.enter(1, IORING_ENTER_GETEVENTS, &limit);
        if (answer == -EINTR)
            answer = 0;
        tested.take_completions([&](std::uint64_t expected, int result) {
            --missing;
            wrong = wrong || result != static_cast<int>(expected);
        });
        if (missing > 0 && std::chrono::steady_clock::now() >= deadline)
            answer = -ETIME;
    }
    if (file >= 0)
        ::close(file);
    if (answer < 0)
        return answer;
    return wrong || (file >= 0 && std::memcmp(test_buffer, test_text, sizeof test_text) != 0) ? -EIO
                                                                                              : 0;
}

check_outcome try_ring() noexcept {
    ring tried;
    check_outcome outcome;
    static_cast<ring_outcome&>(outcome) =
        make_ring(tried, {fewest_entries, 2 * fewest_entries, false});
    if (outcome.result < 0)
        return outcome;
    opcode_table opcodes;
    if (const long answer = opcodes.ask(tried); answer < 0)
        return {{answer, "io_uring_register (probe)"}};
    for (const unsigned code : needed_opcodes)
        if (!opcodes.has(code))
            return {{-EOPNOTSUPP, "io_uring opcodes"}};
    outcome.can_sync = opcodes.has(IORING_OP_FSYNC);
    if (const long answer = self_test(tried); answer < 0)
        return {{answer, "io_uring self-test"}};
    return outcome;
}

bool may_pass(long result) noexcept {
    return result == -ENOMEM || result == -EMFILE || result == -ENFILE || result == -EAGAIN;
}

// Guarded by process_mutex.
std::optional<check_outcome> known;
pid_t known_in = 0; // the process that found out

} // namespace

check_outcome check() noexcept {
    const pid_t self = ::getpid();
    {
        const std::lock_guard lock(process_mutex);
        if (known && known_in == self)
            return *known;
    }
    const check_outcome outcome = try_ring(); // by each thread that asks before one knows
    const std::lock_guard lock(process_mutex);
    if (!may_pass(outcome.result)) {
        known = outcome;
        known_in = self;
    }
    return outcome;
}

void forget_check() noexcept {
    const std::lock_guard lock(process_mutex);
    known.reset();
}

} // namespace sluice::platform::uring
