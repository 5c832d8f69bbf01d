#include <sluice/platform/error.hpp>

#include <cerrno>
#include <utility>

namespace sluice {

namespace {

const char* text_of(errc value) noexcept {
    switch (value) {
    case errc::end_of_stream: return "The file ended before the bytes that were asked for";
    case errc::not_seekable: return "The file has no position: it cannot seek and has no length";
    case errc::not_readable: return "The stream was not opened for reading";
    case errc::not_writable: return "The stream was not opened for writing";
    case errc::closed: return "The stream is closed";
    case errc::operation_in_progress:
        return "A synchronous call met asynchronous operations that are still in flight";
    case errc::timed_out: return "The deadline passed before the operation finished";
    case errc::abandoned: return "The completion source was destroyed before it was completed";
    case errc::forked: return "The stream or runtime belongs to the parent process";
    case errc::exception: return "The operation ended with an exception";
    case errc::before_begin: return "The position would be before the beginning of the file";
    case errc::below_append_start:
        return "The position or length would be below the length that the file had "
               "when it was opened to append";
    case errc::sharing_violation: return "The file is in use in a way that the share mode forbids";
    }
    return "Unknown error of sluice";
}

// Only where the system has a word of its own for the same thing.
int natural_errno_of(errc value) noexcept {
    switch (value) {
    case errc::not_seekable: return ESPIPE;
    case errc::not_readable:
    case errc::not_writable:
    case errc::closed: return EBADF;
    case errc::operation_in_progress: return EINPROGRESS;
    case errc::timed_out: return ETIMEDOUT;
    case errc::before_begin:
    case errc::below_append_start: return EINVAL;
    case errc::sharing_violation: return EWOULDBLOCK;
    default: return 0;
    }
}

class sluice_category final : public boost::system::error_category {
public:
    // The identifier makes copies in several shared objects compare equal.
    constexpr sluice_category() noexcept : error_category(0x5d1b0f6c8e3a2947) {}

    const char* name() const noexcept override { return "sluice"; }
    std::string message(int value) const override { return text_of(static_cast<errc>(value)); }
    const char* message(int value, char*, std::size_t) const noexcept override {
        return text_of(static_cast<errc>(value));
    }
    boost::system::error_condition default_error_condition(int value) const noexcept override {
        if (const int number = natural_errno_of(static_cast<errc>(value)); number != 0)
            return {number, boost::system::generic_category()};
        return {value, *this};
    }
};

std::string describe(const error_code& code, const char* operation, const std::string* path) {
    std::string text = operation;
    if (path != nullptr && !path->empty())
        text.append(" '").append(*path).append("'");
    return text.append(": ").append(code.message());
}

} // namespace

const boost::system::error_category& category() noexcept {
    static constexpr sluice_category instance;
    return instance;
}

error_code make_error_code(errc value) noexcept {
    return {static_cast<int>(value), category()};
}

error_code cancelled_error() noexcept {
    return {ECANCELED, boost::system::system_category()};
}

error_code system_error_from(long raw_result) noexcept {
    return {static_cast<int>(-raw_result), boost::system::system_category()};
}

file_error::file_error(error_code code, const char* operation,
                       std::shared_ptr<const std::string> path, std::size_t bytes_transferred)
    : system_error(code, operation), operation_(operation), path_(std::move(path)),
      text_(std::make_shared<const std::string>(describe(code, operation, path_.get()))),
      transferred_(bytes_transferred) {}

} // namespace sluice
