// A random walk against a vector of bytes: random options, every verb, both styles in turns, and
// runs of operations that are awaited later. SLUICE_SEED repeats one, SLUICE_STEPS makes it longer.
#include "support/stream_driver.hpp"
#include "support/temp_folder.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <deque>
#include <random>
#include <sstream>

namespace {

using namespace sluice;
using namespace sluice::test;
namespace data = boost::unit_test::data;

int steps_of_walk() {
    const char* given = std::getenv("SLUICE_STEPS");
    return given != nullptr ? std::atoi(given) : 1000;
}

/// What the stream should be.
struct model {
    std::string file;
    std::size_t position = 0;
    std::size_t floor = 0;
    bool append = false;

    std::string read(std::size_t size) {
        if (position >= file.size())
            return {};
        std::string got = file.substr(position, size);
        position += got.size();
        return got;
    }
    void write(std::string_view data) {
        if (data.empty())
            return;
        if (append)
            position = file.size();
        if (position + data.size() > file.size())
            file.resize(position + data.size());
        file.replace(position, data.size(), data);
        position += data.size();
    }
    void cut(std::size_t length) {
        file.resize(length);
        position = std::min(position, length);
    }
};

class walk {
public:
    walk(const stream_way& way, std::uint64_t seed)
        : drive_(way), random_(seed), path_(folder_ / "file") {
        expected_.file = pattern_of(pick(3) * 5000, static_cast<unsigned>(seed));
        folder_.make("file", expected_.file);
    }

    void run(int steps) {
        reopen();
        for (step_ = 0; step_ < steps && good_; ++step_) {
            take_step();
            compare();
        }
        stream_.close();
        check(temp_folder::content_of(path_) == expected_.file, "content");
    }
    bool good() const { return good_; }
    std::string history() const {
        std::ostringstream text;
        for (const std::string& line : last_)
            text << line << '\n';
        return text.str();
    }

private:
    static constexpr std::size_t longest = 200'000;

    std::size_t pick(std::size_t below) { return random_() % below; }
    /// Sizes around those that matter: none, few, the buffer's, more.
    std::size_t size() {
        const std::size_t buffer = drive_.way.buffer_size;
        switch (pick(6)) {
        case 0:
            return pick(4);
        case 1:
            return buffer > 8 ? buffer - 8 + pick(17) : pick(20);
        case 2:
            return pick(30'000);
        case 3:
            return buffer > 60'000 ? buffer + pick(100) : buffer * (1 + pick(3));
        default:
            return pick(300);
        }
    }
    std::string piece(std::size_t size) {
        return pattern_of(size, static_cast<unsigned>(random_()));
    }
    template <class... Words>
    void note(Words... words) {
        std::ostringstream line;
        line << step_ << ": ";
        ((line << words << ' '), ...);
        last_.push_back(line.str());
        if (last_.size() > 25)
            last_.pop_front();
    }
    void check(bool right, const char* what) {
        if (!right && good_)
            note("WRONG:", what);
        good_ = good_ && right;
    }
    template <class T>
    T value(result<T> r, const char* what) {
        check(r.has_value(), what);
        if constexpr (!std::is_void_v<T>)
            return r.has_value() ? *r : T{};
    }

    void reopen() {
        static constexpr file_mode modes[] = {file_mode::open, file_mode::open_or_create,
                                              file_mode::append, file_mode::create,
                                              file_mode::truncate};
        const std::size_t chosen = pick(20);
        const bool grown = expected_.file.size() > longest;
        const file_mode mode = modes[grown || chosen >= 18 ? 3 + chosen % 2
                                     : chosen < 8          ? 0
                                     : chosen < 14         ? 1
                                                           : 2];
        open_options options{.mode = mode, .access = file_access::read_write};
        if (mode == file_mode::append)
            options.access = file_access::write;
        if (pick(3) == 0)
            options.share = pick(2) == 0 ? file_share::none : file_share::read;
        if (pick(4) == 0)
            options.options =
                pick(2) == 0 ? file_options::random_access : file_options::sequential_scan;
        note("open, mode", static_cast<int>(mode));
        stream_ = file_stream();
        stream_ = drive_.try_open(path_, options).value();
        if (mode == file_mode::create || mode == file_mode::truncate)
            expected_.file.clear();
        expected_.append = mode == file_mode::append;
        expected_.position = expected_.floor = expected_.append ? expected_.file.size() : 0;
        reads_ = !expected_.append;
    }

    void take_step() {
        if (expected_.file.size() > longest)
            return close_and_open();
        const std::size_t what = pick(100);
        if (what < 20 && reads_)
            read(size());
        else if (what < 45)
            write(size());
        else if (what < 60)
            seek();
        else if (what < 65)
            cut();
        else if (what < 72)
            flush();
        else if (what < 78)
            bytes();
        else if (what < 82)
            synchronous();
        else if (what < 97)
            unawaited();
        else if (what == 97)
            (void)stream_.native_handle();
        else
            close_and_open();
    }
    void read(std::size_t n) {
        note("read", n);
        std::string buffer(n, '.');
        buffer.resize(value(drive_.read(stream_, bytes_in(buffer)), "read"));
        check(buffer == expected_.read(n), "read bytes");
    }
    void write(std::size_t n) {
        note("write", n);
        const std::string text = piece(n);
        value(drive_.write(stream_, text), "write");
        expected_.write(text);
    }
    void seek() {
        const std::size_t base = expected_.floor;
        const std::size_t to = base + pick(expected_.file.size() - base + 200);
        const auto from = static_cast<seek_origin>(pick(3));
        note("seek", to, "from", static_cast<int>(from));
        const std::size_t origin = from == seek_origin::begin     ? 0
                                   : from == seek_origin::current ? expected_.position
                                                                  : expected_.file.size();
        const auto by = static_cast<std::int64_t>(to) - static_cast<std::int64_t>(origin);
        check(stream_.seek(by, from) == to, "seek");
        expected_.position = to;
    }
    void cut() {
        const std::size_t to =
            expected_.floor + pick(expected_.file.size() - expected_.floor + 100);
        note("set_length", to);
        value(drive_.set_length(stream_, to), "set_length");
        expected_.cut(to);
    }
    void flush() {
        const bool to_disk = pick(8) == 0;
        note("flush", to_disk);
        value(to_disk ? drive_.sync_data(stream_) : drive_.flush(stream_), "flush");
        check(temp_folder::content_of(path_) == expected_.file, "content after flush");
    }
    void bytes() {
        for (std::size_t i = 0, n = pick(12); i < n; ++i) {
            note("byte");
            if (pick(2) == 0 && reads_) {
                const std::string next = expected_.read(1);
                const int byte = drive_.read_byte(stream_);
                check(byte == (next.empty() ? -1 : static_cast<unsigned char>(next[0])), "byte");
            } else {
                const char byte = static_cast<char>(random_());
                value(drive_.write_byte(stream_, static_cast<unsigned char>(byte)), "write byte");
                expected_.write(std::string(1, byte));
            }
        }
    }
    void synchronous() {
        note("synchronous write, read");
        const std::string text = piece(size());
        stream_.write(text);
        expected_.write(text);
        if (!reads_)
            return;
        const std::size_t n = size();
        std::string buffer(n, '.');
        buffer.resize(stream_.read(bytes_in(buffer)));
        check(buffer == expected_.read(n), "synchronous read");
    }
    void close_and_open() {
        note("close");
        if (pick(2) == 0)
            value(drive_.close(stream_), "close");
        reopen();
        check(temp_folder::content_of(path_) == expected_.file, "content after close");
    }

    struct pending {
        std::string buffer; // what is written, or what is to be read
        std::string wanted;
        value_task<std::size_t> read;
        value_task<void> other;
        bool reads = false;
    };
    // The model is told at the call: these take effect in the order of calls.
    void unawaited() {
        std::deque<pending> all;
        note("unawaited:");
        drive_.start([&] {
            for (std::size_t i = 0, n = 1 + pick(8); i < n; ++i)
                start_one(all.emplace_back());
        });
        for (pending& one : all) {
            if (!one.reads) {
                value(drive_.wait_for(std::move(one.other)), "unawaited");
                continue;
            }
            one.buffer.resize(value(drive_.wait_for(std::move(one.read)), "unawaited read"));
            check(one.buffer == one.wanted, "unawaited read bytes");
        }
    }
    // Two that overlap, unbuffered or past the buffer, see each other or not: no reads of those.
    void start_one(pending& one) {
        const std::size_t n = size();
        const bool may_read = reads_ && drive_.way.buffer_size > 1;
        switch (pick(8)) {
        case 0:
            note(" flush");
            one.other = stream_.flush_async();
            return;
        case 1:
            note(" sync");
            one.other = stream_.sync_data_async();
            return;
        case 2: {
            const std::size_t to =
                expected_.floor + pick(expected_.file.size() - expected_.floor + 100);
            note(" set_length", to);
            one.other = stream_.set_length_async(to);
            expected_.cut(to);
            return;
        }
        case 3:
        case 4:
        case 5:
            if (may_read && n < drive_.way.buffer_size) {
                note(" read", n);
                one.reads = true;
                one.buffer.assign(n, '.');
                one.wanted = expected_.read(n);
                one.read = stream_.read_async(bytes_in(one.buffer));
                return;
            }
            [[fallthrough]];
        default:
            note(" write", n);
            one.buffer = piece(n);
            expected_.write(one.buffer);
            one.other = stream_.write_async(one.buffer);
        }
    }

    void compare() {
        if (!good_)
            return;
        check(stream_.position() == expected_.position, "position");
        check(stream_.length() == expected_.file.size(), "length");
    }

    const temp_folder folder_;
    stream_driver drive_;
    std::mt19937_64 random_;
    const std::string path_;
    model expected_;
    file_stream stream_;
    std::deque<std::string> last_;
    int step_ = 0;
    bool reads_ = true;
    bool good_ = true;
};

std::vector<stream_way> walks() {
    std::vector<stream_way> ways = all_stream_ways();
    std::erase_if(ways, [](const stream_way& w) {
        // Of the asynchronous ones, each style once with each buffer.
        return w.style != calling::synchronous &&
               (w.resume == resume_mode::queued) != (w.style == calling::callback);
    });
    return ways;
}

} // namespace

BOOST_AUTO_TEST_SUITE(stream_walk)

BOOST_DATA_TEST_CASE(random_walk, data::make(walks()), way) {
    const std::uint64_t seed = seed_for_test();
    walk once(way, seed);
    once.run(steps_of_walk());
    BOOST_TEST(once.good(), "SLUICE_SEED=" << seed << '\n' << once.history());
}

BOOST_AUTO_TEST_SUITE_END()
