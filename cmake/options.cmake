option(BUILD_SHARED_LIBS "Build sluice as a shared library" OFF)
option(SLUICE_INSTALL "Make install rules and the config package" ${PROJECT_IS_TOP_LEVEL})
option(SLUICE_BUILD_TESTS "Build the tests (top level only)" ${PROJECT_IS_TOP_LEVEL})
option(SLUICE_BUILD_BENCHMARKS "Build the benchmarks (top level only)" ${PROJECT_IS_TOP_LEVEL})
option(SLUICE_BUILD_EXAMPLES "Build the examples (top level only)" ${PROJECT_IS_TOP_LEVEL})
option(SLUICE_SEAMED_ONLY "Build the library once, with the fault seam, for tests and examples" OFF)
option(SLUICE_CHECK_HEADERS "Compile every header on its own along with the tests" ON)
option(SLUICE_WARNINGS_AS_ERRORS "Treat warnings as errors (top level only)" ON)

set(SLUICE_WITH_URING AUTO CACHE STRING
    "io_uring backend: AUTO when liburing is found, ON to insist on it, OFF to leave it out")
set_property(CACHE SLUICE_WITH_URING PROPERTY STRINGS AUTO ON OFF)

set(SLUICE_SANITIZE "" CACHE STRING
    "Sanitizers (top level only): empty, address (with undefined) or thread")
set_property(CACHE SLUICE_SANITIZE PROPERTY STRINGS "" address thread)
