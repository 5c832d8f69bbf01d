// Option beats environment beats default; a choice that cannot be had is refused in words;
// "threads" means that no ring is ever tried.
#include "support/backend_ways.hpp"
#include "support/child_process.hpp"
#include "support/environment.hpp"
#include "support/refuse_io_uring.hpp"

#include <sluice/platform/fault_seam.hpp>

#include <boost/system/system_error.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

using namespace sluice;
using namespace sluice::test;
using platform::backend_options;
using platform::make_backend;
using platform::raw_call;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(backend_selection)

namespace {

backend_kind kind_for(backend_choice option, const char* variable) {
    const environment set("SLUICE_BACKEND", variable);
    backend_options options;
    options.choice = option;
    return make_backend(options)->capabilities().kind;
}

} // namespace

BOOST_AUTO_TEST_CASE(option_beats_environment_beats_default) {
    if (!platform::uring_is_built())
        return;
    using enum backend_choice;
    BOOST_TEST((kind_for(auto_, nullptr) == backend_kind::uring));
    BOOST_TEST((kind_for(auto_, "") == backend_kind::uring));
    BOOST_TEST((kind_for(auto_, "auto") == backend_kind::uring));
    BOOST_TEST((kind_for(auto_, "uring") == backend_kind::uring));
    BOOST_TEST((kind_for(auto_, "threads") == backend_kind::threads));
    BOOST_TEST((kind_for(uring, "threads") == backend_kind::uring));
    BOOST_TEST((kind_for(threads, "uring") == backend_kind::threads));
    BOOST_TEST((kind_for(threads, "nonsense") == backend_kind::threads));
}

BOOST_DATA_TEST_CASE(a_bad_value_is_named, data::make({"nonsense", "URING", "threads ", "1"}),
                     value) {
    const environment set("SLUICE_BACKEND", value);
    try {
        make_backend({});
        BOOST_ERROR("no error");
    } catch (const boost::system::system_error& error) {
        const std::string text = error.what();
        for (const char* word : {"SLUICE_BACKEND", value, "auto", "uring", "threads"})
            BOOST_TEST(text.find(word) != std::string::npos, text);
    }
}

BOOST_AUTO_TEST_CASE(what_is_available) {
    if (!platform::uring_is_built())
        return;
    const environment set("SLUICE_BACKEND", nullptr);
    const std::vector<backend_availability> all = platform::available_backends();
    BOOST_REQUIRE(all.size() == 2u);
    BOOST_TEST((all[0].kind == backend_kind::uring && all[1].kind == backend_kind::threads));
    for (const backend_availability& row : all)
        BOOST_TEST((row.built && row.usable && row.reason.empty()));
}

BOOST_AUTO_TEST_CASE(threads_never_try_a_ring) {
    SLUICE_CHECK_CHILD([] {
        SLUICE_EXPECT(kill_for_io_uring());
        const environment set("SLUICE_BACKEND", "threads");
        const auto file = test_file::with("text");
        driver d({"environment", backend_choice::auto_, true});
        char buffer[4];
        test_operation op;
        prepare_read(op, *file, buffer, 4, 0);
        SLUICE_EXPECT(d.perform(op) == 4);
        SLUICE_EXPECT(d->capabilities().explanation.find("SLUICE_BACKEND=threads") !=
                      std::string::npos);
        SLUICE_EXPECT(!platform::available_backends()[0].usable);
        SLUICE_EXPECT(!platform::available_backends()[0].reason.empty());
        return 0;
    });
}

BOOST_AUTO_TEST_CASE(no_ring_before_the_first_operation) {
    SLUICE_CHECK_CHILD([] {
        SLUICE_EXPECT(kill_for_io_uring());
        const environment set("SLUICE_BACKEND", nullptr);
        driver d({"default", backend_choice::auto_, true});
        d->wake();
        d->flush();
        d.turn();
        d->wait(platform::backend::clock::time_point::max());
        d.release();
        d.acquire();
        test_operation op;
        op.code = platform::opcode::call;
        op.call = [](platform::request& self) noexcept { self.result = 1; };
        SLUICE_EXPECT(d.perform(op) == 1);
        return 0;
    });
}

BOOST_AUTO_TEST_SUITE_END()
