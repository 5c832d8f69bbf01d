// Runs a function in a forked child, for what cannot be taken back (seccomp filters, limits,
// another user) or must not be seen by the rest of the tests. A child that hangs is ended by
// SIGALRM and reported as such.
#pragma once

#include <string>
#include <type_traits>

namespace sluice::test {

struct child_outcome {
    int exit_code = -1; ///< what the function returned; -1 when a signal ended it
    int signal = 0;
    std::string errors; ///< what it wrote to stderr
};

/// The exit code of a child that a sanitizer or an uncaught exception ended.
inline constexpr int child_threw = 99;

child_outcome run_in_child(int (*body)(void*), void* context);

/// `body()` returns the exit code, 0 for success, and may throw. Fork with no other thread running.
template <class Body>
child_outcome run_in_child(Body&& body) {
    using body_type = std::remove_reference_t<Body>;
    return run_in_child([](void* context) { return (*static_cast<body_type*>(context))(); }, &body);
}

} // namespace sluice::test

/// Checks that `body` ended by itself with 0; a line number as its exit code says which of its
/// checks failed.
#define SLUICE_CHECK_CHILD(...)                                                                    \
    do {                                                                                           \
        const ::sluice::test::child_outcome sluice_child =                                         \
            ::sluice::test::run_in_child(__VA_ARGS__);                                             \
        BOOST_TEST(sluice_child.signal == 0);                                                      \
        BOOST_TEST(sluice_child.exit_code == 0);                                                   \
        BOOST_TEST(sluice_child.errors == "");                                                     \
    } while (false)

/// In the body of a child: a failed condition is written to stderr and ends it.
#define SLUICE_EXPECT(condition)                                                                   \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return ::sluice::test::child_failed(__FILE__, __LINE__, #condition);                   \
    } while (false)

namespace sluice::test {
int child_failed(const char* file, int line, const char* condition);
}
