# phaze_library(NAME SOURCES ... [DEPENDS ...] [LINK ...] [TESTS ...] [TEST_LINK ...])
#
# One library per part, with its unit tests beside it. DEPENDS are other parts (linked publicly, they appear in headers);
# LINK are third-party libraries that stay inside the part's .cc files.
function(phaze_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK;TESTS;TEST_LINK" ${ARGN})
  add_library(phaze_${name} STATIC ${ARG_SOURCES})
  add_library(phaze::${name} ALIAS phaze_${name})
  target_link_libraries(phaze_${name} PUBLIC phaze_flags ${ARG_DEPENDS} PRIVATE ${ARG_LINK})
  # These parse and print, in templates that take minutes to optimise and milliseconds to run.
  if(name MATCHES "^(cli|report|explorer|exports)$" AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(phaze_${name} PRIVATE $<IF:$<BOOL:${PHAZE_THIN_TESTS}>,-O0,-O1>)
  endif()
  # What the installed library is made of (Packaging.cmake).
  set_property(GLOBAL APPEND PROPERTY PHAZE_PARTS phaze_${name})
  if(PHAZE_TESTS AND ARG_TESTS)
    add_executable(${name}_test ${ARG_TESTS})
    target_link_libraries(${name}_test PRIVATE phaze_${name} ${ARG_TEST_LINK} GTest::gmock GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE PHAZE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    if(PHAZE_THIN_TESTS)
      target_compile_definitions(${name}_test PRIVATE PHAZE_THIN_TESTS)
    endif()
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60)
  endif()
endfunction()
