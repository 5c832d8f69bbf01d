include(CMakePackageConfigHelpers)

set(sluice_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/sluice")

install(TARGETS sluice EXPORT sluiceTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(EXPORT sluiceTargets NAMESPACE sluice:: DESTINATION "${sluice_package_dir}")

# What sluice.hpp includes. Left out is what the library alone needs: the folders of single systems,
# the strategies but for the options, the seam.
install(DIRECTORY runtime completion platform DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sluice"
    FILES_MATCHING PATTERN "*.hpp"
    PATTERN "platform/posix" EXCLUDE
    PATTERN "platform/linux" EXCLUDE
    PATTERN "platform/windows" EXCLUDE
    PATTERN "platform/adaptive_inlining.hpp" EXCLUDE
    PATTERN "platform/fault_seam.hpp" EXCLUDE
    PATTERN "platform/file_handle.hpp" EXCLUDE
    PATTERN "platform/sanitizers.hpp" EXCLUDE
    PATTERN "platform/transfer.hpp" EXCLUDE
    PATTERN "runtime/copying.hpp" EXCLUDE
    PATTERN "runtime/sluice.hpp" EXCLUDE)
install(FILES strategies/open_options.hpp
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sluice/strategies")
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
