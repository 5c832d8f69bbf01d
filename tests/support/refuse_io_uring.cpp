#include "support/refuse_io_uring.hpp"

#include <cstddef>
#include <iterator>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sluice::test {

namespace {

constexpr unsigned setup = 425; // the same on every architecture but alpha
constexpr unsigned enter = 426;
constexpr unsigned last = 427;

bool install(unsigned from, unsigned to, unsigned action) {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, from, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, to, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return false;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}

} // namespace

bool refuse_io_uring(int error, refused_calls which) {
    const unsigned action = SECCOMP_RET_ERRNO | (static_cast<unsigned>(error) & SECCOMP_RET_DATA);
    switch (which) {
    case refused_calls::all:
        return install(setup, last, action);
    case refused_calls::setup_only:
        return install(setup, setup, action);
    case refused_calls::enter_only:
        return install(enter, enter, action);
    }
    return false;
}

bool kill_for_io_uring() { return install(setup, last, SECCOMP_RET_KILL_PROCESS); }

} // namespace sluice::test
