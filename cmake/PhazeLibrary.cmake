# phaze_library(NAME SOURCES ... [DEPENDS ...] [LINK ...] [TESTS ...] [TEST_LINK ...] [APART ...])
#
# One library per part, with its unit tests beside it. DEPENDS are other parts (linked publicly, they appear in headers);
# LINK are third-party libraries that stay inside the part's .cc files. APART are sources whose local names another
# one of the part has, too, so that the two cannot be compiled together where a preset says so (CMAKE_UNITY_BUILD).
function(phaze_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK;TESTS;TEST_LINK;APART" ${ARGN})
  add_library(phaze_${name} STATIC ${ARG_SOURCES})
  add_library(phaze::${name} ALIAS phaze_${name})
  target_link_libraries(phaze_${name} PUBLIC phaze_flags ${ARG_DEPENDS} PRIVATE ${ARG_LINK})
  # These parse and print, in templates that take minutes to optimise and milliseconds to run.
  if(name MATCHES "^(cli|report|explorer|exports)$" AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(phaze_${name} PRIVATE $<IF:$<BOOL:${PHAZE_THIN_TESTS}>,-O0,-O1>)
  endif()
  set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  # What the installed library is made of (Packaging.cmake).
  set_property(GLOBAL APPEND PROPERTY PHAZE_PARTS phaze_${name})
  if(PHAZE_TESTS AND ARG_TESTS)
    add_executable(${name}_test ${ARG_TESTS})
    target_link_libraries(${name}_test PRIVATE phaze_${name} ${ARG_TEST_LINK} GTest::gmock GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE PHAZE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    if(PHAZE_THIN_TESTS)
      target_compile_definitions(${name}_test PRIVATE PHAZE_THIN_TESTS)
      # Comparisons of texts and documents, none of which takes long to run.
      if(name MATCHES "^(base|cli|explorer|exports|hardware|report|run_db|workload)$")
        target_compile_options(${name}_test PRIVATE -O0)
      endif()
    endif()
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60)
  endif()
endfunction()
