#include <sluice/completion/io_source.hpp>
#include <sluice/completion/loop.hpp>

namespace sluice::completion {

const source_core::verbs io_source::kind{
    [](source_core& core) noexcept {
        auto& source = static_cast<io_source&>(core);
        source.loop_->give_back(source);
    },
    [](source_core& core, std::uint32_t, cancel_reason reason) noexcept {
        auto& source = static_cast<io_source&>(core);
        if (source.on_cancel == nullptr || source.reason != cancel_reason::none)
            return;
        source.reason = reason;
        if (source.admitted)
            source.on_cancel(source, reason);
    },
    [](source_core& core) noexcept {
        auto& source = static_cast<io_source&>(core);
        if (source.on_discard != nullptr)
            source.on_discard(source);
    },
};

void io_source::start_listening(const std::stop_token& token) {
    stop_callback_.emplace(token, stop_request{this, version()});
    listens_ = true;
}

void io_source::complete_on_loop() {
    loop& home = *loop_;
    home.completed(*this);
    complete_in_batch([&home](ready_node& node) { home.run_after_batch(node); });
}

} // namespace sluice::completion
