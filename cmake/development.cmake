# What only matters to those who work on sluice itself: warnings, sanitizers, a compiler cache.

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Clang counts signedness to -Wconversion and GCC does not; both shall check the same.
    add_compile_options(-Wno-sign-conversion)
endif()
if(SLUICE_WARNINGS_AS_ERRORS)
    add_compile_options(-Werror)
endif()

if(SLUICE_SANITIZE STREQUAL "address")
    add_compile_options(
        -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
elseif(SLUICE_SANITIZE STREQUAL "thread")
    add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
    add_link_options(-fsanitize=thread)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Asio's fences make GCC warn that the sanitizer does not see them.
        add_compile_options(-Wno-tsan)
    endif()
elseif(SLUICE_SANITIZE)
    message(FATAL_ERROR "SLUICE_SANITIZE must be empty, address or thread, not ${SLUICE_SANITIZE}")
endif()

find_program(SLUICE_CCACHE ccache)
mark_as_advanced(SLUICE_CCACHE)
if(SLUICE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Without these allowances ccache does not store what was compiled with a precompiled header.
    set(CMAKE_CXX_COMPILER_LAUNCHER
        "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${SLUICE_CCACHE}")
endif()

# Halves the compile time of the library, which is built several times over while working on it. Not
# for a shared one: its code is compiled with other flags than the seamed one's.
if(NOT BUILD_SHARED_LIBS)
    file(CONFIGURE OUTPUT sluice_pch.cpp CONTENT "")
    add_library(sluice_pch OBJECT "${CMAKE_CURRENT_BINARY_DIR}/sluice_pch.cpp")
    target_compile_features(sluice_pch PUBLIC cxx_std_20)
    target_link_libraries(sluice_pch PRIVATE Boost::headers Threads::Threads)
    target_precompile_headers(sluice_pch PRIVATE "${CMAKE_CURRENT_LIST_DIR}/library_pch.hpp")
endif()
