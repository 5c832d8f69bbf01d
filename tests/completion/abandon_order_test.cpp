// What happens to a waiter in every order: its completion, its end, the end of its source, the turn
// of its queue.
#include "support/counted.hpp"
#include "support/home_coroutine.hpp"
#include "support/resume_modes.hpp"

#include <sluice/completion/completion_source.hpp>
#include <sluice/runtime/io_runtime.hpp>

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

namespace sluice::test {

namespace {

// What can happen to a waiter after it registered, in an order; and after which of these the queue
// has its turn.
struct sequence {
    std::string order;  // c: completed, w: the waiter is destroyed, s: the source is
    unsigned turns = 0; // bit i: after the event i
    resume_mode mode = resume_mode::inline_;
    bool at_home = false; // on the thread that runs the queue, where a waiter needs no atomics

    std::size_t first_end() const { return std::min(order.find('c'), order.find('s')); }
    bool resumes() const {
        const std::size_t end = first_end();
        const std::size_t gone = order.find('w');
        if (gone < end)
            return false;
        if (at_home && mode == resume_mode::inline_)
            return true;
        return ((turns >> end) & ((1U << (gone - end)) - 1)) != 0;
    }
};

std::ostream& operator<<(std::ostream& out, const sequence& of) {
    return out << of.order << ", turns " << of.turns << ", mode " << of.mode
               << (of.at_home ? ", at home" : "");
}

struct sequence_fixture {
    ~sequence_fixture() { BOOST_TEST(counted::alive() == 0); }

    io_runtime runtime;
    std::unique_ptr<completion_source<counted>> source =
        std::make_unique<completion_source<counted>>(runtime.get_executor());
    bool resumed = false;
    std::optional<home_coroutine> waiting;

    template <class Function>
    void on_runtime(Function function) {
        boost::asio::post(runtime.get_executor(), std::move(function));
        runtime.run();
    }

    home_coroutine await() {
        const auto outcome = co_await source->task().as_result();
        resumed = true;
    }
    void happens(char event) {
        if (event == 'c' && source != nullptr)
            source->set_result(counted(1));
        else if (event == 'w')
            waiting.reset();
        else if (event == 's')
            source.reset();
    }
    void outside(const sequence& of) {
        waiting.emplace(await());
        for (std::size_t i = 0; i < of.order.size(); ++i) {
            happens(of.order[i]);
            if ((of.turns >> i & 1) != 0)
                runtime.poll();
        }
    }
    void at_home(const sequence& of, std::size_t i) {
        if (i == 0)
            waiting.emplace(await());
        for (bool turn = false; i < of.order.size() && !turn; ++i) {
            happens(of.order[i]);
            turn = (of.turns >> i & 1) != 0;
        }
        if (i < of.order.size())
            boost::asio::post(runtime.get_executor(), [this, &of, i] { at_home(of, i); });
    }
};

} // namespace

BOOST_AUTO_TEST_SUITE(abandon_order)

BOOST_AUTO_TEST_CASE(no_waiter_is_resumed_after_its_end_and_no_result_stays) {
    std::string order = "csw";
    do {
        for (unsigned turns = 0; turns < 4; ++turns)
            for (const resume_mode mode : {resume_mode::inline_, resume_mode::queued})
                for (const bool at_home : {false, true}) {
                    const sequence of{order, turns, mode, at_home};
                    BOOST_TEST_CONTEXT(of) {
                        sequence_fixture fixture;
                        fixture.source->mode(mode);
                        if (at_home)
                            fixture.on_runtime([&] { fixture.at_home(of, 0); });
                        else
                            fixture.outside(of);
                        fixture.runtime.poll();
                        BOOST_TEST(fixture.resumed == of.resumes());
                        BOOST_TEST(counted::alive() == 0);
                    }
                }
    } while (std::next_permutation(order.begin(), order.end()));
}

// The same, and the source is used again afterwards.
BOOST_DATA_TEST_CASE_F(sequence_fixture, source_goes_on_after_a_waiter_that_was_destroyed,
                       both_modes) {
    source->mode(sample);
    for (const char* const order : {"cw", "wc"}) {
        on_runtime([&] {
            waiting.emplace(await());
            happens(order[0]);
            happens(order[1]);
        });
        resumed = false;
        source->reset();
        on_runtime([&] {
            waiting.emplace(await());
            happens('c');
        });
        BOOST_TEST(resumed);
        waiting.reset();
        source->reset();
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
