#include "signals.hpp"

#include <atomic>
#include <csignal>
#include <thread>
#include <unistd.h>

namespace copy_file {

namespace {

std::atomic<int> received{0};

bool is_ignored(int signal) {
    struct sigaction now {};
    return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

} // namespace

std::stop_token stop_on_signals() {
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
    std::thread([stop, signals]() mutable {
        for (;;) {
            int signal = 0;
            if (::sigwait(&signals, &signal) != 0)
                continue;
            if (received.exchange(signal) != 0)
                ::_exit(128 + signal);
            stop.request_stop();
        }
    }).detach();
    return stop.get_token();
}

int signal_received() noexcept { return received.load(); }

} // namespace copy_file
