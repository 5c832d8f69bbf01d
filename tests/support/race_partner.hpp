// A thread that does one thing at the same moment as the thread that owns it, again and again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

namespace sluice::test {

class race_partner {
public:
    explicit race_partner(std::uint32_t seed) : random_(seed), thread_([this] { serve(); }) {}
    ~race_partner() {
        ending_ = true;
        asked_.fetch_add(1);
        thread_.join();
    }
    race_partner(const race_partner&) = delete;
    race_partner& operator=(const race_partner&) = delete;

    /// Runs `theirs` on the other thread and `mine` here, with a few cycles more or less between
    /// their beginnings; returns when both have ended.
    template <class Theirs, class Mine>
    void race(Theirs&& theirs, Mine&& mine) {
        work_ = std::ref(theirs);
        delay_ = next_random() % 64;
        const unsigned own_delay = next_random() % 64;
        const unsigned round = asked_.load(std::memory_order_relaxed) + 1;
        asked_.store(round, std::memory_order_release);
        while (here_.load(std::memory_order_acquire) != round)
            std::this_thread::yield();
        spin(own_delay);
        mine();
        while (done_.load(std::memory_order_acquire) != round)
            std::this_thread::yield();
    }

    /// Some cycles for each turn.
    static void spin(unsigned turns) {
        for (std::atomic<unsigned> turn = 0; turn.load(std::memory_order_relaxed) < turns;)
            turn.fetch_add(1, std::memory_order_relaxed);
    }

private:
    void serve() {
        for (unsigned round = 1;; ++round) {
            while (asked_.load(std::memory_order_acquire) != round)
                std::this_thread::yield();
            if (ending_)
                return;
            const unsigned delay = delay_;
            here_.store(round, std::memory_order_release);
            spin(delay);
            work_();
            done_.store(round, std::memory_order_release);
        }
    }
    unsigned next_random() noexcept {
        random_ = random_ * 1664525 + 1013904223;
        return random_ >> 16;
    }

    std::uint32_t random_;
    std::function<void()> work_;
    unsigned delay_ = 0;
    std::atomic<unsigned> asked_{0};
    std::atomic<unsigned> here_{0};
    std::atomic<unsigned> done_{0};
    std::atomic<bool> ending_{false};
    std::thread thread_;
};

} // namespace sluice::test
