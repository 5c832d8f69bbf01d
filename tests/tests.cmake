set(test_timeout 300)
if(SLUICE_SANITIZE)
    set(test_timeout 900)
endif()

# GCC 12's ThreadSanitizer cannot place its shadow where newer kernels randomise mappings widely;
# some containers, in turn, do not allow to turn that off, so it is tried first.
set(test_wrapper "")
if(SLUICE_SANITIZE STREQUAL "thread")
    find_program(SLUICE_SETARCH setarch)
    mark_as_advanced(SLUICE_SETARCH)
    if(SLUICE_SETARCH)
        execute_process(COMMAND "${SLUICE_SETARCH}" -R true
            RESULT_VARIABLE setarch_result ERROR_QUIET OUTPUT_QUIET)
        if(setarch_result EQUAL 0)
            set(test_wrapper "${SLUICE_SETARCH};-R")
        endif()
    endif()
endif()

set(test_backends threads)
if(SLUICE_HAVE_URING)
    list(PREPEND test_backends uring)
endif()

function(sluice_add_tests folder)
    add_executable(${folder}_tests ${ARGN})
    target_link_libraries(${folder}_tests PRIVATE sluice_test_runner)
    if(TARGET sluice_test_helpers)
        target_link_libraries(${folder}_tests PRIVATE sluice_test_helpers)
    endif()
    target_precompile_headers(${folder}_tests REUSE_FROM sluice_test_pch)
    set_target_properties(${folder}_tests PROPERTIES CROSSCOMPILING_EMULATOR "${test_wrapper}")

    set(arguments --report_level=short --color_output=no)
    if(SLUICE_SANITIZE)
        # A sanitizer says more about a signal than Boost.Test's handler does.
        list(APPEND arguments --catch_system_errors=no)
    endif()
    foreach(backend IN LISTS test_backends)
        add_test(NAME ${folder}.${backend} COMMAND ${folder}_tests ${arguments})
        set_tests_properties(${folder}.${backend} PROPERTIES
            LABELS "${backend};${folder}"
            TIMEOUT ${test_timeout}
            ENVIRONMENT "SLUICE_BACKEND=${backend};UBSAN_OPTIONS=print_stacktrace=1")
    endforeach()
endfunction()
