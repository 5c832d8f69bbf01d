// The thin shell: arguments are checked here, the strategy does the rest.
#include <sluice/runtime/file_stream.hpp>

#include <sluice/completion/rent_for_callback.hpp>
#include <sluice/runtime/io_runtime.hpp>
#include <sluice/strategies/file_stream_strategy.hpp>

#include <limits>
#include <stdexcept>

namespace sluice {

using strategies::verb;

namespace {

constexpr std::uint64_t largest_offset = std::numeric_limits<std::int64_t>::max();

void require_offset(std::uint64_t offset, const char* what) {
    if (offset > largest_offset)
        throw std::out_of_range(std::string(what) + " does not fit in 63 bits");
}

template <class T>
value_task<T> closed_task(const char* operation) {
    return value_task<T>(completion::failed_core<T>({.code = make_error_code(errc::closed),
                                                     .operation = operation,
                                                     .path = {},
                                                     .transferred = 0,
                                                     .exception = {}}));
}

void require_minimum(std::size_t minimum, std::size_t size) {
    if (minimum > size)
        throw std::out_of_range("read_at_least: minimum is larger than the buffer");
}
// Where nothing is needed, nothing is read.
std::span<std::byte> wanted(std::span<std::byte> buffer, std::size_t minimum) {
    require_minimum(minimum, buffer.size());
    return minimum == 0 ? buffer.first(0) : buffer;
}

} // namespace

strategies::file_stream_strategy& file_stream::opened(const char* operation) const {
    if (strategy_ == nullptr)
        throw file_error(make_error_code(errc::closed), operation, nullptr);
    return *strategy_;
}

file_stream& file_stream::operator=(file_stream&& other) noexcept {
    const file_stream old(std::exchange(strategy_, std::exchange(other.strategy_, nullptr)));
    return *this;
}

file_stream::~file_stream() {
    if (strategy_ != nullptr)
        strategy_->abandon();
}

// --- asynchronous ---

value_task<std::size_t> file_stream::read_async(std::span<std::byte> buffer, std::stop_token stop) {
    if (strategy_ == nullptr) [[unlikely]]
        return closed_task<std::size_t>("read");
    return strategy_->read_async(buffer, stop);
}

value_task<std::size_t> file_stream::read_at_least_async(std::span<std::byte> buffer,
                                                         std::size_t minimum,
                                                         std::stop_token stop) {
    const std::span<std::byte> place = wanted(buffer, minimum);
    if (strategy_ == nullptr)
        return closed_task<std::size_t>("read");
    return strategy_->read_at_least_async(place, minimum, stop);
}

value_task<void> file_stream::read_exactly_async(std::span<std::byte> buffer,
                                                 std::stop_token stop) {
    if (strategy_ == nullptr)
        return closed_task<void>("read");
    return strategy_->read_exactly_async(buffer, stop);
}

value_task<void> file_stream::write_async(std::span<const std::byte> data, std::stop_token stop) {
    if (strategy_ == nullptr) [[unlikely]]
        return closed_task<void>("write");
    return strategy_->write_async(data, stop);
}

value_task<void> file_stream::control_async(verb what, std::uint64_t argument, std::uint64_t extent,
                                            const std::stop_token& stop) {
    if (strategy_ == nullptr)
        return closed_task<void>(name_of(what));
    return strategy_->control_async(what, argument, extent, stop);
}

value_task<void> file_stream::flush_async(std::stop_token stop) {
    return control_async(verb::flush, 0, 0, stop);
}
value_task<void> file_stream::sync_async(std::stop_token stop) {
    return control_async(verb::sync, 0, 0, stop);
}
value_task<void> file_stream::sync_data_async(std::stop_token stop) {
    return control_async(verb::sync_data, 0, 0, stop);
}

value_task<void> file_stream::set_length_async(std::uint64_t length, std::stop_token stop) {
    require_offset(length, "set_length: the length");
    return control_async(verb::set_length, length, 0, stop);
}

value_task<void> file_stream::lock_async(std::uint64_t offset, std::uint64_t length,
                                         std::stop_token stop) {
    require_offset(offset, "lock: the offset");
    require_offset(length, "lock: the length");
    return control_async(verb::lock, offset, length, stop);
}

value_task<void> file_stream::unlock_async(std::uint64_t offset, std::uint64_t length,
                                           std::stop_token stop) {
    require_offset(offset, "unlock: the offset");
    require_offset(length, "unlock: the length");
    return control_async(verb::unlock, offset, length, stop);
}

value_task<void> file_stream::close_async() {
    if (strategy_ == nullptr)
        return value_task<void>(completion::nothing{});
    return strategy_->control_async(verb::close, 0, 0, {});
}

// --- synchronous ---

std::size_t file_stream::read(std::span<std::byte> buffer) { return opened("read").read(buffer); }

std::size_t file_stream::read_at_least(std::span<std::byte> buffer, std::size_t minimum) {
    const std::span<std::byte> place = wanted(buffer, minimum);
    return opened("read").read_at_least(place, minimum);
}

void file_stream::read_exactly(std::span<std::byte> buffer) {
    opened("read").read_at_least(buffer, buffer.size());
}
int file_stream::read_byte() { return opened("read").read_byte(); }
void file_stream::write(std::span<const std::byte> data) { opened("write").write(data); }
void file_stream::write_byte(std::byte value) { opened("write").write({&value, 1}); }
void file_stream::flush(bool to_disk) {
    opened("flush").control(to_disk ? verb::sync : verb::flush);
}
void file_stream::sync() { opened("sync").control(verb::sync); }
void file_stream::sync_data() { opened("sync_data").control(verb::sync_data); }

void file_stream::lock(std::uint64_t offset, std::uint64_t length) {
    require_offset(offset, "lock: the offset");
    require_offset(length, "lock: the length");
    opened("lock").control(verb::lock, offset, length);
}

void file_stream::unlock(std::uint64_t offset, std::uint64_t length) {
    require_offset(offset, "unlock: the offset");
    require_offset(length, "unlock: the length");
    opened("unlock").control(verb::unlock, offset, length);
}

void file_stream::close() {
    if (strategy_ != nullptr)
        strategy_->control(verb::close);
}

// --- state ---

std::uint64_t file_stream::length() const { return opened("length").length(); }

void file_stream::set_length(std::uint64_t length) {
    require_offset(length, "set_length: the length");
    opened("set_length").control(verb::set_length, length);
}

std::uint64_t file_stream::position() const { return opened("position").position(); }

void file_stream::position(std::uint64_t position) {
    require_offset(position, "position");
    opened("position").seek_to(position);
}

std::uint64_t file_stream::seek(std::int64_t offset, seek_origin origin) {
    return opened("seek").seek(offset, origin);
}

bool file_stream::can_read() const noexcept {
    return strategy_ != nullptr && strategy_->can_read();
}
bool file_stream::can_write() const noexcept {
    return strategy_ != nullptr && strategy_->can_write();
}
bool file_stream::can_seek() const noexcept {
    return strategy_ != nullptr && strategy_->can_seek();
}
bool file_stream::is_open() const noexcept { return strategy_ != nullptr && strategy_->is_open(); }

std::filesystem::path file_stream::path() const {
    return strategy_ != nullptr && strategy_->path() ? std::filesystem::path(*strategy_->path())
                                                     : std::filesystem::path();
}

int file_stream::native_handle() { return opened("native_handle").native_handle(); }
int file_stream::release() { return opened("release").release(); }

std::size_t file_stream::alignment() const {
    const strategies::file_stream_strategy& strategy = opened("alignment");
    if (!strategy.is_open())
        throw file_error(make_error_code(errc::closed), "alignment", strategy.path());
    return platform::direct_alignment_of(strategy.file());
}

bool file_stream::is_direct() const noexcept {
    return strategy_ != nullptr && strategy_->file().is_direct;
}

void file_stream::cancel() {
    if (strategy_ != nullptr)
        strategy_->cancel();
}

} // namespace sluice
