// A core for a value that was known at once and whose callback has to be posted all the same.
#pragma once

#include <sluice/completion/typed_core.hpp>

namespace sluice::completion {

/// A core that belongs to nobody but its ticket.
template <class T>
typed_core<T>& standalone_core() {
    static constexpr source_core::verbs kind{
        [](source_core& core) noexcept {
            core.renew();
            core_slab<T>::put(static_cast<typed_core<T>&>(core));
        },
        [](source_core&, std::uint32_t, cancel_reason) noexcept {},
        [](source_core& core) noexcept { result_traits<T>::discard(core); },
    };
    typed_core<T>& core = *core_slab<T>::take(kind, nullptr);
    core.become(kind);
    core.set_home(nullptr);
    core.set_owned(false);
    core.renew();
    return core;
}

template <class T>
source_core& rent_for_callback(resume_queue& queue) {
    if constexpr (travels_in_word<T>)
        if (source_core* core = queue.rent_core(); core != nullptr)
            return *core;
    typed_core<T>& core = standalone_core<T>();
    core.set_home(&queue);
    return core;
}

/// A value task that has failed already, of a stream that has no loop (closed, moved from, never
/// opened).
template <class T>
source_core& failed_core(failure why) {
    typed_core<T>& core = standalone_core<T>();
    core.fail(std::move(why));
    core.complete_sole();
    return core;
}

} // namespace sluice::completion
