#include <sluice/runtime/sleep.hpp>

#include <sluice/completion/loop.hpp>

#include <cerrno>
#include <stdexcept>

namespace sluice::runtime_detail {

namespace {

using completion::io_source;
using completion::time_point;

struct sleeper : completion::timer_node {
    io_source* source = nullptr;
};
static_assert(std::is_trivially_copyable_v<sleeper>);

void begin(io_source& source) {
    completion::loop& loop = source.home_loop();
    loop.admit(source);
    auto& timer = source.memo<sleeper>();
    if (source.reason != completion::cancel_reason::none)
        return source.finish_failed(
            {.code = cancelled_error(), .operation = nullptr, .path = {}, .exception = {}});
    loop.arm(timer, timer.when);
}

void begin_posted(completion::ready_node& node, bool invoke) {
    io_source& source = io_source::of(node);
    source.run_as_continuation();
    if (!invoke)
        source.reason = completion::cancel_reason::requested;
    begin(source);
}

void cancelled(io_source& source, completion::cancel_reason reason) noexcept {
    source.home_loop().disarm(source.memo<sleeper>());
    source.finish_failed({.code = completion::code_of(reason),
                          .operation = nullptr,
                          .path = {},
                          .exception = {}});
}

} // namespace

value_task<void> sleep_on(completion::resume_queue& queue, time_point until,
                          const std::stop_token& stop) {
    auto* loop = dynamic_cast<completion::loop*>(&queue);
    if (loop == nullptr)
        throw std::invalid_argument("sleep needs an executor of an io_runtime");
    io_source& source = loop->rent();
    sleeper& timer = source.remember(sleeper{});
    timer.when = until;
    timer.source = &source;
    timer.expired = [](completion::timer_node& self, bool) {
        static_cast<sleeper&>(self).source->finish(0);
    };
    source.on_cancel = &cancelled;
    value_task<void> ticket(source);
    source.listen_to(stop);
    if (loop->running_here()) {
        begin(source);
    } else {
        source.run = &begin_posted;
        loop->post(source);
    }
    return ticket;
}

} // namespace sluice::runtime_detail
