# Builds the consumer both ways. The subproject compiles the library once more, unoptimised.
if(SLUICE_SEAMED_ONLY)
    return()
endif()

function(sluice_add_consumer_test name)
    set(build "${CMAKE_CURRENT_BINARY_DIR}/consumer/${name}")
    add_test(NAME consumer.${name} COMMAND "${CMAKE_CTEST_COMMAND}"
        --build-and-test "${CMAKE_CURRENT_SOURCE_DIR}/consumer" "${build}"
        --build-generator "${CMAKE_GENERATOR}"
        --build-noclean
        --build-options
            "-DCMAKE_BUILD_TYPE=Debug"
            "-DCMAKE_CXX_FLAGS_DEBUG=-O0"
            "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
            ${ARGN}
        --test-command consumer "${CMAKE_CURRENT_SOURCE_DIR}/consumer/main.cpp")
    set_tests_properties(consumer.${name} PROPERTIES LABELS consumer TIMEOUT 600)
endfunction()

sluice_add_consumer_test(subproject
    "-DSLUICE_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
    "-DSLUICE_WITH_URING=${SLUICE_WITH_URING}")
# It keeps both cores busy by itself.
set_tests_properties(consumer.subproject PROPERTIES PROCESSORS 2)

if(SLUICE_INSTALL)
    set(prefix "${CMAKE_CURRENT_BINARY_DIR}/consumer/prefix")
    add_test(NAME consumer.install
        COMMAND "${CMAKE_COMMAND}" --install "${PROJECT_BINARY_DIR}" --prefix "${prefix}")
    set_tests_properties(consumer.install PROPERTIES
        LABELS consumer TIMEOUT 60 FIXTURES_SETUP installed)

    sluice_add_consumer_test(package "-Dsluice_ROOT=${prefix}")
    set_tests_properties(consumer.package PROPERTIES FIXTURES_REQUIRED installed)
endif()
