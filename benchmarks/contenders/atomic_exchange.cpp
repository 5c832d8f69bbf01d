// The unit for what happens without the system: one exchange of a variable nobody else touches.
#include "contenders.hpp"

#include <benchmark/benchmark.h>

#include <atomic>

namespace bench {
namespace {

class atomic_exchange_contender final : public contender {
public:
    std::chrono::nanoseconds run(std::size_t count) override {
        const stopwatch watch;
        for (std::size_t done = 0; done < count; ++done)
            benchmark::DoNotOptimize(value_.exchange(done));
        return watch.elapsed();
    }

private:
    std::atomic<std::size_t> value_{0};
};

} // namespace

std::unique_ptr<contender> atomic_exchange() {
    return std::make_unique<atomic_exchange_contender>();
}

} // namespace bench
