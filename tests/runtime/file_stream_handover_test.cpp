// A stream handed from a thread outside to the loop and back: calls keep their order although the
// first ones are still on their way, and what is on its way outlives the stream.
#include "support/fault_script.hpp"
#include "support/open_descriptors.hpp"
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"

#include <boost/asio/post.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <cerrno>
#include <memory>
#include <optional>

namespace {

using namespace sluice;
using namespace sluice::test;
using platform::raw_call;
namespace data = boost::unit_test::data;

struct fixture : temp_file {
    /// No call is finished within itself.
    static runtime_options nothing_inline(const stream_way& way) {
        runtime_options options = options_for(way);
        options.inline_budget.blocking_time = {};
        return options;
    }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(stream_handovers, fixture)

BOOST_DATA_TEST_CASE_F(fixture, writes_before_and_on_the_loop, data::make(asynchronous_ways()),
                       way) {
    for (const file_mode mode : {file_mode::create, file_mode::append}) {
        folder.make("file", "");
        stream_driver drive(way, nothing_inline(way));
        auto s = drive.open(path, mode, file_access::write);
        const std::array pieces{std::string(10, '1'), std::string(10, '2'), std::string(10, '3'),
                                std::string(10, '4')};
        std::vector<value_task<void>> done;
        boost::asio::post(drive.runtime.get_executor(), [&] {
            done.push_back(s.write_async(pieces[2]));
            done.push_back(s.write_async(pieces[3]));
        });
        done.push_back(s.write_async(pieces[0]));
        done.push_back(s.write_async(pieces[1]));
        drive.run_until([&] { return done.size() == 4 && done.back().is_completed(); });
        for (auto& task : done)
            BOOST_TEST(drive.wait_for(std::move(task)).has_value());
        BOOST_TEST(drive.flush(s).has_value());
        BOOST_TEST(content() == pieces[0] + pieces[1] + pieces[2] + pieces[3]);
    }
}

BOOST_DATA_TEST_CASE_F(fixture, reads_before_and_on_the_loop, data::make(asynchronous_ways()),
                       way) {
    const std::string text = pattern_of(40);
    folder.make("file", text);
    stream_driver drive(way, nothing_inline(way));
    auto s = drive.open(path);
    std::optional<fault_script> script;
    script.emplace(
        std::vector<fault>{{.call = raw_call::read_no_wait, .error = EAGAIN, .times = 1}});
    std::string first(4, '.');
    std::string second(4, '.');
    value_task<std::size_t> one;
    value_task<std::size_t> two;
    bool both = false;
    boost::asio::post(drive.runtime.get_executor(), [&] {
        two = s.read_async(bytes_in(second));
        both = true;
    });
    one = s.read_async(bytes_in(first));
    drive.run_until([&] { return both && one.is_completed() && two.is_completed(); });
    BOOST_TEST(one.get() == 4u);
    BOOST_TEST(two.get() == 4u);
    BOOST_TEST(first == text.substr(0, 4));
    BOOST_TEST(second == text.substr(4, 4));
    BOOST_TEST(s.position() == 8u);
}

// What runs beside others waits for what runs alone, although that is still on its way.
BOOST_DATA_TEST_CASE_F(fixture, length_set_before_a_transfer_on_the_loop,
                       data::make(asynchronous_ways()), way) {
    for (const bool writes : {true, false}) {
        folder.make("file", "0123456789");
        stream_driver drive(way, nothing_inline(way));
        auto s = drive.open(path, file_mode::open, file_access::read_write);
        std::string got(10, '.');
        value_task<void> cut;
        value_task<std::size_t> read;
        value_task<void> written;
        bool called = false;
        boost::asio::post(drive.runtime.get_executor(), [&] {
            if (writes)
                written = s.write_async("abc");
            else
                read = s.read_async(bytes_in(got));
            called = true;
        });
        cut = s.set_length_async(0);
        drive.run_until([&] {
            return called && cut.is_completed() &&
                   (writes ? written.is_completed() : read.is_completed());
        });
        BOOST_TEST(cut.get_result().has_value());
        if (!writes)
            BOOST_TEST(read.get() == 0u);
        else
            BOOST_TEST(written.get_result().has_value());
        BOOST_TEST(drive.flush(s).has_value());
        BOOST_TEST(content() == (writes ? "abc" : ""));
    }
}

// The handler that owns the stream comes before the call that is on its way.
BOOST_DATA_TEST_CASE_F(fixture, destroyed_on_the_loop_before_a_call_begins,
                       data::make(asynchronous_ways()), way) {
    for (const bool runs : {true, false}) {
        folder.make("file", "0123456789");
        const std::size_t before = open_descriptors();
        {
            stream_driver drive(way, nothing_inline(way));
            auto s = std::make_shared<file_stream>(
                drive.open(path, file_mode::open, file_access::read_write));
            boost::asio::post(drive.runtime.get_executor(), [s]() mutable { s.reset(); });
            {
                const auto dropped = s->set_length_async(3);
            }
            {
                const auto dropped = s->write_async("abc");
            }
            s.reset();
            if (runs)
                drive.runtime.run();
        }
        // The destructor asks them to end; what had begun may have been done.
        const std::size_t size = content().size();
        BOOST_TEST((size == 3u || size == 10u));
        BOOST_TEST(open_descriptors() == before);
    }
}

// What is in the buffer belongs to a position, which a call that ends short corrects.
BOOST_DATA_TEST_CASE_F(fixture, small_read_behind_a_large_one_that_is_stopped,
                       data::make(asynchronous_ways()), way) {
    constexpr std::size_t large = 200'000;
    const std::string text = pattern_of(2 * large + 100'000);
    folder.make("file", text);
    runtime_options options = nothing_inline(way);
    options.max_in_flight = 1;
    options.worker_threads = 1;
    stream_driver drive(way, options);
    auto s = drive.open(path);
    BOOST_TEST(drive.read_text(s, 10) == text.substr(0, 10)); // the buffer is there from now on
    s.position(0);
    BOOST_TEST(drive.flush(s).has_value());
    std::string a(large, '.');
    std::string b(large, '.');
    std::string c(10, '.');
    std::stop_source stop;
    value_task<std::size_t> read_a;
    value_task<std::size_t> read_b;
    value_task<std::size_t> read_c;
    drive.start([&] {
        {
            const fault_script cold(
                {{.call = raw_call::read_no_wait, .error = EAGAIN, .times = always}});
            read_a = s.read_async(bytes_in(a));
            read_b = s.read_async(bytes_in(b), stop.get_token());
        }
        read_c = s.read_async(bytes_in(c));
        stop.request_stop();
    });
    BOOST_TEST(drive.wait_for(std::move(read_a)).value() == large);
    const auto stopped = drive.wait_for(std::move(read_b));
    BOOST_TEST(drive.wait_for(std::move(read_c)).value() == 10u);
    if (stopped.has_value()) // it had begun
        BOOST_TEST(*stopped == large);
    const std::uint64_t at = s.position();
    BOOST_TEST(drive.read_text(s, 10) == text.substr(at, 10));
    s.position(at + 400);
    BOOST_TEST(drive.read_text(s, 10) == text.substr(at + 400, 10));
}

BOOST_AUTO_TEST_SUITE_END()
