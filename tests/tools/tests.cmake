# Checks of the tree itself and of what users get, which say the same in every build.
if(SLUICE_SEAMED_ONLY)
    return()
endif()

function(sluice_add_script_test name)
    add_test(NAME tree.${name} COMMAND "${Python3_EXECUTABLE}" -B ${ARGN})
    set_tests_properties(tree.${name} PROPERTIES LABELS tree TIMEOUT 60)
endfunction()

set(tools "${CMAKE_CURRENT_SOURCE_DIR}/tools")
sluice_add_script_test(style "${tools}/style_test.py")
sluice_add_script_test(style_check "${tools}/style_check_test.py")
sluice_add_script_test(readme "${tools}/readme_test.py")

# Unoptimised builds keep the empty inline functions that the seam leaves behind.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_NM)
    sluice_add_script_test(seam "${tools}/seam_test.py" "${CMAKE_NM}"
        "$<TARGET_FILE:sluice>" "$<TARGET_FILE:sluice_seamed>")
endif()

if(SLUICE_CHECK_HEADERS)
    include("${tools}/headers.cmake")
endif()
