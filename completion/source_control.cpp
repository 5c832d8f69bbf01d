// What other threads ask of the home queue for a core, and deadlines.
#include <sluice/completion/source_core.hpp>

#include <stdexcept>

namespace sluice::completion {

// RACE: cancel against the end of its operation and the next use of the core.
//  - the queue's own thread: nothing of this core runs meanwhile; the version decides.
//  - another thread: the request carries its version. Recycled before the queue sees it: versions
//    differ, ignored.
//  - the core was recycled and is cancelled again while the old request is still queued: the newer
//    one replaces the word, the node is not queued twice, and the queue finds the newer version.
//  - several requests for one version: both stay.
// The word is cleared after the answer, so that tied() keeps the core at this queue until then;
// what was asked meanwhile is answered in another round.
void source_core::cancel(std::uint32_t version, cancel_reason reason) noexcept {
    if (home_ == nullptr || this->version() != version)
        return;
    if (home_->running_here())
        kind_->cancel(*this, version, reason);
    else
        ask_home(version, ask_to_cancel);
}

void source_core::arm_deadline(std::uint32_t version, time_point when) {
    if ((checked(version) & done) != 0)
        return;
    if (home_ == nullptr || !home_->has_timers())
        throw std::invalid_argument("a deadline needs an executor of an io_runtime");
    if (home_->running_here())
        return start_timer(version, when);
    control_.deadline.store(when.time_since_epoch().count(), std::memory_order_relaxed);
    ask_home(version, ask_for_deadline);
}

void source_core::ask_home(std::uint32_t version, std::uint64_t what) noexcept {
    std::uint64_t seen = control_.wanted.load(std::memory_order_relaxed);
    std::uint64_t wanted;
    do {
        const auto before = static_cast<std::uint32_t>(seen >> 32);
        if (seen != 0 && static_cast<std::int32_t>(version - before) < 0)
            return; // a newer operation asks for something
        wanted = (std::uint64_t{version} << 32) | what | (version == before ? seen : 0);
    } while (!control_.wanted.compare_exchange_weak(seen, wanted, std::memory_order_acq_rel,
                                                    std::memory_order_relaxed));
    if (seen == 0)
        home_->post(control_);
}

void source_core::run_control(ready_node& self, bool invoke) {
    auto& control = static_cast<control_node&>(self);
    std::uint64_t wanted = control.wanted.load(std::memory_order_acquire);
    do {
        control.core->answer(wanted, invoke);
    } while (!control.wanted.compare_exchange_strong(wanted, 0, std::memory_order_acq_rel,
                                                     std::memory_order_acquire));
}

void source_core::answer(std::uint64_t asked, bool invoke) {
    const auto wanted_version = static_cast<std::uint32_t>(asked >> 32);
    if ((asked & ask_for_waiter) != 0 && version() == wanted_version)
        answer_for_waiter(invoke);
    if ((asked & owner_leaves) != 0)
        return owner_left();
    if (!invoke || version() != wanted_version || (look() & done) != 0)
        return;
    if ((asked & ask_for_deadline) != 0)
        start_timer(wanted_version, time_point(time_point::duration(
                                        control_.deadline.load(std::memory_order_relaxed))));
    if ((asked & ask_to_cancel) != 0)
        kind_->cancel(*this, wanted_version, cancel_reason::requested);
}

void source_core::start_timer(std::uint32_t version, time_point when) {
    touch();
    home_->arm(timer_, when);
    timer_.version = version;
    timer_.in_use.store(true, std::memory_order_relaxed);
}

void source_core::deadline_expired(timer_node& timer, bool invoke) {
    auto& expired = static_cast<deadline_timer&>(timer);
    source_core& core = *expired.core;
    // Until then the core stays at this queue, whatever runs in here; it may be armed again.
    struct leaving {
        deadline_timer& timer;
        ~leaving() { timer.in_use.store(timer.armed(), std::memory_order_release); }
    };
    const leaving scope{expired};
    if (invoke && core.version() == expired.version && (core.look() & done) == 0)
        core.kind_->cancel(core, expired.version, cancel_reason::deadline);
}

} // namespace sluice::completion
