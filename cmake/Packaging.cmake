# What `cmake --install` and `cpack` deliver: the command with its man page and completions, and all parts but the command
# line as one static library with headers, a CMake package and a pkg-config file. Presets and the zoo are compiled in and
# every installed path is relative, so the prefix may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# One archive of all parts: who links phaze::phaze need not know how many there are.
get_property(parts GLOBAL PROPERTY PHAZE_PARTS)
list(REMOVE_ITEM parts phaze_cli)
add_library(phaze_archive STATIC EXCLUDE_FROM_ALL)
foreach(part IN LISTS parts)
  target_sources(phaze_archive PRIVATE $<TARGET_OBJECTS:${part}>)
endforeach()
set_target_properties(phaze_archive PROPERTIES OUTPUT_NAME phaze EXPORT_NAME phaze LINKER_LANGUAGE CXX)
set_target_properties(phaze_archive PROPERTIES EXCLUDE_FROM_ALL OFF)
target_compile_features(phaze_archive INTERFACE cxx_std_20)
target_include_directories(phaze_archive INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# What it links, as users of the installed package find it, and the Debian packages that bring it. Headers alone (JSON,
# CLI11, Eigen) are needed to build, not to link.
set(PHAZE_DEPENDENCIES "find_dependency(fmt)\nfind_dependency(yaml-cpp)\nfind_dependency(Protobuf)\nfind_dependency(ONNX)\nfind_dependency(SQLite3)\n")
set(PHAZE_PC_REQUIRES "fmt yaml-cpp protobuf cbc sqlite3 libxxhash")
set(dev_packages "libfmt-dev, libyaml-cpp-dev, libprotobuf-dev, libonnx-dev, coinor-libcbc-dev, libsqlite3-dev, libxxhash-dev")
target_link_libraries(phaze_archive INTERFACE fmt::fmt yaml-cpp onnx_proto protobuf::libprotobuf SQLite::SQLite3 ${CBC_LIBRARIES}
  ${XXHASH_LIBRARIES})
if(PHAZE_MPI)
  target_link_libraries(phaze_archive INTERFACE mpi)
  string(APPEND PHAZE_PC_REQUIRES " ompi-c")
  string(APPEND dev_packages ", libopenmpi-dev")
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/phaze)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/phazeConfig.cmake.in ${CMAKE_BINARY_DIR}/phazeConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/phazeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH PHAZE_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/phaze.pc.in ${CMAKE_BINARY_DIR}/phaze.pc @ONLY)

# The man page and completions come from the binary, so they never fall behind it.
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/phaze.1 ${CMAKE_BINARY_DIR}/phaze.bash ${CMAKE_BINARY_DIR}/_phaze
  COMMAND phaze reference man > ${CMAKE_BINARY_DIR}/phaze.1
  COMMAND phaze completion bash > ${CMAKE_BINARY_DIR}/phaze.bash
  COMMAND phaze completion zsh > ${CMAKE_BINARY_DIR}/_phaze
  DEPENDS phaze VERBATIM)
add_custom_target(phaze_pages ALL DEPENDS ${CMAKE_BINARY_DIR}/phaze.1)

install(TARGETS phaze COMPONENT phaze)
install(FILES ${CMAKE_BINARY_DIR}/phaze.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT phaze)
install(FILES ${CMAKE_BINARY_DIR}/phaze.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME phaze
  COMPONENT phaze)
install(FILES ${CMAKE_BINARY_DIR}/_phaze DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT phaze)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT phaze)
install(TARGETS phaze_archive EXPORT phazeTargets COMPONENT dev)
install(DIRECTORY src/phaze DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN "*.h"
  PATTERN "testing" EXCLUDE PATTERN "cli" EXCLUDE)
install(EXPORT phazeTargets NAMESPACE phaze:: DESTINATION ${package_dir} COMPONENT dev)
install(FILES ${CMAKE_BINARY_DIR}/phazeConfig.cmake ${CMAKE_BINARY_DIR}/phazeConfigVersion.cmake DESTINATION ${package_dir}
  COMPONENT dev)
install(FILES ${CMAKE_BINARY_DIR}/phaze.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# Two Debian packages: the command, and the library for programs of one's own.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The Phaze project")
set(CPACK_PACKAGE_CONTACT "The Phaze project <phaze@example.org>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL phaze dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PHAZE_PACKAGE_NAME phaze)
set(CPACK_COMPONENT_PHAZE_DESCRIPTION "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_PHAZE_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PHAZE_PACKAGE_RECOMMENDS graphviz)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libphaze-dev)
set(CPACK_COMPONENT_DEV_DESCRIPTION "${PROJECT_DESCRIPTION}: library, headers and CMake package")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${dev_packages}")
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
include(CPack)
