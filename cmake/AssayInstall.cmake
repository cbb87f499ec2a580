# Installation: libraries, headers, command, man pages, completions, pkg-config file and CMake package.
#
# Everything installed finds its neighbours relative to itself, so that
# `cmake --install build --prefix ANYWHERE` needs no reconfiguration: the library folder is always
# PREFIX/lib (no multiarch name), which the command, assay.pc and the CMake package rely on.
set(CMAKE_INSTALL_LIBDIR lib CACHE STRING "Library folder below the prefix")
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS assay_shared assay_static assay_models_shared assay_models_static EXPORT assayTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS assay_heap assay_cupti LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS assay RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS assay_models RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/assay)
install(DIRECTORY include/assay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
file(GLOB MAN_PAGES CONFIGURE_DEPENDS docs/man/*.1)
file(GLOB LIBRARY_PAGES CONFIGURE_DEPENDS docs/man/*.3)
install(FILES ${MAN_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${LIBRARY_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
install(FILES cli/completions/assay.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME assay)
install(FILES cli/completions/_assay DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(DIRECTORY conf DESTINATION ${CMAKE_INSTALL_DATADIR}/assay FILES_MATCHING PATTERN "*.yaml")
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# pkg-config: one template, two files. The installed one follows its own place; the one in the build
# folder serves programs without installing, and adds a run path so that they also start.
set(PC_PREFIX "\${pcfiledir}/../..")
set(PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
set(PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
set(PC_RPATH "")
configure_file(cmake/assay.pc.in ${CMAKE_BINARY_DIR}/install/assay.pc @ONLY)
configure_file(cmake/assay-models.pc.in ${CMAKE_BINARY_DIR}/install/assay-models.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/install/assay.pc ${CMAKE_BINARY_DIR}/install/assay-models.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(PC_PREFIX ${CMAKE_BINARY_DIR})
set(PC_INCLUDEDIR ${CMAKE_SOURCE_DIR}/include)
set(PC_LIBDIR "\${prefix}/lib")
set(PC_RPATH " -Wl,-rpath,\${libdir}")
configure_file(cmake/assay.pc.in ${CMAKE_BINARY_DIR}/assay.pc @ONLY)
configure_file(cmake/assay-models.pc.in ${CMAKE_BINARY_DIR}/assay-models.pc @ONLY)

# find_package(assay): targets assay::assay (shared) and assay::static.
set(PACKAGE_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/assay)
install(EXPORT assayTargets NAMESPACE assay:: DESTINATION ${PACKAGE_DESTINATION})
configure_package_config_file(cmake/assayConfig.cmake.in
                              ${CMAKE_BINARY_DIR}/install/assayConfig.cmake
                              INSTALL_DESTINATION ${PACKAGE_DESTINATION})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/install/assayConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/install/assayConfig.cmake
              ${CMAKE_BINARY_DIR}/install/assayConfigVersion.cmake
        DESTINATION ${PACKAGE_DESTINATION})
