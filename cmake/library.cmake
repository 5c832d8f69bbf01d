set(sluice_layers runtime strategies completion platform)

# The include prefix <sluice/...> must read the same here and installed, while the sources stay in
# their layer folders; links do that without copying headers or a second tree.
set(sluice_include_dir "${CMAKE_CURRENT_BINARY_DIR}/include")
file(MAKE_DIRECTORY "${sluice_include_dir}/sluice")
foreach(layer IN LISTS sluice_layers)
    file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}/${layer}"
        "${sluice_include_dir}/sluice/${layer}" SYMBOLIC)
endforeach()
file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}/runtime/sluice.hpp"
    "${sluice_include_dir}/sluice/sluice.hpp" SYMBOLIC)

# Platforms are chosen here, by file, so that no source needs an #ifdef for it.
file(GLOB sluice_sources CONFIGURE_DEPENDS
    runtime/*.cpp strategies/*.cpp completion/*.cpp platform/*.cpp platform/simulated/*.cpp)
if(UNIX)
    file(GLOB posix_sources CONFIGURE_DEPENDS platform/posix/*.cpp)
    list(APPEND sluice_sources ${posix_sources})
endif()
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    file(GLOB linux_sources CONFIGURE_DEPENDS platform/linux/*.cpp)
    if(SLUICE_HAVE_URING)
        list(FILTER linux_sources EXCLUDE REGEX "/no_uring[^/]*\\.cpp$")
    else()
        list(FILTER linux_sources EXCLUDE REGEX "/uring_[^/]*\\.cpp$")
    endif()
    list(APPEND sluice_sources ${linux_sources})
endif()
if(WIN32)
    file(GLOB windows_sources CONFIGURE_DEPENDS platform/windows/*.cpp)
    list(APPEND sluice_sources ${windows_sources})
endif()

# Only the library that tests link has the seam; the other must not even contain its names.
set(sluice_seam_sources ${sluice_sources})
list(FILTER sluice_seam_sources INCLUDE REGEX "/fault_seam[^/]*\\.cpp$")
list(FILTER sluice_sources EXCLUDE REGEX "/fault_seam[^/]*\\.cpp$")

if(NOT sluice_sources)
    message(FATAL_ERROR "no sources under ${sluice_layers}")
endif()

# Made twice when tests are built: as users get it, and with the fault seam for the tests.
function(sluice_add_library name)
    add_library(${name} ${ARGN} ${sluice_sources})
    set_target_properties(${name} PROPERTIES
        VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
        CXX_EXTENSIONS OFF
        WINDOWS_EXPORT_ALL_SYMBOLS ON)
    target_compile_features(${name} PUBLIC cxx_std_20)
    target_include_directories(${name} PUBLIC
        "$<BUILD_INTERFACE:${sluice_include_dir}>"
        "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    target_link_libraries(${name} PUBLIC Boost::headers Threads::Threads)
    if(SLUICE_HAVE_URING)
        target_link_libraries(${name} PRIVATE liburing::liburing)
    endif()
    if(TARGET sluice_pch)
        target_precompile_headers(${name} REUSE_FROM sluice_pch)
    endif()
endfunction()
