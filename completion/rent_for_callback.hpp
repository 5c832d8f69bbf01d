// A core for a value that was known at once and whose callback has to be posted all the same.
#pragma once

#include <sluice/completion/typed_core.hpp>

namespace sluice::completion {

template <class T>
source_core& rent_for_callback(resume_queue& queue) {
    if constexpr (travels_in_word<T>)
        if (source_core* core = queue.rent_core(); core != nullptr)
            return *core;
    static constexpr source_core::verbs kind{
        [](source_core& core) noexcept {
            core.renew();
            core_slab<T>::put(static_cast<typed_core<T>&>(core));
        },
        [](source_core&, cancel_reason) noexcept {},
        [](source_core& core) noexcept { result_traits<T>::discard(core); },
    };
    source_core& core = *core_slab<T>::take(kind);
    core.become(kind);
    core.set_home(&queue);
    core.set_owned(false);
    core.renew();
    return core;
}

template <class T>
void put_result(source_core& core, T value) {
    if constexpr (travels_in_word<T>) {
        core.word = 0;
        std::memcpy(&core.word, &value, sizeof value);
    } else {
        static_cast<typed_core<T>&>(core).emplace(std::move(value));
    }
}

} // namespace sluice::completion
