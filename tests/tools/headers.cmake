# Every header must compile on its own: one source for each includes that header alone. Two more
# include all of them before and after system headers whose macros are known to clash with good
# names (linux/fs.h defines BLOCK_SIZE, sys/mount.h redefines what it defines, and so on).

set(hostile_headers fcntl.h sys/mount.h linux/fs.h sys/stat.h)

set(patterns)
foreach(folder runtime strategies completion platform platform/simulated platform/posix)
    list(APPEND patterns "${PROJECT_SOURCE_DIR}/${folder}/*.hpp")
endforeach()
file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" ${patterns})
if(NOT UNIX)
    list(FILTER headers EXCLUDE REGEX "^platform/posix/")
endif()
if(NOT headers)
    return()
endif()

set(folder "${CMAKE_CURRENT_BINARY_DIR}/headers")
set(all_headers "")
set(sources)
foreach(header IN LISTS headers)
    string(REPLACE "/" "_" name "${header}")
    # CONFIGURE writes only what changed, so that configuring again compiles nothing again.
    file(CONFIGURE OUTPUT "${folder}/${name}.cpp" CONTENT "#include <sluice/${header}>\n")
    list(APPEND sources "${folder}/${name}.cpp")
    string(APPEND all_headers "#include <sluice/${header}>\n")
endforeach()

set(system_headers "")
foreach(header IN LISTS hostile_headers)
    string(APPEND system_headers "#include <${header}>\n")
endforeach()
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    file(CONFIGURE OUTPUT "${folder}/before_system.cpp" CONTENT "${all_headers}${system_headers}")
    file(CONFIGURE OUTPUT "${folder}/after_system.cpp" CONTENT "${system_headers}${all_headers}")
    list(APPEND sources "${folder}/before_system.cpp" "${folder}/after_system.cpp")
endif()

add_library(sluice_header_check OBJECT ${sources})
target_link_libraries(sluice_header_check PRIVATE sluice::sluice)
# Only whether it compiles is of interest: the cheapest code, and no debug information.
target_compile_options(sluice_header_check PRIVATE -O0 -g0)
