// How what may outlive a queue remembers it without holding it: a place that is never returned to
// the system and says which queue is in it now.
#pragma once

#include <cstdint>

namespace sluice::completion {

class resume_queue;

struct queue_place {
    resume_queue* queue = nullptr;
    std::uint32_t generation = 0; ///< how many queues were here before
    queue_place* next = nullptr;  ///< while there is none

    /// For a new queue. Any thread.
    static queue_place& take(resume_queue& queue);
    /// The queue is gone.
    void leave() noexcept;
};

} // namespace sluice::completion
