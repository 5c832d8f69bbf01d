# Finds liburing and makes the target liburing::liburing. Installed beside sluiceConfig.cmake, so
# that whoever links a static sluice gets liburing without naming it. pkg-config helps, but is not
# needed.

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(PC_liburing QUIET liburing)
endif()

find_path(liburing_INCLUDE_DIR liburing.h HINTS ${PC_liburing_INCLUDE_DIRS})
find_library(liburing_LIBRARY uring HINTS ${PC_liburing_LIBRARY_DIRS})
mark_as_advanced(liburing_INCLUDE_DIR liburing_LIBRARY)

set(liburing_VERSION ${PC_liburing_VERSION})
if(NOT liburing_VERSION AND liburing_INCLUDE_DIR)
    # Headers carry no version before 2.4; this function came with 2.3, the oldest that will do.
    file(STRINGS "${liburing_INCLUDE_DIR}/liburing.h" liburing_has_get_events
        REGEX "io_uring_get_events" LIMIT_COUNT 1)
    if(liburing_has_get_events)
        set(liburing_VERSION 2.3)
    endif()
    unset(liburing_has_get_events)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(liburing
    REQUIRED_VARS liburing_LIBRARY liburing_INCLUDE_DIR
    VERSION_VAR liburing_VERSION)

if(liburing_FOUND AND NOT TARGET liburing::liburing)
    add_library(liburing::liburing UNKNOWN IMPORTED)
    set_target_properties(liburing::liburing PROPERTIES
        IMPORTED_LOCATION "${liburing_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${liburing_INCLUDE_DIR}")
endif()
