// A core with room for a result of type T, and the slab that such cores live in.
#pragma once

#include <sluice/completion/source_core.hpp>
#include <sluice/platform/fork_mutex.hpp>

#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

namespace sluice::completion {

template <class T>
struct result_traits;

template <class T>
class typed_core : public source_core {
public:
    using source_core::source_core;
    ~typed_core() = default;

    template <class... Args>
    void emplace(Args&&... args) {
        if constexpr (!travels_in_word<T>)
            std::construct_at(reinterpret_cast<T*>(storage_), std::forward<Args>(args)...);
        else if constexpr (!std::is_void_v<T>)
            result_traits<T>::put(*this, T(std::forward<Args>(args)...));
    }
    /// The same for a result that travels in the word; nothing of the user runs.
    template <class Known>
    void emplace_known(Known&& known) noexcept {
        if constexpr (!std::is_void_v<T>)
            result_traits<T>::put(*this, std::forward<Known>(known));
    }
    /// Only for results that do not travel in the word.
    auto& value() noexcept {
        return *std::launder(reinterpret_cast<std::add_pointer_t<T>>(storage_));
    }

    /// While it is in a list of a pool or the slab, and so in no queue.
    typed_core* next_free() const noexcept {
        return static_cast<typed_core*>(static_cast<source_core*>(next));
    }
    void next_free(typed_core* core) noexcept { next = core; }

private:
    static constexpr std::size_t room = [] {
        if constexpr (travels_in_word<T>)
            return std::size_t{1};
        else
            return sizeof(T);
    }();
    static constexpr std::size_t alignment = [] {
        if constexpr (travels_in_word<T>)
            return std::size_t{1};
        else
            return alignof(T);
    }();
    alignas(alignment) std::byte storage_[room];
};

/// Lets go of a core whose result was taken, also when moving it threw.
class consuming {
public:
    explicit consuming(source_core& core) noexcept : core_(core) {}
    ~consuming() { core_.consume(); }
    consuming(const consuming&) = delete;
    consuming& operator=(const consuming&) = delete;

private:
    source_core& core_;
};

/// The same after delivered_here().
class consuming_here {
public:
    explicit consuming_here(source_core& core) noexcept : core_(core) {}
    ~consuming_here() { core_.consume_here(); }
    consuming_here(const consuming_here&) = delete;
    consuming_here& operator=(const consuming_here&) = delete;

private:
    source_core& core_;
};

/// Puts a result into a core and takes it out; specialised, with travels_in_word, for results that
/// are handles.
template <class T>
struct result_traits {
    template <class Value>
    static void put(source_core& core, Value&& value) {
        if constexpr (travels_in_word<T>) {
            core.word = 0;
            std::memcpy(&core.word, &value, sizeof(T));
        } else {
            static_cast<typed_core<T>&>(core).emplace(std::forward<Value>(value));
        }
    }
    static T take(source_core& core) {
        if constexpr (std::is_void_v<T>) {
            return;
        } else if constexpr (travels_in_word<T>) {
            T value;
            std::memcpy(static_cast<void*>(&value), &core.word, sizeof value);
            return value;
        } else {
            struct destroying {
                T& held;
                ~destroying() { std::destroy_at(&held); }
            };
            const destroying scope{static_cast<typed_core<T>&>(core).value()};
            return T(std::move(scope.held));
        }
    }
    static void discard(source_core& core) noexcept {
        if constexpr (!travels_in_word<T>)
            std::destroy_at(&static_cast<typed_core<T>&>(core).value());
    }
};

/// Cores of one type, shared by the process and never returned to the system. Any thread.
template <class T>
class core_slab {
public:
    /// For use at `home`.
    static typed_core<T>* take(const source_core::verbs& kind, const resume_queue* home) {
        {
            const std::lock_guard lock(platform::process_mutex);
            ready_node** at = &free_;
            for (int tries = 16; *at != nullptr && tries > 0; --tries) {
                auto* const core = static_cast<typed_core<T>*>(static_cast<source_core*>(*at));
                if (!core->tied() || core->home() == home) [[likely]] {
                    *at = core->next;
                    return core;
                }
                at = &core->next;
            }
        }
        return new typed_core<T>(kind);
    }
    static void put(typed_core<T>& core) noexcept {
        const std::lock_guard lock(platform::process_mutex);
        core.next = free_;
        free_ = &core;
    }

private:
    static inline constinit ready_node* free_ = nullptr; // guarded by process_mutex
};

} // namespace sluice::completion
