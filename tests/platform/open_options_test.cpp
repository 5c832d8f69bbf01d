// Options, preallocation and what else a request may ask for (reference, 2.6 and 2.7).
#include "support/backend_driver.hpp"
#include "support/fault_script.hpp"
#include "support/open_descriptors.hpp"
#include "support/open_file.hpp"
#include "support/temp_folder.hpp"

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>

namespace {

using namespace sluice;
using namespace sluice::test;
using platform::raw_call;

struct options_fixture {
    temp_folder folder;
    std::string path = folder / "file";

    platform::open_request wanted(file_options options, file_mode mode = file_mode::create,
                                  file_access access = file_access::read_write) const {
        platform::open_request request = request_for(path, mode, access);
        request.options = options;
        return request;
    }
    platform::open_request reserving(std::uint64_t size, file_mode mode = file_mode::create) const {
        platform::open_request request = wanted(file_options::none, mode);
        request.preallocation_size = size;
        return request;
    }
    bool exists() const { return std::filesystem::exists(path); }
};

int flags_of(const opened& it) { return ::fcntl(it.file.descriptor, F_GETFL); }

} // namespace

BOOST_FIXTURE_TEST_SUITE(open_options, options_fixture)

BOOST_AUTO_TEST_CASE(write_through_is_o_sync) {
    opened it(wanted(file_options::write_through));
    BOOST_TEST((flags_of(it) & O_SYNC) == O_SYNC);
    BOOST_TEST(it.file.synchronous);
    BOOST_TEST((flags_of(opened(wanted(file_options::none))) & O_SYNC) == 0);
}

BOOST_AUTO_TEST_CASE(append_is_o_append) {
    opened it(wanted(file_options::none, file_mode::append, file_access::write));
    BOOST_TEST((flags_of(it) & O_APPEND) != 0);
}

BOOST_AUTO_TEST_CASE(hints_are_given_once_and_never_fail_an_open) {
    for (const file_options hint : {file_options::random_access, file_options::sequential_scan,
                                    file_options::random_access | file_options::sequential_scan}) {
        const fault_script script({{.call = raw_call::advise, .error = EINVAL}});
        opened it(wanted(hint));
        BOOST_TEST(it.outcome.result == 0);
        BOOST_TEST(script.seen(raw_call::advise) == 1u);
    }
}

BOOST_AUTO_TEST_CASE(remove_on_close) {
    opened it(wanted(file_options::delete_on_close));
    BOOST_TEST(exists());
    BOOST_TEST(!platform::closes_fast(it.file));
    BOOST_TEST(it.close() == 0);
    BOOST_TEST(!exists());
}

BOOST_AUTO_TEST_CASE(remove_on_close_does_not_mind_that_the_name_is_gone) {
    opened it(wanted(file_options::delete_on_close));
    std::filesystem::remove(path);
    BOOST_TEST(it.close() == 0);
}

BOOST_AUTO_TEST_CASE(direct_where_it_works) {
    folder.make("file", std::string(8192, 'x'));
    opened it(wanted(file_options::direct, file_mode::open));
    BOOST_TEST(it.outcome.result == 0);
    BOOST_TEST(it.file.is_direct == ((flags_of(it) & O_DIRECT) != 0));
    const std::size_t alignment = platform::direct_alignment_of(it.file);
    BOOST_TEST(alignment >= 512u);
    BOOST_TEST((alignment & (alignment - 1)) == 0u);
}

BOOST_AUTO_TEST_CASE(direct_falls_back_when_the_trial_read_is_refused) {
    folder.make("file", "content");
    for (const raw_call refused : {raw_call::read, raw_call::set_flags}) {
        const fault_script script({{.call = refused, .error = EINVAL}});
        opened it(wanted(file_options::direct, file_mode::open));
        BOOST_TEST(it.outcome.result == 0);
        BOOST_TEST(!it.file.is_direct);
        BOOST_TEST((flags_of(it) & O_DIRECT) == 0);
    }
}

BOOST_AUTO_TEST_CASE(direct_keeps_appending) {
    opened it(wanted(file_options::direct, file_mode::append, file_access::write));
    BOOST_TEST(it.outcome.result == 0);
    BOOST_TEST((flags_of(it) & O_APPEND) != 0);
}

BOOST_AUTO_TEST_CASE(uncached_is_a_flag_of_each_transfer_and_encrypted_ignored) {
    opened it(wanted(file_options::uncached | file_options::encrypted));
    BOOST_TEST(it.outcome.result == 0);
    BOOST_TEST(it.file.transfer_flags != 0);
    std::vector<std::byte> data = bytes_of("content");
    platform::request r = make_operation(platform::opcode::write, it.file, data);
    platform::perform_blocking(r);
    BOOST_TEST(r.result == 7);
    r = make_operation(platform::opcode::read, it.file, data);
    platform::perform_blocking(r);
    BOOST_TEST(r.result == 7);
}

BOOST_AUTO_TEST_CASE(uncached_where_the_system_cannot) {
    opened it(wanted(file_options::uncached));
    const fault_script script({{.call = raw_call::write, .error = EOPNOTSUPP}});
    std::vector<std::byte> data = bytes_of("content");
    platform::request r = make_operation(platform::opcode::write, it.file, data);
    platform::perform_blocking(r);
    BOOST_TEST(r.result == 7);
    BOOST_TEST(it.file.transfer_flags == 0);
}

BOOST_AUTO_TEST_CASE(beneath_refuses_to_leave_the_folder) {
    folder.make("inside", "x");
    std::filesystem::create_directory(folder / "sub");
    std::filesystem::create_symlink("/etc/passwd", folder / "link");
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder / "sub");
    const auto result = [](const std::string& name, file_mode mode = file_mode::open) {
        platform::open_request request = request_for(name, mode, file_access::read_write);
        request.options = file_options::beneath;
        return opened(request).outcome.result;
    };
    BOOST_TEST(result("../inside") == -EXDEV);
    BOOST_TEST(result("/etc/passwd") == -EXDEV);
    BOOST_TEST(result("made", file_mode::create_new) == 0);
    std::filesystem::current_path(folder.path());
    BOOST_TEST(result("inside") == 0);
    BOOST_TEST(result("link") == -EXDEV);
    BOOST_TEST(result("sub/../inside") == 0);
    std::filesystem::current_path(before);
}

BOOST_AUTO_TEST_CASE(preallocation_reserves_and_does_not_show) {
    opened it(reserving(1 << 20));
    BOOST_TEST(it.outcome.result == 0);
    BOOST_TEST(it.outcome.preallocated);
    struct ::stat about {};
    ::fstat(it.file.descriptor, &about);
    BOOST_TEST(about.st_size == 0);
    BOOST_TEST(about.st_blocks * 512 >= 1 << 20);
}

BOOST_AUTO_TEST_CASE(preallocation_that_is_not_supported_is_no_error) {
    for (const int error : {EOPNOTSUPP, ENOSYS, EINVAL, ESPIPE, EPERM}) {
        const fault_script script({{.call = raw_call::allocate, .error = error}});
        opened it(reserving(4096));
        BOOST_TEST(it.outcome.result == 0);
        BOOST_TEST(!it.outcome.preallocated);
        BOOST_TEST(exists());
    }
}

BOOST_AUTO_TEST_CASE(preallocation_without_room_removes_what_was_made) {
    const std::size_t before = open_descriptors();
    for (const int error : {ENOSPC, EFBIG})
        for (const file_mode mode : {file_mode::create, file_mode::create_new}) {
            const fault_script script({{.call = raw_call::allocate, .error = error}});
            opened it(reserving(4096, mode));
            BOOST_TEST(it.outcome.result == -error);
            BOOST_TEST(it.outcome.step == std::string("preallocate"));
            BOOST_TEST(!it.file.is_open());
            BOOST_TEST(!exists());
        }
    BOOST_TEST(open_descriptors() == before);
}

BOOST_AUTO_TEST_CASE(preallocation_without_room_leaves_the_file_of_somebody_else) {
    folder.make("file", "content");
    const fault_script script({{.call = raw_call::allocate, .error = ENOSPC}});
    BOOST_TEST(opened(reserving(4096)).outcome.result == -ENOSPC);
    BOOST_TEST(exists());
}

BOOST_AUTO_TEST_CASE(preallocation_of_an_impossible_size) {
    BOOST_TEST(opened(reserving(~std::uint64_t{0})).outcome.result == -EFBIG);
    BOOST_TEST(opened(reserving(std::uint64_t{1} << 62)).outcome.result == -EFBIG);
    BOOST_TEST(!exists());
}

BOOST_AUTO_TEST_CASE(preallocation_through_a_dangling_link_ends) {
    std::filesystem::create_symlink(folder / "target", path);
    opened it(reserving(4096));
    BOOST_TEST(it.outcome.result == 0);
    BOOST_TEST(std::filesystem::exists(folder / "target"));
}

BOOST_AUTO_TEST_CASE(every_raw_call_of_an_open_may_fail_and_nothing_leaks) {
    const raw_call calls[] = {raw_call::open,     raw_call::stat,   raw_call::truncate,
                              raw_call::allocate, raw_call::flock,  raw_call::set_flags,
                              raw_call::read,     raw_call::advise, raw_call::statfs};
    for (const raw_call call : calls)
        for (unsigned nth = 1; nth <= 3; ++nth)
            for (const int error : {EINTR, EIO, ENOMEM}) {
                folder.make("file", "content");
                const std::size_t before = open_descriptors();
                platform::open_request request =
                    wanted(file_options::direct | file_options::random_access);
                request.preallocation_size = 4096;
                request.share_given = true;
                request.share = file_share::read;
                {
                    const fault_script script({{.call = call, .error = error, .first = nth}});
                    opened it(request);
                    BOOST_TEST(it.file.is_open() == (it.outcome.result == 0));
                    if (error == EINTR && call != raw_call::stat)
                        BOOST_TEST(it.outcome.result == 0, name_of(call) << " interrupted");
                }
                BOOST_TEST(open_descriptors() == before);
            }
}

BOOST_AUTO_TEST_SUITE_END()
