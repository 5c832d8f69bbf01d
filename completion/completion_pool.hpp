// Completion sources to rent: bounded, and without a lock or an allocation on the thread that runs
// the executor.
//
// Threads: any; the thread that runs the executor has a list of its own. The pool outlives what was
// rented from it.
#pragma once

#include <sluice/completion/completion_source.hpp>

#include <cassert>
#include <cstdint>
#include <mutex>

namespace sluice {

struct completion_pool_statistics {
    std::uint64_t rented = 0;   ///< so far
    std::uint64_t returned = 0; ///< so far
    std::size_t idle = 0;       ///< in the pool now
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
        if (queue_.queue().alone_here()) [[likely]] {
            if (own_.first == nullptr) [[unlikely]]
                take_over_shared();
            return pooled_source(take_from(own_), *this, false);
        }
        const std::lock_guard lock(mutex_);
        return pooled_source(take_from(shared_), *this, true);
    }

    /// While nobody rents or gives back; else approximate.
    completion_pool_statistics statistics() const {
        const std::lock_guard lock(mutex_);
        return {own_.rented + shared_.rented, own_.returned + shared_.returned,
                own_.idle + shared_.idle};
    }

    /// A completion source that belongs to the pool.
    class pooled_source : public source_handle<T> {
    public:
        pooled_source(pooled_source&& other) noexcept
            : source_handle<T>(std::move(other)), pool_(other.pool_), shared_(other.shared_) {}
        pooled_source& operator=(pooled_source&& other) noexcept {
            std::swap(this->core_, other.core_);
            std::swap(pool_, other.pool_);
            std::swap(shared_, other.shared_);
            return *this;
        }
        ~pooled_source() {
            if (this->core_ == nullptr)
                return;
            if (this->let_go()) [[likely]]
                pool_->give_back(*this->core_, shared_);
            else
                pool_->left_to_ticket();
        }
        pooled_source* operator->() noexcept { return this; }

    private:
        friend completion_pool;
        pooled_source(completion::typed_core<T>& core, completion_pool& pool, bool shared) noexcept
            : source_handle<T>(&core), pool_(&pool), shared_(shared) {}

        completion_pool* pool_;
        bool shared_; ///< out of the list of all threads, and goes back there
    };

private:
    struct list {
        completion::typed_core<T>* first = nullptr;
        std::size_t idle = 0;
        std::uint64_t rented = 0;
        std::uint64_t returned = 0;
    };

    completion::typed_core<T>& take_from(list& from) {
        ++from.rented;
        completion::typed_core<T>* core = from.first;
        if (core == nullptr) [[unlikely]]
            return completion::new_public_core<T>(queue_.queue(), mode_);
        from.first = core->next_free;
        --from.idle;
        return *core;
    }
    // What the executor's thread rented and others gave back, so that neither list runs dry for
    // ever.
    void take_over_shared() noexcept {
        const std::lock_guard lock(mutex_);
        own_.first = std::exchange(shared_.first, nullptr);
        own_.idle = std::exchange(shared_.idle, 0);
    }
    void give_back(completion::typed_core<T>& core, bool to_shared) noexcept {
        core.own_mode(mode_);
        if (!to_shared && queue_.queue().alone_here()) [[likely]] {
            put_into(own_, core);
        } else {
            const std::lock_guard lock(mutex_);
            put_into(shared_, core);
        }
    }
    void left_to_ticket() noexcept {
        const std::lock_guard lock(mutex_);
        ++shared_.returned;
    }
    void put_into(list& to, completion::typed_core<T>& core) noexcept {
        ++to.returned;
        if (to.idle >= bound_) [[unlikely]]
            return completion::core_slab<T>::put(core);
        core.next_free = to.first;
        to.first = &core;
        ++to.idle;
    }
    static void empty(list& cores) noexcept {
        while (completion::typed_core<T>* core = cores.first) {
            cores.first = core->next_free;
            completion::core_slab<T>::put(*core);
        }
    }

    completion::queue_of_executor queue_;
    resume_mode mode_;
    std::size_t bound_;
    list own_; // of the thread that runs the executor
    mutable std::mutex mutex_;
    list shared_; // of all others
};

} // namespace sluice
