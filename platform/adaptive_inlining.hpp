// Whether a call that cannot say "not now" may be made on the loop thread: yes while the last one
// on that file was fast; two slow ones in a row, or one that took longer than a time slice, send
// the following to the ring or a worker for a period that doubles each time. So a slow file delays
// the loop up to twice per period, not once as was first meant, because one slow call may just be a
// thread that lost its processor. Any thread; two that learn at once may lose one lesson, which the
// next call repeats.
#pragma once

#include <sluice/platform/relaxed.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice::platform {

class adaptive_inlining {
public:
    static constexpr std::size_t largest_inline = 256 * 1024;

    using clock = std::chrono::steady_clock;

    bool allows(std::size_t bytes, clock::time_point now) const noexcept {
        return bytes <= largest_inline && now.time_since_epoch().count() >= blocked_until_;
    }

    /// No bad experience at all: calls may be made without asking for the time.
    bool is_trusted() const noexcept { return state_ == 0; }

    /// A call of `bytes` took from `start` to `end`.
    void learn(std::size_t bytes, clock::time_point start, clock::time_point end) noexcept {
        const std::int64_t took = (end - start).count();
        if (took > limit_for(bytes)) [[unlikely]]
            doubt(took, end);
        else if (state_ != 0) [[unlikely]]
            recover(end);
    }

    /// The longest a call of `bytes` may take, ns: the limit and 1 us per 4 KiB.
    std::int64_t limit_for(std::size_t bytes) const noexcept {
        return limit_ + static_cast<std::int64_t>(bytes / 4096 + 1) * 1'000;
    }
    /// 50 us unless set; at most a second.
    void set_limit(std::chrono::nanoseconds limit) noexcept {
        limit_ =
            static_cast<std::uint32_t>(std::clamp<std::int64_t>(limit.count(), 0, longest_limit));
    }

private:
    static constexpr std::int64_t suspicion = 1;                // a bit: the last call was slow
    static constexpr std::int64_t longest_pause = 10'000'000;   // 10 ms: a lost processor is back
    static constexpr std::int64_t shortest_period = 10'000'000; // 10 ms, even as all of them
    static constexpr std::int64_t longest_period = 120'000'000'000; // 2 min

    std::int64_t period() const noexcept { return state_ & ~suspicion; }

    // A thread that lost its processor in the call looks slow too, on a busy machine every few
    // milliseconds, and what a virtual machine loses is told by nobody. One such call is only
    // remembered; the second in a row, or one longer than any time slice, was the file. So it is
    // after a bad experience too, or one lost slice per period would keep the file away for ever.
    void doubt(std::int64_t took, clock::time_point now) noexcept {
        if ((state_ & suspicion) == 0 && took < longest_pause)
            state_ = state_ | suspicion;
        else
            back_off(now);
    }

    void back_off(clock::time_point now) noexcept {
        const std::int64_t last = period();
        const std::int64_t next = last == 0 ? shortest_period : std::min(last * 2, longest_period);
        state_ = next;
        blocked_until_ = now.time_since_epoch().count() + next;
    }

    // The experience fades only after it stayed good for as long as the last period was.
    void recover(clock::time_point now) noexcept {
        const std::int64_t last = period();
        state_ = now.time_since_epoch().count() >= blocked_until_ + last ? 0 : last;
    }

    static constexpr std::int64_t longest_limit = 1'000'000'000;

    relaxed<std::int64_t> blocked_until_{0}; // steady clock, ns
    relaxed<std::int64_t> state_{0};         // the period in ns, 0: no bad experience; suspicion
    std::uint32_t limit_ = 50'000;           // ns
};

} // namespace sluice::platform
