#include <sluice/platform/linux/uring_queues.hpp>

#include <algorithm>
#include <cerrno>

#include <sys/mman.h>
#include <sys/stat.h>

namespace sluice::platform::uring {

namespace {

void* map_shared(int descriptor, std::size_t size, off_t what) noexcept {
    return ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor,
                  what);
}

} // namespace

long queues::map(int descriptor, const io_uring_params& made) noexcept {
    if ((made.features & IORING_FEAT_SINGLE_MMAP) == 0)
        return -ENOSYS; // before 5.4; other features ask for a newer kernel anyway
    rings_size_ = std::max<std::size_t>(made.sq_off.array + made.sq_entries * sizeof(unsigned),
                                        made.cq_off.cqes + made.cq_entries * sizeof(io_uring_cqe));
    entries_size_ = made.sq_entries * sizeof(io_uring_sqe);
    void* const rings = map_shared(descriptor, rings_size_, IORING_OFF_SQ_RING);
    if (rings == MAP_FAILED)
        return -errno;
    void* const all_entries = map_shared(descriptor, entries_size_, IORING_OFF_SQES);
    if (all_entries == MAP_FAILED) {
        const long error = -errno;
        ::munmap(rings, rings_size_);
        return error;
    }
    rings_ = rings;
    entries = static_cast<io_uring_sqe*>(all_entries);
    find_parts(made);
    return 0;
}

void queues::find_parts(const io_uring_params& made) noexcept {
    const auto word_at = [this](unsigned offset) {
        return reinterpret_cast<unsigned*>(static_cast<char*>(rings_) + offset);
    };
    submit_head = word_at(made.sq_off.head);
    submit_tail = word_at(made.sq_off.tail);
    submit_flags = word_at(made.sq_off.flags);
    submit_mask = made.sq_entries - 1;
    complete_head = word_at(made.cq_off.head);
    complete_tail = word_at(made.cq_off.tail);
    complete_mask = made.cq_entries - 1;
    completions = reinterpret_cast<io_uring_cqe*>(word_at(made.cq_off.cqes));
    for (unsigned i = 0; i < made.sq_entries; ++i)
        word_at(made.sq_off.array)[i] = i; // entries are used in order
}

// The same memory: what is written here can be read there. Nothing is mapped of a file that has a
// type, as reading it there could end the process; rings have none.
bool queues::are_of(int descriptor) const noexcept {
    struct ::stat about {};
    if (::fstat(descriptor, &about) != 0 || (about.st_mode & S_IFMT) != 0)
        return false;
    void* const found = map_shared(descriptor, rings_size_, IORING_OFF_SQ_RING);
    if (found == MAP_FAILED)
        return false;
    const auto distance = reinterpret_cast<char*>(submit_tail) - static_cast<char*>(rings_);
    const auto* const theirs = reinterpret_cast<unsigned*>(static_cast<char*>(found) + distance);
    const unsigned tail = __atomic_load_n(submit_tail, __ATOMIC_RELAXED);
    const bool equal = __atomic_load_n(theirs, __ATOMIC_SEQ_CST) == tail;
    __atomic_store_n(submit_tail, tail + 1, __ATOMIC_SEQ_CST);
    const bool same = equal && __atomic_load_n(theirs, __ATOMIC_SEQ_CST) == tail + 1;
    __atomic_store_n(submit_tail, tail, __ATOMIC_SEQ_CST);
    ::munmap(found, rings_size_);
    return same;
}

void queues::unmap() noexcept {
    if (rings_ == nullptr)
        return;
    ::munmap(entries, entries_size_);
    ::munmap(rings_, rings_size_);
    *this = {};
}

} // namespace sluice::platform::uring
