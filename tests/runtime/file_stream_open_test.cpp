// Opening a stream: every row of the reference's tables (2.2 to 2.7) through open, try_open and
// open_async.
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::test;
namespace data = boost::unit_test::data;

enum class door { throwing, answering, asynchronous, from_the_loop };
std::ostream& operator<<(std::ostream& out, door d) { return out << static_cast<int>(d); }
const auto doors =
    data::make({door::throwing, door::answering, door::asynchronous, door::from_the_loop});

struct fixture : temp_file {
    stream_driver outside{{calling::outside}};
    stream_driver on_loop{{calling::callback}};

    result<file_stream> open(door way, const std::string& name, const open_options& options) {
        const auto executor = outside.runtime.get_executor();
        switch (way) {
        case door::throwing:
            try {
                return file_stream::open(executor, name, options);
            } catch (const file_error& failure) {
                BOOST_TEST(failure.path() == name);
                BOOST_TEST(std::string(failure.what()).find(name) != std::string::npos);
                return failure.code();
            }
        case door::answering:
            return file_stream::try_open(executor, name, options);
        case door::asynchronous:
            return outside.asynchronous<file_stream>(
                [&] { return file_stream::open_async(executor, name, options); });
        case door::from_the_loop:
            break;
        }
        return on_loop.asynchronous<file_stream>(
            [&] { return file_stream::open_async(on_loop.runtime.get_executor(), name, options); });
    }
};

constexpr file_mode modes[] = {file_mode::create_new,     file_mode::create,   file_mode::open,
                               file_mode::open_or_create, file_mode::truncate, file_mode::append};
constexpr file_access accesses[] = {file_access::read, file_access::write, file_access::read_write};

bool is_allowed(file_mode mode, file_access access) {
    if (mode == file_mode::append)
        return access == file_access::write;
    return access != file_access::read || mode == file_mode::open ||
           mode == file_mode::open_or_create;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(stream_opens, fixture)

BOOST_DATA_TEST_CASE_F(fixture, mode_and_access, doors, way) {
    for (const file_mode mode : modes) {
        for (const file_access access : accesses) {
            for (const bool there : {false, true}) {
                BOOST_TEST_CONTEXT("mode " << static_cast<int>(mode) << ", access "
                                           << static_cast<int>(access) << ", exists " << there) {
                    std::filesystem::remove(path);
                    if (there)
                        folder.make("file", "abc");
                    const open_options options{.mode = mode, .access = access};
                    if (!is_allowed(mode, access)) {
                        BOOST_CHECK_THROW((void)open(way, path, options), std::invalid_argument);
                        BOOST_TEST(std::filesystem::exists(path) == there);
                        BOOST_TEST(content() == (there ? "abc" : ""));
                        continue;
                    }
                    auto s = open(way, path, options);
                    if (there && mode == file_mode::create_new) {
                        SLUICE_TEST_ERROR(s, errno_code(EEXIST));
                        BOOST_TEST(content() == "abc");
                        continue;
                    }
                    if (!there && (mode == file_mode::open || mode == file_mode::truncate)) {
                        SLUICE_TEST_ERROR(s, errno_code(ENOENT));
                        BOOST_TEST(!std::filesystem::exists(path));
                        continue;
                    }
                    BOOST_REQUIRE(s.has_value());
                    const bool cut = mode == file_mode::create || mode == file_mode::truncate;
                    const std::uint64_t length = there && !cut ? 3 : 0;
                    BOOST_TEST(std::filesystem::exists(path));
                    BOOST_TEST(s->length() == length);
                    BOOST_TEST(s->position() == (mode == file_mode::append ? length : 0));
                    BOOST_TEST(s->can_read() == (access != file_access::write));
                    BOOST_TEST(s->can_write() == (access != file_access::read));
                    BOOST_TEST(s->can_seek());
                    BOOST_TEST(s->is_open());
                    BOOST_TEST(s->path() == path);
                }
            }
        }
    }
}

BOOST_DATA_TEST_CASE_F(fixture, wrong_arguments, doors, way) {
    const auto refused = [&](const std::string& name, const open_options& options) {
        BOOST_CHECK_THROW((void)open(way, name, options), std::invalid_argument);
        BOOST_TEST(!std::filesystem::exists(path));
    };
    const open_options create{.mode = file_mode::create, .access = file_access::write};
    const auto with = [&](auto change) {
        open_options changed = create;
        change(changed);
        return changed;
    };
    refused("", create);
    refused(path + std::string("\0x", 2), create);
    refused(path, with([](auto& o) { o.mode = static_cast<file_mode>(6); }));
    refused(path, with([](auto& o) { o.access = static_cast<file_access>(0); }));
    refused(path, with([](auto& o) { o.access = static_cast<file_access>(4); }));
    refused(path, with([](auto& o) { o.share = ~file_share::none; }));
    refused(path, with([](auto& o) { o.share = static_cast<file_share>(8); }));
    refused(path, with([](auto& o) { o.options = ~file_options::none; }));
    refused(path, with([](auto& o) { o.options = static_cast<file_options>(256); }));
    refused(path, with([](auto& o) {
                o.mode = file_mode::open_or_create;
                o.preallocation_size = 20;
            }));
    refused(path, with([](auto& o) {
                o.mode = file_mode::append;
                o.preallocation_size = 20;
            }));
    refused(path, with([](auto& o) {
                o.create_permissions = static_cast<std::filesystem::perms>(1 << 12);
            }));
    for (const file_mode mode : {file_mode::open, file_mode::truncate})
        refused(path, with([&](auto& o) {
                    o.mode = mode;
                    o.create_permissions = std::filesystem::perms::owner_all;
                }));
    BOOST_CHECK_THROW(
        (void)open(way, path, with([](auto& o) { o.preallocation_size = std::uint64_t{1} << 63; })),
        std::out_of_range);
    BOOST_TEST(!std::filesystem::exists(path));
    BOOST_CHECK_THROW((void)file_stream::open({}, path, create), std::invalid_argument);
}

BOOST_DATA_TEST_CASE_F(fixture, sharing, doors, way) {
    folder.make("file", "abc");
    const auto share_of = [](std::optional<file_share> share, file_access access) {
        return open_options{.access = access, .share = share};
    };
    const std::optional<file_share> shares[] = {std::nullopt,
                                                file_share::none,
                                                file_share::read,
                                                file_share::write,
                                                file_share::read_write,
                                                file_share::read_write | file_share::remove,
                                                file_share::none | file_share::inheritable};
    for (const auto& first : shares) {
        for (const auto& second : shares) {
            for (const file_access access : accesses) {
                auto holder = open(way, path, share_of(first, file_access::read_write));
                BOOST_REQUIRE(holder.has_value());
                const auto next = open(way, path, share_of(second, access));
                const bool locked = first.has_value() && second.has_value() &&
                                    (*first == file_share::none || *second == file_share::none);
                BOOST_TEST(next.has_value() == !locked);
                if (locked)
                    SLUICE_TEST_ERROR(next, errc::sharing_violation);
            }
        }
    }
    // A violation never destroys what is there; and it ends with the holder.
    auto holder = open(way, path, share_of(file_share::read, file_access::read));
    open_options create{.mode = file_mode::create, .access = file_access::write};
    create.share = file_share::none;
    SLUICE_TEST_ERROR(open(way, path, create), errc::sharing_violation);
    BOOST_TEST(content() == "abc");
    holder->close();
    BOOST_TEST(open(way, path, create).has_value());
    BOOST_TEST(content() == "");
}

BOOST_DATA_TEST_CASE_F(fixture, every_option, doors, way) {
    using enum file_options;
    const std::string text = pattern_of(4096);
    for (const file_options options :
         {none, write_through, random_access, sequential_scan, delete_on_close, uncached, encrypted,
          write_through | random_access | sequential_scan | delete_on_close | encrypted}) {
        BOOST_TEST_CONTEXT("options " << static_cast<unsigned>(options)) {
            {
                auto s = open(way, path,
                              {.mode = file_mode::create,
                               .access = file_access::read_write,
                               .options = options});
                BOOST_REQUIRE(s.has_value());
                s->write(text);
                s->position(0);
                std::string got(5000, '.');
                got.resize(s->read(bytes_in(got)));
                BOOST_TEST((got == text));
                BOOST_TEST(!s->is_direct());
                BOOST_TEST(std::filesystem::exists(path));
                const int flags = fcntl(s->native_handle(), F_GETFL);
                BOOST_TEST(((flags & O_SYNC) == O_SYNC) == has(options, write_through));
            }
            BOOST_TEST(std::filesystem::exists(path) == !has(options, delete_on_close));
        }
    }
    // By a close that waits, too.
    stream_driver& drive = way == door::from_the_loop ? on_loop : outside;
    auto s =
        open(way, path,
             {.mode = file_mode::create, .access = file_access::write, .options = delete_on_close});
    BOOST_TEST(drive.wait_for(s->close_async()).has_value());
    BOOST_TEST(!std::filesystem::exists(path));
}

BOOST_DATA_TEST_CASE_F(fixture, inherited_or_not, doors, way) {
    folder.make("file", "abc");
    for (const bool inherits : {false, true}) {
        open_options options;
        options.share = inherits ? file_share::read | file_share::inheritable : file_share::read;
        auto s = open(way, path, options);
        BOOST_REQUIRE(s.has_value());
        BOOST_TEST(((fcntl(s->native_handle(), F_GETFD) & FD_CLOEXEC) == 0) == inherits);
    }
}

BOOST_DATA_TEST_CASE_F(fixture, reserved_space, doors, way) {
    for (const file_mode mode : {file_mode::create, file_mode::create_new}) {
        std::filesystem::remove(path);
        open_options options{.mode = mode, .access = file_access::write};
        options.preallocation_size = 100'000;
        auto s = open(way, path, options);
        BOOST_REQUIRE(s.has_value());
        BOOST_TEST(s->length() == 0u);
        BOOST_TEST(s->position() == 0u);
        struct ::stat about{};
        BOOST_REQUIRE(::stat(path.c_str(), &about) == 0);
        BOOST_TEST((about.st_blocks * 512 >= 100'000 || about.st_blocks == 0));
        s->write("abc");
        s->close();
        BOOST_TEST(content() == "abc");
    }
    std::filesystem::remove(path);
    open_options huge{.mode = file_mode::create, .access = file_access::write};
    huge.preallocation_size = std::uint64_t{1} << 60;
    const auto refused = open(way, path, huge);
    if (!refused.has_value()) { // a file system that reserves nothing takes it for the hint it is
        BOOST_TEST((refused.error() == errno_code(ENOSPC) || refused.error() == errno_code(EFBIG)));
        BOOST_TEST(!std::filesystem::exists(path));
    }
}

BOOST_DATA_TEST_CASE_F(fixture, permissions_of_new_files, doors, way) {
    const auto mask = umask(022);
    for (const unsigned wanted : {0000u, 0200u, 0400u, 0666u, 0777u, 07777u}) {
        std::filesystem::remove(path);
        open_options options{.mode = file_mode::create_new, .access = file_access::write};
        options.create_permissions = static_cast<std::filesystem::perms>(wanted);
        BOOST_TEST(open(way, path, options).has_value());
        struct ::stat about{};
        BOOST_REQUIRE(::stat(path.c_str(), &about) == 0);
        BOOST_TEST((about.st_mode & 07777u) == (wanted & ~022u));
    }
    for (const file_mode mode : {file_mode::create, file_mode::open_or_create, file_mode::append}) {
        folder.make("file", "x");
        BOOST_REQUIRE(chmod(path.c_str(), 0200) == 0);
        open_options options{.mode = mode, .access = file_access::write};
        options.create_permissions = static_cast<std::filesystem::perms>(0777);
        BOOST_TEST(open(way, path, options).has_value());
        struct ::stat about{};
        BOOST_REQUIRE(::stat(path.c_str(), &about) == 0);
        BOOST_TEST((about.st_mode & 07777u) == 0200u);
    }
    umask(mask);
}

BOOST_DATA_TEST_CASE_F(fixture, beneath, doors, way) {
    folder.make("file", "abc");
    const auto old = std::filesystem::current_path();
    std::filesystem::create_directory(folder / "inner");
    std::filesystem::current_path(folder / "inner");
    const open_options options{.options = file_options::beneath};
    folder.make("inner/here", "x");
    BOOST_TEST(open(way, "here", options).has_value());
    SLUICE_TEST_ERROR(open(way, "../file", options), errno_code(EXDEV));
    SLUICE_TEST_ERROR(open(way, path, options), errno_code(EXDEV));
    std::filesystem::current_path(old);
}

// B03 for opens: cancelled before, or beaten; never a descriptor left open.
BOOST_AUTO_TEST_CASE(cancelled_opens) {
    const std::string fifo = folder / "fifo";
    BOOST_REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    for (stream_driver* drive : {&outside, &on_loop}) {
        const auto executor = drive->runtime.get_executor();
        std::stop_source stopped;
        stopped.request_stop();
        SLUICE_TEST_ERROR(drive->asynchronous<file_stream>([&] {
            return file_stream::open_async(
                executor, path, {.mode = file_mode::create, .access = file_access::write},
                stopped.get_token());
        }),
                          cancelled_error());
        BOOST_TEST(!std::filesystem::exists(path));
        BOOST_CHECK_THROW((void)file_stream::open_async(executor, "", {}, stopped.get_token()),
                          std::invalid_argument);
        // Detached: the stream nobody takes is closed again.
        folder.make("file", "abc");
        const auto lock = open_options{.access = file_access::read, .share = file_share::none};
        drive->start([&] { (void)file_stream::open_async(executor, path, lock); });
        drive->runtime.run();
        BOOST_TEST(file_stream::try_open(executor, path, lock).has_value());
        std::filesystem::remove(path);
    }
}

BOOST_AUTO_TEST_CASE(mutex_by_exclusive_opens) {
    std::atomic<int> holders{0}, held{0};
    std::atomic<bool> two{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
            io_runtime runtime;
            open_options options{.mode = file_mode::open_or_create,
                                 .access = file_access::write,
                                 .share = file_share::none,
                                 .options = file_options::delete_on_close};
            for (int i = 0; i < 50; ++i) {
                auto s = file_stream::try_open(runtime.get_executor(), path, options);
                if (!s)
                    continue;
                if (holders.fetch_add(1) != 0)
                    two = true;
                ++held;
                holders.fetch_sub(1);
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    BOOST_TEST(!two);
    BOOST_TEST(held > 0);
    BOOST_TEST(!std::filesystem::exists(path));
}

BOOST_AUTO_TEST_SUITE_END()
