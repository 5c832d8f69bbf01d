include(CMakePackageConfigHelpers)

set(sluice_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/sluice")

install(TARGETS sluice EXPORT sluiceTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(EXPORT sluiceTargets NAMESPACE sluice:: DESTINATION "${sluice_package_dir}")

# The folders of single systems stay out: they include system headers, and no public one needs them.
install(DIRECTORY ${sluice_layers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sluice"
    FILES_MATCHING PATTERN "*.hpp"
    PATTERN "platform/linux" EXCLUDE
    PATTERN "platform/windows" EXCLUDE
    PATTERN "runtime/sluice.hpp" EXCLUDE)
install(FILES runtime/sluice.hpp DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sluice")

# A shared sluice has liburing inside its own link; a static one hands it on.
set(sluice_needs_liburing OFF)
get_target_property(sluice_type sluice TYPE)
if(SLUICE_HAVE_URING AND sluice_type STREQUAL "STATIC_LIBRARY")
    set(sluice_needs_liburing ON)
    install(FILES cmake/Findliburing.cmake DESTINATION "${sluice_package_dir}")
endif()

configure_package_config_file(
    cmake/sluiceConfig.cmake.in
    "${CMAKE_CURRENT_BINARY_DIR}/sluiceConfig.cmake"
    INSTALL_DESTINATION "${sluice_package_dir}"
    NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/sluiceConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES
    "${CMAKE_CURRENT_BINARY_DIR}/sluiceConfig.cmake"
    "${CMAKE_CURRENT_BINARY_DIR}/sluiceConfigVersion.cmake"
    DESTINATION "${sluice_package_dir}")
