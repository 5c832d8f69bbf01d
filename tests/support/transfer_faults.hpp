// Scripts what the reads or the writes of one descriptor are answered, whichever way they take:
// inline, by a worker, by the ring. One at a time, and not beside a fault_script.
#pragma once

#include <sluice/platform/fault_seam.hpp>

#include <cerrno>
#include <cstddef>
#include <mutex>
#include <vector>

#include <unistd.h>

namespace sluice::test {

/// An errno, or a call for at most so many bytes.
struct answer {
    int error = 0;
    std::size_t most = ~std::size_t{0};
};
inline constexpr answer as_it_is{};

class transfer_faults {
public:
    enum class direction { reads, writes };

    /// The answers in order, and then the truth; `for_ever`: the last one again and again.
    transfer_faults(direction which, int descriptor, std::vector<answer> answers,
                    bool for_ever = false)
        : reads_(which == direction::reads), descriptor_(descriptor), answers_(std::move(answers)),
          for_ever_(for_ever) {
        platform::set_fault_hook(&transfer_faults::ask, this);
    }
    transfer_faults(const transfer_faults&) = delete;
    transfer_faults& operator=(const transfer_faults&) = delete;
    ~transfer_faults() { platform::set_fault_hook(nullptr, nullptr); }

    /// How many calls were answered by the script, and how many there were in all.
    std::size_t answered() const { return locked(next_); }
    std::size_t seen() const { return locked(seen_); }

private:
    std::size_t locked(const std::size_t& value) const {
        const std::lock_guard lock(mutex_);
        return value;
    }
    static long ask(void* self, platform::raw_call_site& site) {
        return static_cast<transfer_faults*>(self)->decide(site);
    }
    bool is_ours(platform::raw_call call) const {
        using enum platform::raw_call;
        return reads_ ? call == read || call == ring_read : call == write || call == ring_write;
    }
    long decide(platform::raw_call_site& site) {
        using enum platform::raw_call;
        if (site.descriptor != descriptor_)
            return 0;
        // On a file an attempt that cannot wait proves nothing: the call that may wait gets the
        // answer. A pipe knows no other call.
        const bool attempts = site.call == (reads_ ? read_no_wait : write_no_wait);
        if (attempts && ::lseek(descriptor_, 0, SEEK_CUR) >= 0)
            return -EAGAIN;
        if (!attempts && !is_ours(site.call))
            return 0;
        const std::lock_guard lock(mutex_);
        ++seen_;
        if (next_ >= answers_.size() && !for_ever_)
            return 0;
        const answer& now = answers_[next_ < answers_.size() ? next_ : answers_.size() - 1];
        ++next_;
        if (now.error != 0)
            return -now.error;
        site.size = site.size < now.most ? site.size : now.most;
        return 0;
    }

    const bool reads_;
    const int descriptor_;
    const std::vector<answer> answers_;
    const bool for_ever_;
    mutable std::mutex mutex_;
    std::size_t next_ = 0;
    std::size_t seen_ = 0;
};

struct read_faults : transfer_faults {
    read_faults(int descriptor, std::vector<answer> answers, bool for_ever = false)
        : transfer_faults(direction::reads, descriptor, std::move(answers), for_ever) {}
};
struct write_faults : transfer_faults {
    write_faults(int descriptor, std::vector<answer> answers, bool for_ever = false)
        : transfer_faults(direction::writes, descriptor, std::move(answers), for_ever) {}
};

} // namespace sluice::test
