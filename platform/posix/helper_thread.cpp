#include <sluice/platform/posix/helper_thread.hpp>

#include <sluice/platform/fault_seam.hpp>

#include <cerrno>
#include <csignal>
#include <system_error>

#include <pthread.h>

namespace sluice::platform {

long start_thread(std::thread& thread, const char* name, void (*body)(void*) noexcept,
                  void* context) noexcept {
    return pass({raw_call::thread_start}, [&](std::size_t) noexcept -> long {
        // A thread inherits the mask it is started under, so that there is no moment without it.
        sigset_t all;
        sigset_t before;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);
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
