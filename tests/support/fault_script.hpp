// Scripts the fault seam: which raw call, from the how-manieth on, how often, on which descriptor,
// and what happens to it: an errno, a short count, or to be held until the test lets it go. One at
// a time.
#pragma once

#include <sluice/platform/fault_seam.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <random>
#include <vector>

namespace sluice::test {

inline constexpr unsigned always = ~0u;
inline constexpr int by_path = -2; ///< in place of a descriptor: calls that have none

struct fault {
    platform::raw_call call;
    int error = 0;                             ///< errno that the call answers without being made
    std::size_t most = ~std::size_t{0};        ///< the call is made for at most so many bytes
    bool hold = false;                         ///< the call waits for release() first
    bool random_short = false;                 ///< the call is made for 1 to `most` bytes
    unsigned first = 1;                        ///< from this matching call on
    unsigned times = 1;                        ///< so often
    int descriptor = -1;                       ///< only on this one
};

class fault_script {
public:
    explicit fault_script(std::vector<fault> faults, std::uint64_t seed = std::random_device{}())
        : random_(seed) {
        for (const fault& f : faults)
            rules_.push_back({f, 0});
        for (const fault& f : faults)
            if (f.random_short) {
                std::cout << "fault script: seed " << seed << '\n';
                break;
            }
        for (std::size_t i = 0; i < platform::raw_call_count; ++i)
            before_.push_back(platform::raw_call_number(static_cast<platform::raw_call>(i)));
        platform::set_fault_hook(&fault_script::ask, this);
    }
    fault_script(const fault_script&) = delete;
    fault_script& operator=(const fault_script&) = delete;
    ~fault_script() {
        release();
        platform::set_fault_hook(nullptr, nullptr);
    }

    /// Lets every held call go, and those that would be held later.
    void release() {
        const std::lock_guard lock(mutex_);
        released_ = true;
        changed_.notify_all();
    }
    /// Waits until so many calls are being held.
    void wait_until_held(unsigned count) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return held_ >= count; });
    }
    /// How often the call was made since the script began, faults included.
    std::uint64_t seen(platform::raw_call call) const {
        return platform::raw_call_number(call) - before_[static_cast<std::size_t>(call)];
    }

private:
    struct rule {
        fault what;
        unsigned matches;
    };

    static bool is_for(int wanted, int descriptor) {
        return wanted == -1 || wanted == (descriptor == -1 ? by_path : descriptor);
    }

    static long ask(void* self, platform::raw_call_site& site) {
        return static_cast<fault_script*>(self)->answer(site);
    }

    long answer(platform::raw_call_site& site) {
        std::unique_lock lock(mutex_);
        for (rule& r : rules_) {
            const fault& f = r.what;
            if (f.call != site.call || !is_for(f.descriptor, site.descriptor))
                continue;
            ++r.matches;
            if (r.matches < f.first || r.matches - f.first >= f.times)
                continue;
            if (f.hold) {
                ++held_;
                changed_.notify_all();
                changed_.wait(lock, [&] { return released_; });
            }
            if (f.error != 0)
                return -f.error;
            const std::size_t most = f.random_short ? 1 + random_() % f.most : f.most;
            site.size = site.size < most ? site.size : most;
        }
        return 0;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<rule> rules_;
    std::vector<std::uint64_t> before_;
    std::mt19937_64 random_;
    unsigned held_ = 0;
    bool released_ = false;
};

} // namespace sluice::test
