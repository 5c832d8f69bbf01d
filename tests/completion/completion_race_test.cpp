// Two threads at one source at the same moment. What counts is checked here; ThreadSanitizer and
// AddressSanitizer see the rest.
#include "support/counted.hpp"
#include "support/home_coroutine.hpp"
#include "support/race_partner.hpp"
#include "support/race_rounds.hpp"
#include "support/seed.hpp"

#include <sluice/completion/completion_source.hpp>
#include <sluice/runtime/io_runtime.hpp>
#include <sluice/runtime/sync_wait.hpp>
#include <sluice/runtime/task.hpp>

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <memory>
#include <optional>
#include <thread>

namespace sluice::test {

namespace {

struct race_fixture {
    ~race_fixture() { BOOST_TEST(counted::alive() == 0); }

    io_runtime runtime;
    race_partner partner{new_seed()};
    std::optional<completion_source<counted>> source{std::in_place, runtime.get_executor()};

    void renew(int round) {
        source->reset();
        source->mode(round % 2 == 0 ? resume_mode::inline_ : resume_mode::queued);
    }
};

const error_code cancelled{ECANCELED, boost::system::system_category()};

} // namespace

BOOST_FIXTURE_TEST_SUITE(completion_race_test, race_fixture)

BOOST_AUTO_TEST_CASE(completion_against_await) {
    for (const int round : race_rounds()) {
        renew(round);
        int seen = -1;
        partner.race([&] { source->set_result(counted(round)); },
                     [&] { seen = sync_wait(runtime, source->task()).value; });
        BOOST_REQUIRE(seen == round);
    }
}

BOOST_AUTO_TEST_CASE(completion_against_callback) {
    for (const int round : race_rounds()) {
        renew(round);
        int seen = -1;
        int calls = 0;
        partner.race([&] { source->set_result(counted(round)); },
                     [&] {
                         source->task().on_completed([&](error_code, counted value) {
                             seen = value.value;
                             ++calls;
                         });
                     });
        runtime.poll();
        BOOST_REQUIRE(seen == round);
        BOOST_REQUIRE(calls == 1);
    }
}

BOOST_AUTO_TEST_CASE(completion_against_destruction_of_the_ticket) {
    for (const int round : race_rounds()) {
        renew(round);
        auto ticket = std::make_unique<value_task<counted>>(source->task());
        partner.race([&] { source->set_result(counted(round)); }, [&] { ticket.reset(); });
        BOOST_REQUIRE(counted::alive() == 0);
    }
}

// Two tickets: one is dropped by another thread while this one is read, awaited, given a callback,
// before the completion or after it, with the owner there or gone. Either has the result, whole and
// once, or is refused.
BOOST_AUTO_TEST_CASE(use_of_a_ticket_against_destruction_of_another) {
    unsigned used = 0;
    unsigned refused = 0;
    for (const int round : race_rounds()) {
        source.emplace(runtime.get_executor(),
                       round % 2 == 0 ? resume_mode::inline_ : resume_mode::queued);
        std::optional<value_task<counted>> dropped(source->task());
        auto kept = source->task();
        if (round % 3 != 0)
            source->set_result(counted(round));
        if (round % 3 == 2)
            source.reset();
        int seen = round;
        const auto use = [&] {
            switch (round % 3 == 0 ? 1 + round % 2 : round % 4) {
            case 0: seen = kept.get().value; break;
            case 1: seen = sync_wait(runtime, std::move(kept)).value; break;
            case 2:
                std::move(kept).on_completed(
                    [&](error_code, counted value) { seen = value.value; });
                break;
            default: seen = kept.get_result().value().value;
            }
        };
        const auto complete = [&] { (void)source->try_set_result(counted(round)); };
        partner.race([&] { dropped.reset(); },
                     [&] {
                         if (round % 3 == 0)
                             boost::asio::post(runtime.get_executor(), complete);
                         try {
                             use();
                             ++used;
                         } catch (const invalid_operation&) {
                             ++refused;
                         }
                     });
        runtime.poll();
        BOOST_REQUIRE(seen == round);
    }
    BOOST_TEST_MESSAGE(used << " used, " << refused << " refused");
}

BOOST_AUTO_TEST_CASE(completion_against_destruction_of_the_waiting_coroutine) {
    auto body = [&]() -> home_coroutine { co_await source->task(); };
    for (const int round : race_rounds()) {
        renew(round);
        home_coroutine waiting = body();
        partner.race([&] { source->set_result(counted(round)); }, [&] { waiting.destroy(); });
        runtime.poll();
        BOOST_REQUIRE(counted::alive() == 0);
    }
}

BOOST_AUTO_TEST_CASE(completion_and_end_of_the_source_against_await) {
    for (const int round : race_rounds()) {
        source.emplace(runtime.get_executor());
        auto ticket = source->task();
        int seen = -1;
        partner.race(
            [&] {
                source->set_result(counted(round));
                source.reset();
            },
            [&] { seen = sync_wait(runtime, std::move(ticket)).value; });
        BOOST_REQUIRE(seen == round);
    }
}

BOOST_AUTO_TEST_CASE(end_of_the_source_against_await) {
    for ([[maybe_unused]] const int round : race_rounds()) {
        source.emplace(runtime.get_executor());
        auto ticket = source->task();
        error_code seen;
        auto body = [&]() -> task<> { seen = (co_await std::move(ticket).as_result()).error(); };
        partner.race([&] { source.reset(); }, [&] { sync_wait(runtime, body()); });
        BOOST_REQUIRE(seen == make_error_code(errc::abandoned));
    }
}

BOOST_AUTO_TEST_CASE(end_of_the_source_against_destruction_of_the_ticket) {
    for (const int round : race_rounds()) {
        source.emplace(runtime.get_executor());
        auto ticket = std::make_unique<value_task<counted>>(source->task());
        partner.race(
            [&] {
                if (round % 2 == 0)
                    source->set_result(counted(round));
                source.reset();
            },
            [&] { ticket.reset(); });
        BOOST_REQUIRE(counted::alive() == 0);
    }
}

BOOST_AUTO_TEST_CASE(completion_against_cancellation_one_wins_and_is_seen) {
    for (const int round : race_rounds()) {
        renew(round);
        bool completed = false;
        bool was_cancelled = false;
        int calls = 0;
        error_code seen;
        source->task().on_completed([&](error_code code, counted value) {
            ++calls;
            seen = code;
            BOOST_TEST(value.value == (code ? 0 : round));
        });
        partner.race([&] { completed = source->try_set_result(counted(round)); },
                     [&] { was_cancelled = source->try_set_error(cancelled); });
        runtime.poll();
        BOOST_REQUIRE(calls == 1);
        BOOST_REQUIRE(completed != was_cancelled);
        BOOST_REQUIRE(seen == (was_cancelled ? cancelled : error_code()));
    }
}

BOOST_AUTO_TEST_CASE(completion_against_deadline_one_wins_and_is_seen) {
    for (const int round : race_rounds()) {
        renew(round);
        bool completed = false;
        error_code seen;
        auto body = [&]() -> task<> {
            const auto outcome =
                co_await source->task().deadline(std::chrono::steady_clock::now()).as_result();
            seen = outcome ? error_code() : outcome.error();
        };
        partner.race(
            [&] {
                race_partner::spin(static_cast<unsigned>(round) * 7 % 1024);
                completed = source->try_set_result(counted(round));
            },
            [&] { sync_wait(runtime, body()); });
        BOOST_REQUIRE(seen == (completed ? error_code() : make_error_code(errc::timed_out)));
    }
}

BOOST_AUTO_TEST_CASE(deadline_asked_for_elsewhere_against_completion_and_the_next_operation) {
    for (const int round : race_rounds()) {
        renew(round);
        auto ticket = source->task();
        error_code seen;
        int calls = 0;
        partner.race( // not the runtime's thread: the request travels
            [&] {
                std::move(ticket)
                    .within(std::chrono::hours(round % 2))
                    .on_completed([&](error_code code, counted) {
                        ++calls;
                        seen = code;
                    });
            },
            [&] {
                runtime.poll();
                (void)source->try_set_result(counted(round));
            });
        runtime.poll();
        BOOST_REQUIRE(calls == 1);
        BOOST_REQUIRE((!seen || seen == make_error_code(errc::timed_out)));
    }
}

BOOST_AUTO_TEST_CASE(plain_data_is_handed_over_by_completion_alone) {
    std::array<std::uint64_t, 16> plain{}; // no atomics, no locks
    completion_source<void> ready(runtime.get_executor());
    for (const int round : race_rounds()) {
        ready.reset();
        bool same = true;
        partner.race(
            [&] {
                plain.fill(static_cast<std::uint64_t>(round));
                ready.set_result();
            },
            [&] {
                sync_wait(runtime, ready.task());
                for (const std::uint64_t word : plain)
                    same = same && word == static_cast<std::uint64_t>(round);
            });
        BOOST_REQUIRE(same);
    }
}

BOOST_AUTO_TEST_CASE(plain_data_is_handed_over_by_polling_is_completed_too) {
    std::array<std::uint64_t, 16> plain{};
    completion_source<void> ready(runtime.get_executor());
    for (const int round : race_rounds()) {
        ready.reset();
        auto ticket = ready.task();
        bool same = true;
        partner.race(
            [&] {
                plain.fill(static_cast<std::uint64_t>(round));
                ready.set_result();
            },
            [&] {
                while (!ticket.is_completed())
                    std::this_thread::yield();
                ticket.get();
                for (const std::uint64_t word : plain)
                    same = same && word == static_cast<std::uint64_t>(round);
            });
        BOOST_REQUIRE(same);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace sluice::test
