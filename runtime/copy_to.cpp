// Copies one stream into another. The asynchronous way is a coroutine on the source's executor that
// reads ahead while a write has to wait; its ticket is an I/O source like that of any other call.
#include <sluice/runtime/copying.hpp>
#include <sluice/runtime/file_stream.hpp>

#include <sluice/completion/rent_for_callback.hpp>
#include <sluice/runtime/io_runtime.hpp>
#include <sluice/runtime/root.hpp>

#include <memory>
#include <stdexcept>

namespace sluice {

using namespace runtime_detail;

namespace {

shared_path path_of(const file_stream_strategy* stream) {
    return stream != nullptr ? stream->path() : nullptr;
}

// Why there can be no copy; no code: nothing is in the way.
failure objection(const file_stream_strategy* source, const file_stream_strategy* destination) {
    const auto because = [](errc code, const file_stream_strategy* stream) {
        return failure{.code = make_error_code(code),
                       .operation = "copy",
                       .path = path_of(stream),
                       .transferred = 0,
                       .exception = {}};
    };
    for (const file_stream_strategy* stream : {source, destination}) {
        if (stream == nullptr || !stream->is_open())
            return because(errc::closed, stream);
        if (stream->loop().forked())
            return because(errc::forked, stream);
    }
    if (source == destination)
        throw std::invalid_argument("copy_to: a stream cannot be copied to itself");
    if (!source->can_read())
        return because(errc::not_readable, source);
    if (!destination->can_write())
        return because(errc::not_writable, destination);
    return {};
}

root run_copy(std::unique_ptr<copying> owned) {
    copying& copy = *owned;
    try {
        copy.begin();
        while (copy.took(co_await std::move(copy.reading))) {
            copy.write_piece();
            co_await std::move(copy.writing);
            copy.wrote_piece();
        }
    } catch (...) {
        copy.failed();
    }
    if (copy.reads_still()) {
        const result<std::size_t> last = co_await std::move(copy.reading).as_result();
        copy.took_last(last);
    }
    copy.finish();
}

} // namespace

value_task<std::uint64_t> file_stream::copy_to_async(file_stream& destination,
                                                     const copy_options& options,
                                                     std::stop_token stop) {
    failure why = objection(strategy_, destination.strategy_);
    if (!why.code && strategy_->loop().shut_down())
        why.code = make_error_code(errc::closed);
    if (!why.code && stop.stop_requested())
        why = {.code = cancelled_error(),
               .operation = "copy",
               .path = strategy_->path(),
               .transferred = 0,
               .exception = {}};
    if (why.code && strategy_ == nullptr)
        return value_task<std::uint64_t>(completion::failed_core<std::uint64_t>(std::move(why)));

    io_source& source = strategy_->loop().rent();
    if (why.code) {
        source.fail(std::move(why));
        source.complete_sole();
        return value_task<std::uint64_t>(source);
    }
    source.own_mode(strategy_->mode());
    value_task<std::uint64_t> ticket(source);
    auto copy = std::make_unique<copying>(*strategy_, *destination.strategy_, options, source);
    source.listen_to(stop);
    auto& runtime = *static_cast<io_runtime*>(strategy_->loop().context());
    run_copy(std::move(copy)).start_now_or_on(runtime.get_executor());
    return ticket;
}

std::uint64_t file_stream::copy_to(file_stream& destination, const copy_options& options) {
    if (const failure why = objection(strategy_, destination.strategy_); why.code)
        why.raise();
    const std::size_t size = piece_size(*strategy_, *destination.strategy_, options.buffer_size);
    const piece_memory memory = allocate_piece(size);
    std::uint64_t done = 0;
    while (const std::size_t held = strategy_->read({memory.get(), size})) {
        try {
            destination.strategy_->write({memory.get(), held});
        } catch (const file_error& error) {
            give_back(*strategy_, held - error.bytes_transferred());
            throw;
        }
        done += held;
        if (options.progress)
            options.progress(done);
    }
    return done;
}

} // namespace sluice
