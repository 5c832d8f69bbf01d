// Errors of sluice: conditions without an errno (`errc`), the exception of an I/O failure
// (`file_error`), and the exception of misuse (`invalid_operation`). An errno stays itself, in the
// system category.
#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>
#include <boost/system/system_error.hpp>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

namespace sluice {

using error_code = boost::system::error_code;
template <class T>
using result = boost::system::result<T>;

/// Conditions that have no errno of their own.
enum class errc {
    end_of_stream = 1,     ///< read_exactly or read_at_least met the end of the file first
    not_seekable,          ///< position, length or seek on a pipe, socket or terminal
    not_readable,          ///< read on a stream that was opened for writing only
    not_writable,          ///< write on a stream that was opened for reading only
    closed,                ///< the stream is closed (or was moved from)
    operation_in_progress, ///< a synchronous call met asynchronous operations in flight
    timed_out,             ///< the deadline passed first
    abandoned,             ///< the completion source was destroyed before it was completed
    forked,                ///< the stream or runtime belongs to the parent process
    exception,             ///< the source was completed with an exception
    before_begin,          ///< a seek to before the beginning of the file
    below_append_start,    ///< a seek or truncation below the length that the file had at open
    sharing_violation,     ///< another handle holds the file in a way that `share` forbids
};

const boost::system::error_category& category() noexcept;
error_code make_error_code(errc value) noexcept;

/// The code of an operation that was ended by cancel, stop_token or a cancellation slot: ECANCELED.
error_code cancelled_error() noexcept;
/// The code for a raw result: a negative errno, as platform::operation carries it.
error_code system_error_from(long raw_result) noexcept;

/// An I/O failure: what() carries the operation, the path and the system's words.
class file_error : public boost::system::system_error {
public:
    file_error(error_code code, const char* operation, std::shared_ptr<const std::string> path,
               std::size_t bytes_transferred = 0);

    /// "read '/tmp/x': Input/output error"
    const char* what() const noexcept override { return text_->c_str(); }
    /// The operation that failed: "open", "read", "write", "flush", "sync", "close" and so on.
    const char* operation() const noexcept { return operation_; }
    /// The path as it was given at open; empty when the stream was made from a descriptor.
    std::filesystem::path path() const {
        return path_ ? std::filesystem::path(*path_) : std::filesystem::path();
    }
    /// How many bytes of this one call reached the system before it failed.
    std::size_t bytes_transferred() const noexcept { return transferred_; }

private:
    const char* operation_;
    std::shared_ptr<const std::string> path_;
    std::shared_ptr<const std::string> text_; // shared: copying an exception must not throw
    std::size_t transferred_;
};

/// Misuse of a value task or completion source: stale, second or premature use.
class invalid_operation : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

} // namespace sluice

template <>
struct boost::system::is_error_code_enum<sluice::errc> : std::true_type {};
