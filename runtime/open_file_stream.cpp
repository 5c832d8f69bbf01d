// Opening: what was asked is checked, the file is opened (at once or on a worker), the strategy is
// chosen as the reference chooses it: a buffer size of 0 or 1 means no buffer.
#include <sluice/runtime/file_stream.hpp>

#include <sluice/completion/executor_queue.hpp>
#include <sluice/runtime/io_runtime.hpp>
#include <sluice/strategies/buffered_file_stream_strategy.hpp>

#include <cerrno>
#include <new>
#include <stdexcept>

namespace sluice {

struct file_stream_access {
    static file_stream make(strategies::file_stream_strategy* strategy) noexcept {
        return file_stream(strategy);
    }
};

namespace {

using completion::io_source;

// One open under way. Its own allocation: an open allocates the stream anyway.
struct opening {
    completion::loop& loop;
    completion::shared_path path;
    platform::open_request request;
    std::size_t buffer_size;
    resume_mode mode;
    platform::file_handle file;
    platform::open_outcome outcome;
};

completion::loop& loop_of(const file_stream::executor_type& executor) {
    const completion::queue_of_executor found(executor);
    auto* loop = dynamic_cast<completion::loop*>(&found.queue());
    if (loop == nullptr)
        throw std::invalid_argument("a file stream needs the executor of an io_runtime");
    return *loop; // the context holds it
}

void check(const std::filesystem::path& path, const open_options& options) {
    using enum file_mode;
    const auto refuse = [](const char* why) {
        throw std::invalid_argument(std::string("open: ") + why);
    };
    const file_mode mode = options.mode;
    if (path.empty())
        refuse("the path is empty");
    if (path.native().find('\0') != std::string::npos)
        refuse("the path contains a null character");
    if (mode > append)
        refuse("mode is none of file_mode");
    if (options.access < file_access::read || options.access > file_access::read_write)
        refuse("access is none of file_access");
    const auto every_share = file_share::read_write | file_share::remove | file_share::inheritable;
    if (options.share.has_value() && (*options.share & ~every_share) != file_share::none)
        refuse("share has bits that are none of file_share");
    if ((static_cast<unsigned>(options.options) & ~0xffu) != 0)
        refuse("options has bits that are none of file_options");
    if (mode == append && can_read(options.access))
        refuse("mode append goes with access write only");
    if (!can_write(options.access) && mode != open && mode != open_or_create)
        refuse("this mode needs access write");
    const bool makes_new = mode == create || mode == create_new;
    if (options.preallocation_size != 0 && !makes_new)
        refuse("preallocation_size goes with mode create or create_new only");
    if (options.preallocation_size >
        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        throw std::out_of_range("open: preallocation_size does not fit in 63 bits");
    if (options.create_permissions.has_value()) {
        if (mode == open || mode == truncate)
            refuse("create_permissions goes with modes that create");
        if ((static_cast<unsigned>(*options.create_permissions) & ~07777u) != 0)
            refuse("create_permissions has bits that are no permissions");
    }
}

opening prepare(const file_stream::executor_type& executor, const std::filesystem::path& path,
                const open_options& options) {
    check(path, options);
    completion::loop& loop = loop_of(executor);
    opening open{loop,
                 std::make_shared<const std::string>(path.native()),
                 {},
                 options.buffer_size,
                 options.resume.value_or(loop.options().resume),
                 {},
                 {}};
    open.request.path = open.path->c_str();
    open.request.mode = options.mode;
    open.request.access = options.access;
    open.request.share_given = options.share.has_value();
    open.request.share = options.share.value_or(file_share::none);
    open.request.options = options.options;
    open.request.preallocation_size = options.preallocation_size;
    if (options.create_permissions.has_value())
        open.request.create_permissions = static_cast<unsigned>(*options.create_permissions);
    return open;
}

strategies::file_stream_strategy*
choose_strategy(completion::loop& loop, const platform::file_handle& file,
                completion::shared_path path, resume_mode mode, std::uint64_t position,
                std::uint64_t append_floor, std::size_t buffer_size) {
    if (buffer_size > 1)
        return new strategies::buffered_file_stream_strategy(loop, file, std::move(path), mode,
                                                             position, append_floor, buffer_size);
    return new strategies::unix_file_stream_strategy(loop, file, std::move(path), mode, position,
                                                     append_floor);
}

// The stream of an open that succeeded. Out of memory: closed again.
strategies::file_stream_strategy* stream_of(opening& open) {
    const std::uint64_t floor = open.file.append && open.file.seekable ? open.outcome.length : 0;
    try {
        return choose_strategy(open.loop, open.file, open.path, open.mode, floor, floor,
                               open.buffer_size);
    } catch (...) {
        platform::close_file(open.file, open.request.path);
        throw;
    }
}

completion::failure why_not(const opening& open) {
    const error_code code = open.outcome.result == -EWOULDBLOCK && open.request.share_given
                                ? make_error_code(errc::sharing_violation)
                                : system_error_from(open.outcome.result);
    return {.code = code,
            .operation = open.outcome.step,
            .path = open.path,
            .transferred = 0,
            .exception = {}};
}

// --- on a worker ---

opening& opening_of(io_source& source) noexcept { return *static_cast<opening*>(source.owner); }

void run_on_worker(platform::request& op) noexcept {
    opening& open = opening_of(io_source::of(static_cast<platform::operation&>(op)));
    open.outcome = platform::open_file(open.request, open.file);
    op.result = open.outcome.result;
}

void opened(platform::operation& op) {
    io_source& source = io_source::of(op);
    const std::unique_ptr<opening> open(&opening_of(source));
    source.owner = nullptr;
    if (op.result < 0) {
        open->outcome.result = op.result; // a cancelled one never ran
        completion::failure why = why_not(*open);
        if (op.result == -ECANCELED)
            why.code = completion::code_of(source.reason);
        return source.finish_failed(std::move(why));
    }
    try {
        source.finish(reinterpret_cast<std::uintptr_t>(stream_of(*open)));
    } catch (const std::bad_alloc&) {
        open->outcome.result = -ENOMEM;
        source.finish_failed(why_not(*open));
    }
}

void begin(io_source& source) noexcept {
    source.home_loop().admit(source);
    if (source.reason == completion::cancel_reason::none)
        return source.home_loop().submit(source);
    source.operation.result = -ECANCELED;
    opened(source.operation);
}

void begin_posted(completion::ready_node& node, bool invoke) {
    io_source& source = io_source::of(node);
    source.run_as_continuation();
    if (!invoke)
        source.reason = completion::cancel_reason::requested;
    begin(source);
}

value_task<file_stream> open_on_worker(std::unique_ptr<opening> open, const std::stop_token& stop) {
    completion::loop& loop = open->loop;
    io_source& source = loop.rent(open->mode);
    static_cast<platform::operation&>(source.operation) = {};
    source.operation.code = platform::opcode::call;
    source.operation.call = &run_on_worker;
    source.operation.complete = &opened;
    source.owner = open.release();
    source.on_cancel = [](io_source& s, completion::cancel_reason) noexcept {
        s.home_loop().backend().cancel(s.operation);
    };
    source.on_discard = [](io_source& s) noexcept {
        completion::result_traits<file_stream>::discard(s);
    };
    value_task<file_stream> ticket(source);
    source.listen_to(stop);
    if (loop.running_here()) {
        begin(source);
    } else {
        source.run = &begin_posted;
        loop.post(source);
    }
    return ticket;
}

value_task<file_stream> failed_open(completion::loop& loop, completion::failure why) {
    io_source& source = loop.rent();
    source.fail(std::move(why));
    source.complete_sole();
    return value_task<file_stream>(source);
}

} // namespace

value_task<file_stream> file_stream::open_async(const executor_type& executor,
                                                const std::filesystem::path& path,
                                                const open_options& options, std::stop_token stop) {
    auto open = std::make_unique<opening>(prepare(executor, path, options));
    completion::loop& loop = open->loop;
    if (stop.stop_requested() || loop.forked() || loop.shut_down()) {
        completion::failure why = why_not(*open);
        why.code = loop.forked() ? make_error_code(errc::forked) : cancelled_error();
        return failed_open(loop, std::move(why));
    }
    if (platform::try_open_now(open->request, open->file, open->outcome)) {
        if (open->outcome.result < 0)
            return failed_open(loop, why_not(*open));
        return value_task<file_stream>(file_stream(stream_of(*open)), &loop);
    }
    return open_on_worker(std::move(open), stop);
}

file_stream file_stream::open(const executor_type& executor, const std::filesystem::path& path,
                              const open_options& options) {
    opening open = prepare(executor, path, options);
    if (open.loop.forked())
        throw file_error(make_error_code(errc::forked), "open", open.path);
    open.outcome = platform::open_file(open.request, open.file);
    if (open.outcome.result < 0)
        why_not(open).raise();
    return file_stream(stream_of(open));
}

result<file_stream> file_stream::try_open(const executor_type& executor,
                                          const std::filesystem::path& path,
                                          const open_options& options) {
    opening open = prepare(executor, path, options);
    if (open.loop.forked())
        return make_error_code(errc::forked);
    open.outcome = platform::open_file(open.request, open.file);
    if (open.outcome.result < 0)
        return why_not(open).code;
    return file_stream(stream_of(open));
}

file_stream::file_stream(const executor_type& executor, native_handle_type descriptor,
                         file_access access, std::size_t buffer_size) {
    if (descriptor < 0)
        throw std::invalid_argument("file_stream: the descriptor is negative");
    if (access < file_access::read || access > file_access::read_write)
        throw std::invalid_argument("file_stream: access is none of file_access");
    completion::loop& loop = loop_of(executor);
    platform::file_handle file;
    std::uint64_t position = 0;
    if (const long adopted = platform::adopt_descriptor(descriptor, access, file, position);
        adopted < 0)
        throw file_error(system_error_from(adopted), "adopt", nullptr);
    const std::uint64_t floor = file.append && file.seekable ? position : 0;
    strategy_ =
        choose_strategy(loop, file, nullptr, loop.options().resume, position, floor, buffer_size);
}

file_stream::executor_type file_stream::get_executor() const {
    boost::asio::execution_context* context = opened("get_executor").loop().context();
    if (context == nullptr)
        throw file_error(make_error_code(errc::closed), "get_executor", strategy_->path());
    return static_cast<io_runtime*>(context)->get_executor();
}

} // namespace sluice
