# GCC 12 takes the value of an empty value_task for one that is destroyed: it loses track of the
# kind.
set_source_files_properties(completion/on_completed_test.cpp completion/value_task_test.cpp
    PROPERTIES COMPILE_OPTIONS "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")

# Two threads that race for a source need a processor each: beside another test every hand-over
# costs a time slice.
foreach(backend IN LISTS test_backends)
    set_tests_properties(completion.${backend} PROPERTIES PROCESSORS 2)
endforeach()
