find_package(Threads REQUIRED)

# Headers only: no component is asked for, because Boost.System became a header and newer releases
# no longer have a library of that name to find.
find_package(Boost 1.81 QUIET)
if(NOT Boost_FOUND)
    message(FATAL_ERROR
        "sluice needs the headers of Boost 1.81 or newer. "
        "Debian 12: apt-get install libboost1.81-dev. Ubuntu 24.04: apt-get install libboost-dev. "
        "An own copy is found through -DCMAKE_PREFIX_PATH=<folder>.")
endif()

set(SLUICE_HAVE_URING OFF)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND SLUICE_WITH_URING)
    # Kept short, so that a parent project's own module of this name is not hidden from it.
    list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
    find_package(liburing 2.3 QUIET)
    list(POP_FRONT CMAKE_MODULE_PATH)
    set(SLUICE_HAVE_URING ${liburing_FOUND})

    if(NOT SLUICE_HAVE_URING AND NOT SLUICE_WITH_URING STREQUAL "AUTO")
        message(FATAL_ERROR "SLUICE_WITH_URING is ON, but liburing 2.3 or newer was not found "
            "(Debian and Ubuntu: apt-get install liburing-dev)")
    endif()
endif()
if(SLUICE_HAVE_URING)
    message(STATUS "sluice: io_uring and threads (liburing ${liburing_VERSION})")
else()
    message(STATUS "sluice: threads only, no liburing")
endif()
