#include <sluice/platform/posix/helper_thread.hpp>

#include <sluice/platform/fault_seam.hpp>

#include <cerrno>
#include <csignal>
#include <system_error>

#include <pthread.h>

namespace sluice::platform {

namespace {

/// All but those that are about this thread itself: its crashes, and a profiler's ticks.
sigset_t signals_of_others() noexcept {
    sigset_t set;
    ::sigfillset(&set);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF})
        ::sigdelset(&set, own);
    return set;
}

} // namespace

long start_thread(std::thread& thread, const char* name, void (*body)(void*) noexcept,
                  void* context) noexcept {
    return pass({raw_call::thread_start}, [&](std::size_t) noexcept -> long {
        // A thread inherits the mask it is started under, so that there is no moment without it.
        const sigset_t others = signals_of_others();
        sigset_t before;
        ::pthread_sigmask(SIG_SETMASK, &others, &before);
        long result = 0;
        try {
            thread = std::thread([name, body, context] {
                ::pthread_setname_np(::pthread_self(), name);
                body(context);
            });
        } catch (const std::system_error& failure) {
            result = -failure.code().value();
        } catch (...) {
            result = -ENOMEM;
        }
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return result;
    });
}

} // namespace sluice::platform
