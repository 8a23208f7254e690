# SPDX-License-Identifier: Apache-2.0
# What `cmake --install BUILD --prefix P` puts where: bin/ (llmc, llmc-compiler and the tools for passes), lib/ (libllmc, static and
# shared, a CMake package and a pkg-config file), include/llmc/, man pages and completion for bash and zsh. Everything finds its
# companions by its own place, so the prefix may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS llmc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(LLMC_BUILD_COMPILER)
  install(TARGETS llmc-compiler llmc-opt llmc-lsp-server llmc-reduce RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

foreach(library llmc_static llmc_shared)
  string(REPLACE llmc_ "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
endforeach()
install(TARGETS llmc_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS llmc_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY runtime/include/llmc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/llmc)
configure_package_config_file(cmake/llmcConfig.cmake.in ${CMAKE_BINARY_DIR}/llmcConfig.cmake INSTALL_DESTINATION ${package}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/llmcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/llmcConfig.cmake ${CMAKE_BINARY_DIR}/llmcConfigVersion.cmake DESTINATION ${package})
configure_file(cmake/llmc.pc.in ${CMAKE_BINARY_DIR}/llmc.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/llmc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES tools/llmc/completion/llmc.bash RENAME llmc DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES tools/llmc/completion/llmc.zsh RENAME _llmc DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES tools/llmc/llmc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
