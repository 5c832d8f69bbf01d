if(NOT TARGET example_copy_file)
    return()
endif()

set(quick "")
if(SLUICE_SANITIZE)
    set(quick --quick)
endif()

foreach(backend IN LISTS test_backends)
    add_test(NAME examples.copy_file.${backend} COMMAND
        "${Python3_EXECUTABLE}" -B "${CMAKE_CURRENT_SOURCE_DIR}/examples/copy_file_test.py"
        ${quick} "$<TARGET_FILE:example_copy_file>")
    set_tests_properties(examples.copy_file.${backend} PROPERTIES
        LABELS "${backend};examples"
        TIMEOUT ${test_timeout}
        ENVIRONMENT "SLUICE_BACKEND=${backend}")
endforeach()

add_test(NAME examples.readme COMMAND example_readme "${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt")
set_tests_properties(examples.readme PROPERTIES
    LABELS examples
    TIMEOUT 60
    PASS_REGULAR_EXPRESSION "FOLDER_tests")
