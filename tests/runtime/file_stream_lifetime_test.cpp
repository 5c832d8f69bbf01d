// The end of a stream with operations in flight, of a runtime with streams, of coroutines that wait
// (design, 5.8; B06, B09, B19): nothing leaks, nothing is lost without being told.
#include "support/fault_script.hpp"
#include "support/open_descriptors.hpp"
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"
#include "support/transfer_faults.hpp"

#include <sluice/platform/adaptive_inlining.hpp>
#include <sluice/runtime/spawn.hpp>
#include <sluice/runtime/task.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <coroutine>

#include <fcntl.h>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
using platform::raw_call;
namespace data = boost::unit_test::data;

struct fixture : temp_file {
    std::vector<lost_report> lost;

    runtime_options options(const stream_way& way) {
        runtime_options result = options_for(way);
        result.on_lost = [this](const lost_report& report) { lost.push_back(report); };
        return result;
    }
};

bool is_open(int descriptor) { return fcntl(descriptor, F_GETFD) != -1; }

/// A pipe of which the test keeps one end.
struct pipe_of_test {
    int ends[2];
    pipe_of_test() { BOOST_REQUIRE(pipe2(ends, O_CLOEXEC) == 0); }
    ~pipe_of_test() {
        ::close(ends[0]);
        ::close(ends[1]);
    }
    /// The stream owns a duplicate.
    file_stream source(stream_driver& drive) {
        return drive.adopt(dup(ends[0]), file_access::read);
    }
    void write(std::string_view text) {
        BOOST_REQUIRE(::write(ends[1], text.data(), text.size()) ==
                      static_cast<ssize_t>(text.size()));
    }
};

/// A coroutine that its owner may destroy at any time.
struct breakable {
    struct promise_type {
        breakable get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> frame;
};

breakable wait_for_read(file_stream& s, std::span<std::byte> buffer, int& resumed) {
    (void)co_await s.read_async(buffer).as_result();
    ++resumed;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(stream_lifetimes, fixture)

BOOST_DATA_TEST_CASE_F(fixture, destroyed_with_reads_in_flight, data::make(asynchronous_ways()),
                       way) {
    stream_driver drive(way, options(way));
    pipe_of_test p;
    std::vector<std::string> buffers(3, std::string(4, '.'));
    std::vector<value_task<std::size_t>> reads;
    int descriptor = -1;
    {
        auto s = p.source(drive);
        descriptor = s.native_handle();
        drive.start([&] {
            for (std::string& buffer : buffers)
                reads.push_back(s.read_async(bytes_in(buffer)));
        });
        BOOST_TEST(!reads[0].is_completed());
    }
    for (auto& read : reads)
        SLUICE_TEST_ERROR(drive.wait_for(std::move(read)), cancelled_error());
    drive.run_until([&] { return !is_open(descriptor); });
    p.write("late");
    BOOST_TEST(buffers[0] == "....");
    BOOST_TEST(lost.empty());
    BOOST_TEST(statistics(drive.runtime).in_flight == 0u);
    BOOST_TEST(statistics(drive.runtime).cancelled == 3u);
}

BOOST_DATA_TEST_CASE_F(fixture, destroyed_with_writes_in_flight, data::make(asynchronous_ways()),
                       way) {
    stream_driver drive(way, options(way));
    value_task<void> cut, written;
    const std::string large = pattern_of(100'000);
    int descriptor = -1;
    {
        auto s = drive.open(path, file_mode::create, file_access::write);
        descriptor = s.native_handle();
        BOOST_TEST(drive.write(s, "held").has_value());
        drive.start([&] {
            cut = s.set_length_async(2);
            written = s.write_async(large);
        });
    }
    // Each ends in one way: done, or cancelled.
    const auto first = drive.wait_for(std::move(cut));
    const auto second = drive.wait_for(std::move(written));
    BOOST_TEST((first.has_value() || first.error() == cancelled_error()));
    BOOST_TEST((second.has_value() || second.error() == cancelled_error()));
    drive.run_until([&] { return !is_open(descriptor); });
    const std::string now = content();
    BOOST_TEST((now == "held" || now == "he" || now == "held" + large || now == "he" + large ||
                now == "he" + std::string(2, '\0') + large));
    BOOST_TEST(lost.empty());
}

// Nobody runs the loop any more: the runtime's end closes what the stream left to it.
BOOST_DATA_TEST_CASE_F(fixture, runtime_gone_before_the_last_close, data::make(all_stream_ways()),
                       way) {
    if (way.style == calling::synchronous)
        return;
    const std::size_t before = open_descriptors();
    {
        stream_driver drive(way, options(way));
        open_options wanted{.mode = file_mode::create, .access = file_access::write};
        wanted.options = file_options::delete_on_close; // closed on a worker
        auto removed = drive.try_open(folder / "removed", wanted).value();
        auto kept = drive.open(path, file_mode::create, file_access::write);
        BOOST_TEST(drive.write(kept, "held").has_value());
        drive.start([&] {
            (void)removed.set_length_async(2);
            (void)kept.set_length_async(10);
            (void)kept.flush_async();
        });
    }
    BOOST_TEST(open_descriptors() == before);
    BOOST_TEST(!std::filesystem::exists(folder / "removed"));
    BOOST_TEST(content().substr(0, 4) == "held");
    BOOST_TEST(lost.empty());
}

// The end cancels everything before anything gets its turn: no call goes on where one before it did
// not. The first is larger than what is ever written inline; the last would be.
BOOST_DATA_TEST_CASE_F(fixture, runtime_gone_gives_no_turns, data::make(asynchronous_ways()), way) {
    const std::string large = pattern_of(platform::adaptive_inlining::largest_inline + 4096);
    std::optional<stream_driver> drive(std::in_place, way, options(way));
    auto s = drive->open(path, file_mode::create, file_access::read_write);
    drive->start([&] {
        (void)s.write_async(large);
        for (int i = 0; i < 3; ++i) {
            (void)s.set_length_async(1);
            (void)s.write_async("after");
        }
    });
    drive.reset();
    s = file_stream();
    const std::string now = content();
    BOOST_TEST(now.size() <= large.size());
    BOOST_TEST((now == large.substr(0, now.size())));
    BOOST_TEST(lost.empty());
}

BOOST_DATA_TEST_CASE_F(fixture, lost_by_a_destructor, data::make(buffered_ways()), way) {
    stream_driver drive(way, options(way));
    {
        auto s = drive.open(path, file_mode::create, file_access::write);
        const int descriptor = s.native_handle();
        BOOST_TEST(drive.write(s, "abc").has_value());
        const write_faults faults(descriptor, {{ENOSPC}}, true);
        s = file_stream();
        BOOST_TEST(!is_open(descriptor));
    }
    BOOST_REQUIRE(lost.size() == 1u);
    BOOST_TEST(lost[0].bytes == 3u);
    BOOST_TEST(lost[0].code == errno_code(ENOSPC));
    BOOST_TEST(lost[0].path == path);
    BOOST_TEST(lost[0].operation == std::string("close"));
    BOOST_TEST(statistics(drive.runtime).lost_bytes == 3u);
    BOOST_TEST(statistics(drive.runtime).lost_errors == 1u);
}

BOOST_DATA_TEST_CASE_F(fixture, lost_by_nobody_listening, data::make(asynchronous_ways()), way) {
    stream_driver drive(way, options(way));
    auto s = drive.open(path, file_mode::create, file_access::write);
    const int descriptor = s.native_handle();
    const std::string large = pattern_of(100'000);
    const write_faults faults(descriptor, {{ENOSPC}}, true);
    value_task<void> last;
    drive.start([&] {
        last = s.set_length_async(0); // so that the write waits for its turn, in flight
        (void)s.write_async(large);   // detached
    });
    BOOST_TEST(drive.wait_for(std::move(last)).has_value());
    drive.run_until([&] { return !lost.empty(); });
    BOOST_REQUIRE(lost.size() == 1u);
    BOOST_TEST(lost[0].bytes == large.size());
    BOOST_TEST(lost[0].code == errno_code(ENOSPC));
    BOOST_TEST(lost[0].operation == std::string("write"));
    BOOST_TEST(statistics(drive.runtime).lost_bytes == large.size());
}

BOOST_DATA_TEST_CASE_F(fixture, destroyed_coroutine, data::make(asynchronous_ways()), way) {
    stream_driver drive(way, options(way));
    pipe_of_test p;
    auto s = p.source(drive);
    std::string buffer(4, '.');
    int resumed = 0;
    std::coroutine_handle<> waits;
    drive.start([&] { waits = wait_for_read(s, bytes_in(buffer), resumed).frame; });
    drive.start([&] { waits.destroy(); });
    drive.run_until([&] { return statistics(drive.runtime).cancelled == 1; });
    BOOST_TEST(resumed == 0);
    BOOST_TEST(statistics(drive.runtime).in_flight == 0u);
    p.write("next");
    BOOST_TEST(buffer == "....");
    BOOST_TEST(drive.read_text(s, 4) == "next"); // nothing was taken from it
}

namespace {
task<> read_and_count(file_stream s, std::shared_ptr<int> counted) {
    std::byte one{};
    (void)co_await s.read_async(std::span(&one, 1)).as_result();
    *counted = 1;
}
} // namespace

BOOST_DATA_TEST_CASE_F(fixture, runtime_destroyed_with_waiting_coroutines,
                       data::make(asynchronous_ways()), way) {
    const std::size_t before = open_descriptors();
    const auto counted = std::make_shared<int>(0);
    {
        pipe_of_test p;
        stream_driver drive(way, options(way));
        for (int i = 0; i < 100; ++i)
            spawn(drive.runtime.get_executor(), read_and_count(p.source(drive), counted));
        drive.runtime.poll();
        BOOST_TEST(statistics(drive.runtime).in_flight == 100u);
        BOOST_TEST(counted.use_count() == 101);
    }
    BOOST_TEST(counted.use_count() == 1);
    BOOST_TEST(*counted == 0);
    BOOST_TEST(open_descriptors() == before);
}

BOOST_DATA_TEST_CASE_F(fixture, stream_outlives_its_runtime, data::make(all_stream_ways()), way) {
    auto drive = std::make_unique<stream_driver>(way, options(way));
    auto s = drive->open(path, file_mode::create, file_access::read_write);
    auto other = drive->open(folder / "other", file_mode::create, file_access::read_write);
    BOOST_TEST(drive->write(s, "abc").has_value());
    BOOST_TEST(drive->write(other, "other").has_value());
    drive.reset();
    s.write("def");
    BOOST_TEST(s.position() == 6u);
    s.flush();
    BOOST_TEST(content() == "abcdef");
    s.write("ghi");
    auto written = s.write_async("x");
    auto read = s.read_async(std::span<std::byte>());
    BOOST_REQUIRE(written.is_completed());
    BOOST_REQUIRE(read.is_completed());
    if (way.buffer_size > 1) // into the buffer, as ever
        BOOST_TEST(written.get_result().has_value());
    else
        SLUICE_TEST_ERROR(written.get_result(), errc::closed);
    SLUICE_TEST_ERROR(read.get_result(), errc::closed);
    auto closed = s.close_async();
    BOOST_REQUIRE(closed.is_completed());
    BOOST_TEST(closed.get_result().has_value());
    BOOST_TEST(content().substr(0, 9) == "abcdefghi");
    BOOST_CHECK_THROW((void)other.get_executor(), file_error);
    other = file_stream();
    BOOST_TEST(temp_folder::content_of(folder / "other") == "other");
}

// What a handler holds is destroyed with the runtime, on a thread that counts as its loop's.
BOOST_DATA_TEST_CASE_F(fixture, called_while_the_runtime_ends, data::make(asynchronous_ways()),
                       way) {
    struct at_its_end {
        std::function<void()> call;
        ~at_its_end() { call(); }
    };
    std::optional<stream_driver> drive(std::in_place, way, options(way));
    auto s = drive->open(path, file_mode::create, file_access::read_write);
    std::string text = "0123456789";
    unsigned ended = 0; // at once: done with the buffer alone, or refused
    const auto at_once = [](auto task) {
        if (!task.is_completed())
            return 0U;
        const auto outcome = task.get_result();
        return outcome.has_value() || outcome.error() == errc::closed ? 1U : 0U;
    };
    auto held = std::make_unique<at_its_end>([&] {
        ended += at_once(s.read_async(bytes_in(text)));
        ended += at_once(s.write_async(text));
        ended += at_once(s.set_length_async(3));
    });
    boost::asio::post(drive->runtime.get_executor(), [held = std::move(held)] {});
    drive.reset();
    BOOST_TEST(ended == 3u);
}

// A stream may go in the callback of its own operation, and so may the next operation start there.
BOOST_DATA_TEST_CASE_F(fixture, destroyed_in_its_own_callback, data::make(asynchronous_ways()),
                       way) {
    stream_driver drive(way, options(way));
    auto s =
        std::make_unique<file_stream>(drive.open(path, file_mode::create, file_access::read_write));
    const int descriptor = s->native_handle();
    bool done = false;
    drive.start([&] {
        s->set_length_async(5).on_completed([&](error_code first) {
            BOOST_TEST(first == error_code());
            s->write_async("abc").on_completed([&](error_code second) {
                BOOST_TEST(second == error_code());
                s.reset();
                done = true;
            });
        });
    });
    drive.run_until([&] { return done; });
    drive.run_until([&] { return !is_open(descriptor); });
    BOOST_TEST(content() == std::string("abc\0\0", 5));
}

BOOST_DATA_TEST_CASE_F(fixture, moved_with_operations_in_flight, data::make(asynchronous_ways()),
                       way) {
    stream_driver drive(way, options(way));
    auto s = drive.open(path, file_mode::create, file_access::read_write);
    value_task<void> cut, written;
    drive.start([&] {
        cut = s.set_length_async(5);
        written = s.write_async("abc");
    });
    file_stream moved = std::move(s);
    BOOST_TEST(drive.wait_for(std::move(cut)).has_value());
    BOOST_TEST(drive.wait_for(std::move(written)).has_value());
    BOOST_TEST(drive.close(moved).has_value());
    BOOST_TEST(content() == std::string("abc\0\0", 5));
}

// A13: a thousand times closed, a thousand times whole, as another process would see it.
BOOST_DATA_TEST_CASE_F(fixture, whole_after_close, data::make(some_stream_ways()), way) {
    stream_driver drive(way, options(way));
    const std::size_t before = open_descriptors();
    for (int i = 0; i < 150; ++i) {
        auto s = drive.open(path, file_mode::create, file_access::write);
        BOOST_REQUIRE(drive.write(s, "0123456789").has_value());
        if (i % 2 == 0)
            BOOST_REQUIRE(drive.close(s).has_value());
        s = file_stream();
        BOOST_REQUIRE(std::filesystem::file_size(path) == 10);
    }
    BOOST_TEST(open_descriptors() <= before + 4); // the loop's own came in between
    BOOST_TEST(lost.empty());
}

BOOST_AUTO_TEST_SUITE_END()
