#include "signals.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <thread>
#include <unistd.h>

namespace copy_file {

namespace {

constexpr timespec patience{.tv_sec = 2, .tv_nsec = 0};
std::atomic<int> received{0};

bool is_ignored(int signal) {
    struct sigaction now{};
    return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

} // namespace

std::stop_token stop_on_signals(void (*clean_up)() noexcept) {
    // A limit on the size of files, or a pipe without a reader, is an error like any other.
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);

    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        if (!is_ignored(signal)) // as nohup does
            sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::stop_source stop;
    std::thread([stop, signals, clean_up]() mutable {
        int signal = 0;
        while (::sigwait(&signals, &signal) != 0) {
        }
        received = signal;
        stop.request_stop();
        while (::sigtimedwait(&signals, nullptr, &patience) < 0 && errno == EINTR) {
        }
        clean_up();
        std::fputs("copy_file: interrupted, nothing was copied\n", stderr);
        ::_exit(128 + signal);
    }).detach();
    return stop.get_token();
}

int signal_received() noexcept { return received.load(); }

} // namespace copy_file
