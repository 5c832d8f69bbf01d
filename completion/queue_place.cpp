#include <sluice/completion/queue_place.hpp>

#include <sluice/platform/fork_mutex.hpp>

namespace sluice::completion {

namespace {
constinit queue_place* free_places = nullptr; // guarded by process_mutex
} // namespace

queue_place& queue_place::take(resume_queue& queue) {
    queue_place* place = nullptr;
    {
        const std::lock_guard lock(platform::process_mutex);
        if (place = free_places; place != nullptr)
            free_places = place->next;
    }
    if (place == nullptr)
        place = new queue_place;
    place->queue = &queue;
    return *place;
}

void queue_place::leave() noexcept {
    queue = nullptr;
    ++generation;
    const std::lock_guard lock(platform::process_mutex);
    next = free_places;
    free_places = this;
}

} // namespace sluice::completion
