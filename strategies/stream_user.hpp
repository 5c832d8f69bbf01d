// Somebody who makes calls on a stream again and again, and counts as one call in flight meanwhile:
// a copy. Known to the strategy, so that cancelling the stream ends it, and so that it learns when
// the stream is gone.
//
// Threads: linked and unlinked on the thread that runs the loop.
#pragma once

namespace sluice::strategies {

class file_stream_strategy;

struct stream_user {
    file_stream_strategy* stream = nullptr; ///< null: gone
    void (*cancel)(stream_user&) noexcept = nullptr;
    stream_user* next = nullptr;
    stream_user* previous = nullptr;
};

} // namespace sluice::strategies
