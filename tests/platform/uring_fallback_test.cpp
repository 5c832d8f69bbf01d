// io_uring is really refused, at the start or in the middle: every operation still ends, with its
// result, and the backend says what it is now and why. In children, since a filter cannot be taken
// back.
#include "support/backend_ways.hpp"
#include "support/child_process.hpp"
#include "support/environment.hpp"
#include "support/fault_script.hpp"
#include "support/refuse_io_uring.hpp"

#include <sluice/platform/linux/uring_check.hpp>

#include <boost/system/system_error.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cerrno>

#include <sys/resource.h>
#include <unistd.h>

using namespace sluice;
using namespace sluice::test;
using platform::own_position;
using platform::path_taken;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(uring_fallback)

namespace {

bool has(const std::string& text, std::string_view words) {
    return text.find(words) != std::string::npos;
}

bool is_threads(driver& d, int reason) {
    const backend_info info = d->capabilities();
    return info.kind == backend_kind::threads && info.reason == reason &&
           has(info.explanation, "seccomp") &&
           has(info.explanation, "/proc/sys/kernel/io_uring_disabled");
}

/// Reads, writes, syncs, a pipe that waits and one that is cancelled.
int do_everything(driver& d) {
    const std::string text = pattern(300'000);
    const auto file = test_file::with(text);
    std::string seen(text.size(), '?');
    test_operation op;
    prepare_read(op, *file, seen.data(), seen.size(), 0);
    SLUICE_EXPECT(d.perform(op) == 300'000 && seen == text);
    SLUICE_EXPECT(op.path == path_taken::fallback);
    prepare_write(op, *file, "new", 3, 5);
    SLUICE_EXPECT(d.perform(op) == 3);
    prepare(op, platform::opcode::sync_data, *file, nullptr, 0, 0);
    SLUICE_EXPECT(d.perform(op) == 0);
    test_pipe pipe;
    char buffer[8];
    prepare_read(op, *pipe.output, buffer, sizeof buffer, own_position);
    d->submit(op);
    d->flush();
    SLUICE_EXPECT(write(pipe.input->descriptor(), "hello", 5) == 5);
    d.run();
    SLUICE_EXPECT(op.result == 5);
    prepare_read(op, *pipe.output, buffer, sizeof buffer, own_position);
    d->submit(op);
    d->flush();
    d->cancel(op);
    d.run();
    SLUICE_EXPECT(op.result == -ECANCELED);
    return 0;
}

struct refusal {
    int error;
    refused_calls which;
};
const std::array<refusal, 5> refusals = {{
    {EPERM, refused_calls::all},
    {ENOSYS, refused_calls::all},
    {EACCES, refused_calls::all},
    {EPERM, refused_calls::setup_only},
    {EPERM, refused_calls::enter_only},
}};
std::ostream& operator<<(std::ostream& out, const refusal& r) {
    return out << r.error << '/' << r.which;
}

} // namespace

BOOST_DATA_TEST_CASE(refused_from_the_start, data::make(refusals) * data::make({0, 77}), what,
                     stale) {
    SLUICE_CHECK_CHILD([&] {
        platform::uring::forget_check();
        const environment no_choice("SLUICE_BACKEND", nullptr);
        SLUICE_EXPECT(refuse_io_uring(what.error, what.which));
        errno = stale;
        driver d({"default", backend_choice::auto_, true});
        SLUICE_EXPECT(is_threads(d, what.error)); // before any operation
        if (const int failed = do_everything(d))
            return failed;
        SLUICE_EXPECT(is_threads(d, what.error));
        SLUICE_EXPECT(!platform::available_backends()[0].usable);
        try {
            driver strict(ring_ways[0]);
            return child_failed(__FILE__, __LINE__, "a ring that was refused was made");
        } catch (const boost::system::system_error& error) {
            SLUICE_EXPECT(error.code().value() == what.error);
            SLUICE_EXPECT(has(error.what(), "io_uring_disabled"));
        }
        return 0;
    });
}

BOOST_DATA_TEST_CASE(refused_after_the_check, data::make(ring_ways), how) {
    SLUICE_CHECK_CHILD([&] {
        const environment no_choice("SLUICE_BACKEND", nullptr);
        driver d({"default", backend_choice::auto_, how.exclusive});
        SLUICE_EXPECT(d->capabilities().kind == backend_kind::uring);
        SLUICE_EXPECT(refuse_io_uring(EPERM));
        if (const int failed = do_everything(d))
            return failed;
        SLUICE_EXPECT(is_threads(d, EPERM));
        return 0;
    });
}

// Whatever a filter answers; some of it looks as if the ring were gone, busy, or had waited.
const std::array<int, 9> refused_in_the_middle = {EPERM, ENOSYS, EBADF, EOPNOTSUPP, EINVAL,
                                                  EBUSY, EAGAIN, EINTR, ETIME};

// The ring has it all in hand when it is taken away: pipes that wait, pipes that answer, reads that
// io-wq is doing, entries that were never submitted.
BOOST_DATA_TEST_CASE(refused_with_operations_in_flight,
                     data::make(ring_ways) *
                         data::make({refused_calls::all, refused_calls::enter_only}) *
                         data::make({false, true}) * data::make(refused_in_the_middle),
                     how, which, by_handle, reason) {
    if (by_handle && how.exclusive)
        return;
    SLUICE_CHECK_CHILD([&, calls = which] {
        const std::string text = pattern(4 << 20);
        const auto file = test_file::with(text);
        test_pipe pipes[3];
        std::string buffers[3] = {std::string(8, '\0'), std::string(8, '\0'), std::string(8, '\0')};
        std::string large(text.size(), '?');
        std::string small(4096, '?');
        test_operation reads[3];
        test_operation on_disk[2];
        driver d(how);
        if (by_handle)
            SLUICE_EXPECT(d->wait_handle() >= 0);
        for (int i = 0; i < 3; ++i) {
            prepare_read(reads[i], *pipes[i].output, buffers[i].data(), 8, own_position);
            d->submit(reads[i]);
        }
        prepare_read(on_disk[0], *file, large.data(), large.size(), 0);
        d->submit(on_disk[0]);
        d->flush();
        prepare_read(on_disk[1], *file, small.data(), small.size(), 4096);
        d->submit(on_disk[1]);
        SLUICE_EXPECT(write(pipes[0].input->descriptor(), "first", 5) == 5);
        d->cancel(reads[2]);
        SLUICE_EXPECT(refuse_io_uring(reason, calls));
        d.run_until([&] {
            return reads[0].completed && reads[2].completed && on_disk[0].completed &&
                   on_disk[1].completed;
        });
        SLUICE_EXPECT(reads[0].result == 5 && buffers[0].substr(0, 5) == "first");
        SLUICE_EXPECT(reads[2].result == -ECANCELED);
        SLUICE_EXPECT(on_disk[0].result == static_cast<long>(text.size()) && large == text);
        SLUICE_EXPECT(on_disk[1].result == 4096 && small == text.substr(4096, 4096));
        SLUICE_EXPECT(reads[1].completed == 0);
        SLUICE_EXPECT(write(pipes[1].input->descriptor(), "second", 6) == 6);
        d.run();
        SLUICE_EXPECT(reads[1].result == 6);
        SLUICE_EXPECT(d->capabilities().kind == backend_kind::threads);
        SLUICE_EXPECT(d->capabilities().reason == reason);
        return do_everything(d);
    });
}

BOOST_DATA_TEST_CASE(refused_at_release,
                     data::make({refused_calls::all, refused_calls::enter_only}) *
                         data::make(refused_in_the_middle),
                     which, reason) {
    SLUICE_CHECK_CHILD([&, calls = which] {
        const auto file = test_file::with(pattern(1 << 20));
        test_pipe pipe;
        char buffer[4];
        std::string large(1 << 20, '?');
        test_operation ops[2];
        driver d(ring_ways[0]);
        prepare_read(ops[0], *pipe.output, buffer, 4, own_position);
        prepare_read(ops[1], *file, large.data(), large.size(), 0);
        for (test_operation& op : ops)
            d->submit(op);
        d->flush();
        SLUICE_EXPECT(refuse_io_uring(reason, calls));
        d.release();
        d.acquire();
        SLUICE_EXPECT(write(pipe.input->descriptor(), "text", 4) == 4);
        d.run();
        SLUICE_EXPECT(ops[0].result == 4 && ops[1].result == 1 << 20);
        return 0;
    });
}

// A program that closes every descriptor it does not know, as daemons do, has closed the ring; the
// number may be a file's by now, which must stay open.
BOOST_DATA_TEST_CASE(somebody_closed_the_ring, data::make(ring_ways), how) {
    SLUICE_CHECK_CHILD([&] {
        const auto file = test_file::with("text");
        driver d(how);
        char buffer[4];
        test_operation op;
        prepare_read(op, *file, buffer, 4, 0);
        SLUICE_EXPECT(d.perform(op) == 4);
        int ring = -1;
        for (int i = 3; i < 64; ++i) {
            char target[64] = {};
            const std::string link = "/proc/self/fd/" + std::to_string(i);
            if (readlink(link.c_str(), target, sizeof target - 1) > 0 && has(target, "io_uring"))
                ring = i;
        }
        SLUICE_EXPECT(ring > 0);
        SLUICE_EXPECT(dup2(file->descriptor(), ring) == ring); // somebody's file now
        SLUICE_EXPECT(d.perform(op) == 4);
        SLUICE_EXPECT(d->capabilities().kind == backend_kind::threads);
        SLUICE_EXPECT(fcntl(ring, F_GETFD) >= 0);
        return 0;
    });
}

BOOST_DATA_TEST_CASE(no_memory_may_be_locked, data::make({0, 4096, 65536}), bytes) {
    SLUICE_CHECK_CHILD([limit = bytes] {
        platform::uring::forget_check();
        const environment no_choice("SLUICE_BACKEND", nullptr);
        const auto file = test_file::with("text");
        const rlimit none{static_cast<rlim_t>(limit), static_cast<rlim_t>(limit)};
        SLUICE_EXPECT(setrlimit(RLIMIT_MEMLOCK, &none) == 0);
        if (geteuid() == 0) // root may lock what it likes
            SLUICE_EXPECT(setgid(65534) == 0 && setuid(65534) == 0);
        driver d({"default", backend_choice::auto_, true});
        char buffer[4];
        test_operation op;
        prepare_read(op, *file, buffer, 4, 0);
        SLUICE_EXPECT(d.perform(op) == 4);
        const backend_info info = d->capabilities();
        SLUICE_EXPECT(info.kind == backend_kind::uring || has(info.explanation, "RLIMIT_MEMLOCK"));
        return 0;
    });
}

BOOST_AUTO_TEST_SUITE_END()
