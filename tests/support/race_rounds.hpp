// The rounds of a race: so many that the threads meet in every way, but no longer than a test may
// take. Where other programs want the processors, each hand-over costs a time slice.
#pragma once

#include <chrono>
#include <iterator>

namespace sluice::test {

/// for (const int round : race_rounds()); more of them where nothing slows them down, at least a
/// few hundred, otherwise none after five seconds.
class race_rounds {
public:
    explicit race_rounds(int part = 1) : most_(all / part) {}

    class iterator {
    public:
        explicit iterator(const race_rounds& of) : of_(of) {}
        int operator*() const { return round_; }
        iterator& operator++() {
            ++round_;
            return *this;
        }
        bool operator==(std::default_sentinel_t) const { return of_.ended(round_); }

    private:
        const race_rounds& of_;
        int round_ = 0;
    };
    iterator begin() const { return iterator(*this); }
    std::default_sentinel_t end() const { return {}; }

private:
#ifdef NDEBUG
    static constexpr int all = 200'000;
#else
    static constexpr int all = 10'000;
#endif
    static constexpr int fewest = 200;

    bool ended(int round) const {
        return round >= most_ || (round >= fewest && std::chrono::steady_clock::now() >= until_);
    }

    int most_;
    std::chrono::steady_clock::time_point until_ =
        std::chrono::steady_clock::now() + std::chrono::seconds(5);
};

} // namespace sluice::test
