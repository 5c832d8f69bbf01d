#include "support/child_process.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include <sys/wait.h>
#include <unistd.h>

namespace sluice::test {

namespace {

constexpr unsigned longest_run = 120; // seconds; sanitizers are slow

[[noreturn]] void be_child(int errors, int (*body)(void*), void* context) {
    dup2(errors, STDERR_FILENO);
    // The test runner's own handlers would go on with the parent's tests in here. Sanitizers have
    // none for these.
    for (const int number : {SIGABRT, SIGALRM})
        std::signal(number, SIG_DFL);
    alarm(longest_run);
    int code = child_threw;
    try {
        code = body(context);
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "exception: %s\n", failure.what());
    }
    std::fflush(stderr);
    _exit(code);
}

std::string read_to_end(int descriptor) {
    std::string text;
    std::array<char, 4096> part;
    for (ssize_t count; (count = read(descriptor, part.data(), part.size())) > 0;)
        text.append(part.data(), static_cast<std::size_t>(count));
    return text;
}

} // namespace

child_outcome run_in_child(int (*body)(void*), void* context) {
    int errors[2];
    if (pipe(errors) != 0)
        throw std::runtime_error("no pipe for the child");
    std::fflush(nullptr); // or the child writes what is buffered once more
    const pid_t child = fork();
    if (child < 0)
        throw std::runtime_error("no child");
    if (child == 0) {
        close(errors[0]);
        be_child(errors[1], body, context);
    }
    close(errors[1]);
    child_outcome outcome;
    outcome.errors = read_to_end(errors[0]);
    close(errors[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        outcome.signal = WTERMSIG(status);
    else
        outcome.exit_code = WEXITSTATUS(status);
    return outcome;
}

int child_failed(const char* file, int line, const char* condition) {
    std::fprintf(stderr, "%s:%d: %s\n", file, line, condition);
    return 1;
}

} // namespace sluice::test
