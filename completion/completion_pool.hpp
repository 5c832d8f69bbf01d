// Completion sources to rent: bounded, and without a lock or an allocation on the thread that runs
// the executor.
//
// Threads: any; the thread that runs the executor has a list of its own. The pool outlives what was
// rented from it.
#pragma once

#include <sluice/completion/completion_source.hpp>
#include <sluice/platform/fork_mutex.hpp>

#include <cstdint>
#include <mutex>

namespace sluice {

struct completion_pool_statistics {
    std::uint64_t made = 0; ///< sources so far
    std::size_t rented = 0; ///< of these, out of the pool now
    std::size_t idle = 0;   ///< of these, in the pool now
};

template <class T>
class completion_pool {
public:
    class pooled_source;

    /// Keeps at most `bound` idle sources.
    template <class Executor>
    explicit completion_pool(const Executor& executor, resume_mode mode = resume_mode::inline_,
                             std::size_t bound = 1024)
        : queue_(executor), mode_(mode), bound_(bound) {}
    completion_pool(const completion_pool&) = delete;
    completion_pool& operator=(const completion_pool&) = delete;
    ~completion_pool() {
        empty(own_);
        empty(shared_);
    }

    /// A source at a new version, with the pool's settings. It gives itself back when its handle is
    /// destroyed.
    pooled_source rent() {
        if (queue_.queue().alone_here()) [[likely]]
            return pooled_source(take_from(own_));
        return pooled_source(take_from_shared());
    }

    /// While nobody rents or gives back.
    completion_pool_statistics statistics() const {
        const std::lock_guard lock(mutex_);
        const std::size_t idle = count(own_) + count(shared_);
        return {made_, made_ - gone_ - idle, idle};
    }

    /// A completion source that belongs to the pool.
    class pooled_source : public source_handle<T> {
    public:
        pooled_source(pooled_source&&) noexcept = default;
        pooled_source& operator=(pooled_source&& other) noexcept {
            std::swap(this->core_, other.core_);
            return *this;
        }
        ~pooled_source() {
            if (this->core_ == nullptr)
                return;
            completion::typed_core<T>& core = *this->core_;
            auto& pool = *static_cast<completion_pool*>(core.keeper);
            if (core.ended_plainly() && pool.queue_.queue().alone_here()) [[likely]] {
                core.renew_plainly();
                put_into(pool.own_, core);
            } else {
                give_back_carefully(pool);
            }
        }
        pooled_source* operator->() noexcept { return this; }

    private:
        friend completion_pool;
        [[gnu::noinline]] void give_back_carefully(completion_pool& pool) noexcept {
            completion::typed_core<T>& core = *this->core_;
            if (this->let_go(core))
                pool.give_back(core);
            else
                pool.left_to_ticket(core);
        }
        explicit pooled_source(completion::typed_core<T>& core) noexcept
            : source_handle<T>(&core) {}
    };

private:
    using place = completion::source_core::place;
    struct list {
        completion::typed_core<T>* first = nullptr;
    };

    completion::typed_core<T>& take_from(list& from) {
        completion::typed_core<T>* core = from.first;
        if (core == nullptr) [[unlikely]]
            return find_or_make();
        from.first = core->next_free();
        return *core;
    }
    [[gnu::noinline, gnu::cold]] completion::typed_core<T>& take_from_shared() {
        {
            const std::lock_guard lock(mutex_);
            if (completion::typed_core<T>* core = shared_.first; core != nullptr) {
                shared_.first = core->next_free();
                core->goes_to(place::shared);
                return *core;
            }
        }
        return make(place::shared);
    }
    // What the executor's thread rented and others gave back, so that neither list runs dry for
    // ever.
    [[gnu::noinline, gnu::cold]] completion::typed_core<T>& find_or_make() {
        {
            const std::lock_guard lock(mutex_);
            own_.first = std::exchange(shared_.first, nullptr);
        }
        for (auto* core = own_.first; core != nullptr; core = core->next_free())
            core->goes_to(place::own);
        if (own_.first == nullptr)
            return make(place::own);
        return *std::exchange(own_.first, own_.first->next_free());
    }
    completion::typed_core<T>& make(place kept_in) {
        completion::typed_core<T>& core = completion::new_public_core<T>(queue_.queue(), mode_);
        core.keeper = this;
        const std::lock_guard lock(mutex_);
        ++made_;
        core.goes_to(kept_ < bound_ ? kept_in : place::slab);
        kept_ += core.goes_to() != place::slab ? 1 : 0;
        return core;
    }

    void give_back(completion::typed_core<T>& core) noexcept {
        core.forget_choice(mode_);
        if (core.goes_to() == place::own && queue_.queue().alone_here())
            put_into(own_, core);
        else
            give_back_to_others(core);
    }
    [[gnu::noinline, gnu::cold]] void
    give_back_to_others(completion::typed_core<T>& core) noexcept {
        const std::lock_guard lock(mutex_);
        if (core.goes_to() != place::slab)
            return put_into(shared_, core);
        ++gone_;
        completion::core_slab<T>::put(core);
    }
    [[gnu::noinline, gnu::cold]] void left_to_ticket(completion::typed_core<T>& core) noexcept {
        const std::lock_guard lock(mutex_);
        ++gone_;
        kept_ -= core.goes_to() != place::slab ? 1 : 0;
    }
    static void put_into(list& to, completion::typed_core<T>& core) noexcept {
        core.next_free(to.first);
        to.first = &core;
    }
    static std::size_t count(const list& cores) noexcept {
        std::size_t idle = 0;
        for (const auto* core = cores.first; core != nullptr; core = core->next_free())
            ++idle;
        return idle;
    }
    static void empty(list& cores) noexcept {
        while (completion::typed_core<T>* core = cores.first) {
            cores.first = core->next_free();
            completion::core_slab<T>::put(*core);
        }
    }

    completion::queue_of_executor queue_;
    resume_mode mode_;
    std::size_t bound_;
    list own_; // of the thread that runs the executor
    mutable platform::fork_mutex mutex_;
    list shared_;            // of all others
    std::uint64_t made_ = 0; // cores, so far
    std::uint64_t gone_ = 0; // of these, that do not come back
    std::size_t kept_ = 0;   // cores that go back into the pool, `bound_` at most
};

} // namespace sluice
