// The ring is made as good as the kernel gives it, or not at all and says why; the user sees no
// error.
#include "support/backend_ways.hpp"
#include "support/environment.hpp"

#include <sluice/platform/fault_seam.hpp>
#include <sluice/platform/linux/uring_check.hpp>
#include <sluice/platform/linux/uring_limits.hpp>

#include <boost/system/system_error.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cerrno>

using namespace sluice;
using namespace sluice::test;
using namespace sluice::platform::uring;
using platform::raw_call;
using platform::raw_call_site;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(uring_setup)

namespace {

// A hook of this test alone; the check is made anew under it, and once more after it.
class hook {
public:
    using answer = long (*)(raw_call_site&);
    explicit hook(answer a) {
        forget_check();
        platform::set_fault_hook(
            [](void* self, raw_call_site& site) { return static_cast<hook*>(self)->answer_(site); },
            this);
        answer_ = a;
    }
    hook(const hook&) = delete;
    hook& operator=(const hook&) = delete;
    ~hook() {
        platform::set_fault_hook(nullptr, nullptr);
        forget_check();
    }

private:
    answer answer_;
};

long read_text(driver& d) {
    const auto file = test_file::with("text");
    char buffer[4];
    test_operation op;
    prepare_read(op, *file, buffer, 4, 0);
    return d.perform(op);
}

unsigned refused_flag;

} // namespace

BOOST_DATA_TEST_CASE(a_flag_that_the_kernel_does_not_know,
                     data::make({IORING_SETUP_SUBMIT_ALL, IORING_SETUP_COOP_TASKRUN,
                                 IORING_SETUP_TASKRUN_FLAG, IORING_SETUP_SINGLE_ISSUER,
                                 IORING_SETUP_DEFER_TASKRUN}) *
                         data::make({false, true}),
                     flag, exclusive) {
    refused_flag = flag;
    const hook h([](raw_call_site& site) -> long {
        return site.call == raw_call::ring_setup && (site.offset & refused_flag) != 0 ? -EINVAL : 0;
    });
    ring made;
    BOOST_TEST(make_ring(made, {8, 16, exclusive}).result == 0);
    BOOST_TEST((made.flags() & flag) == 0u);
    BOOST_TEST(((made.flags() & IORING_SETUP_SUBMIT_ALL) != 0 || flag == IORING_SETUP_SUBMIT_ALL));
    made.close();
    driver d(exclusive ? ring_ways[0] : ring_ways[1]);
    BOOST_TEST(read_text(d) == 4);
    BOOST_TEST((d->capabilities().kind == backend_kind::uring));
}

BOOST_AUTO_TEST_CASE(no_optional_flag_at_all) {
    const hook h([](raw_call_site& site) -> long {
        constexpr unsigned known = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;
        return site.call == raw_call::ring_setup && (site.offset & ~std::uint64_t{known}) != 0
                   ? -EINVAL
                   : 0;
    });
    driver d(ring_ways[0]);
    BOOST_TEST(read_text(d) == 4);
    BOOST_TEST((d->capabilities().kind == backend_kind::uring));
}

BOOST_AUTO_TEST_CASE(no_memory_for_a_large_ring) {
    const hook h([](raw_call_site& site) -> long {
        return site.call == raw_call::ring_setup && site.size > 256 ? -ENOMEM : 0;
    });
    platform::backend_options options;
    options.queue_depth = 8192;
    driver d(ring_ways[0], options);
    BOOST_TEST(read_text(d) == 4);
    BOOST_TEST(d->capabilities().entries == 256u);

    ring made;
    BOOST_TEST(make_ring(made, {8192, 64, true}).result == 0);
    BOOST_TEST(made.completions() >= 2 * made.entries());
}

BOOST_AUTO_TEST_CASE(memory_that_comes_back_late) {
    static int refusals;
    refusals = 0;
    const hook h([](raw_call_site& site) -> long {
        return site.call == raw_call::ring_setup && ++refusals <= 9 ? -ENOMEM : 0;
    });
    ring made;
    BOOST_TEST(make_ring(made, {256, 8192, true}).result == 0);
    BOOST_TEST(made.entries() == smallest_ring);
}

BOOST_DATA_TEST_CASE(registrations_are_refused, data::make({EBADF, EINVAL, EPERM}), error) {
    static int refusal;
    refusal = error;
    const hook h([](raw_call_site& site) -> long {
        return site.call == raw_call::ring_register ? -refusal : 0;
    });
    for (const way& how : ring_ways) {
        driver d(how);
        BOOST_TEST(read_text(d) == 4);
        BOOST_TEST((d->capabilities().kind == backend_kind::uring));
        // A handle can only be had with a registration: then threads.
        BOOST_TEST(d->wait_handle() >= 0);
        BOOST_TEST(read_text(d) == 4);
        BOOST_TEST((d->capabilities().kind == backend_kind::threads));
        BOOST_TEST(d->capabilities().reason == error);
    }
}

namespace {

const way automatic{"auto", backend_choice::auto_, true};

void expect_threads(int reason, std::string_view words) {
    const environment no_choice("SLUICE_BACKEND", nullptr);
    driver d(automatic);
    const backend_info before = d->capabilities();
    BOOST_TEST((before.kind == backend_kind::threads)); // known without any operation
    BOOST_TEST(read_text(d) == 4);
    const backend_info info = d->capabilities();
    BOOST_TEST((info.kind == backend_kind::threads));
    BOOST_TEST(info.reason == reason);
    BOOST_TEST(info.explanation.find(words) != std::string::npos, info.explanation);
    BOOST_CHECK_THROW(driver{ring_ways[0]}, boost::system::system_error);
}

} // namespace

BOOST_AUTO_TEST_CASE(a_kernel_without_the_read) {
    const hook h([](raw_call_site& site) -> long {
        return site.call == raw_call::ring_probe && site.offset == IORING_OP_READ ? -EINVAL : 0;
    });
    expect_threads(EOPNOTSUPP, "lacks an operation");
}

BOOST_AUTO_TEST_CASE(a_kernel_without_the_probe) {
    const hook h([](raw_call_site& site) -> long {
        return site.call == raw_call::ring_probe ? -EINVAL : 0;
    });
    expect_threads(EINVAL, "probe");
}

BOOST_AUTO_TEST_CASE(a_kernel_without_the_sync_alone) {
    const hook h([](raw_call_site& site) -> long {
        return site.call == raw_call::ring_probe && site.offset == IORING_OP_FSYNC ? -EINVAL : 0;
    });
    const auto file = test_file::with("text");
    driver d(ring_ways[0]);
    test_operation op;
    char buffer[4];
    prepare_read(op, *file, buffer, 4, 0);
    BOOST_TEST(d.perform(op) == 4);
    BOOST_TEST((op.path == platform::path_taken::ring));
    prepare(op, platform::opcode::sync, *file, nullptr, 0, 0);
    BOOST_TEST(d.perform(op) == 0);
    BOOST_TEST((op.path == platform::path_taken::fallback));
}

BOOST_DATA_TEST_CASE(a_refused_ring, data::make({EPERM, EACCES, ENOSYS}) * data::make({0, 77}),
                     error, stale) {
    static int refusal;
    refusal = error;
    const hook h([](raw_call_site& site) -> long {
        return site.call == raw_call::ring_setup ? -refusal : 0;
    });
    errno = stale; // the reason never comes from there
    expect_threads(error, "io_uring_disabled");
}

BOOST_AUTO_TEST_CASE(a_descriptor_too_few) {
    const hook h([](raw_call_site& site) -> long {
        return site.call == raw_call::ring_setup ? -EMFILE : 0;
    });
    expect_threads(EMFILE, "io_uring_setup");
}

BOOST_AUTO_TEST_CASE(enter_fails_at_the_first_operation) {
    const auto all_enters_fail = [](raw_call_site& site) -> long {
        return site.call == raw_call::ring_enter && site.descriptor >= 0 ? -EOPNOTSUPP : 0;
    };
    const hook h(all_enters_fail);
    expect_threads(EOPNOTSUPP, "self-test");
}

BOOST_AUTO_TEST_SUITE_END()
