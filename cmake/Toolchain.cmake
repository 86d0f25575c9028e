# Language, warnings and the switches every target shares.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(phaze_flags INTERFACE)
target_include_directories(phaze_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
# Published areas are compared bit for bit, so the compiler must not fuse a multiplication and an addition into one rounding.
# Designated initialisers name what differs from the defaults; leaving the rest out is their point.
target_compile_options(phaze_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wno-missing-field-initializers -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees overlaps in std::string concatenation that are not there (GCC bug 105651). Where sources are compiled
  # together it takes all of them for headers, in which local types would be a mistake.
  target_compile_options(phaze_flags INTERFACE -Wno-restrict $<$<BOOL:${CMAKE_UNITY_BUILD}>:-Wno-subobject-linkage>)
endif()
if(PHAZE_WARNINGS_AS_ERRORS)
  target_compile_options(phaze_flags INTERFACE -Werror)
endif()
