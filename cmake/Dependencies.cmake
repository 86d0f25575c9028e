# Everything comes from Debian 12 packages; scripts/install-packages names them.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(Eigen3 REQUIRED)
# ONNX's package refers to protobuf::libprotobuf without finding it.
find_package(Protobuf REQUIRED)
find_package(ONNX REQUIRED)
if(PHAZE_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
if(PHAZE_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()

# The generated protobuf headers of ONNX do not pass our warnings, so they are system headers to us.
get_target_property(onnx_include onnx_proto INTERFACE_INCLUDE_DIRECTORIES)
add_library(phaze_onnx_proto INTERFACE)
target_link_libraries(phaze_onnx_proto INTERFACE onnx_proto protobuf::libprotobuf)
target_compile_definitions(phaze_onnx_proto INTERFACE ONNX_ML=1 ONNX_NAMESPACE=onnx)
if(onnx_include)
  target_include_directories(phaze_onnx_proto SYSTEM INTERFACE ${onnx_include})
endif()

# CBC ships a pkg-config file only.
find_package(PkgConfig REQUIRED)
pkg_check_modules(CBC REQUIRED cbc)
add_library(phaze_cbc INTERFACE)
target_include_directories(phaze_cbc SYSTEM INTERFACE ${CBC_INCLUDE_DIRS})
target_link_libraries(phaze_cbc INTERFACE ${CBC_LINK_LIBRARIES})

# So does xxHash.
pkg_check_modules(XXHASH REQUIRED libxxhash)
add_library(phaze_xxhash INTERFACE)
target_include_directories(phaze_xxhash SYSTEM INTERFACE ${XXHASH_INCLUDE_DIRS})
target_link_libraries(phaze_xxhash INTERFACE ${XXHASH_LINK_LIBRARIES})

# MPI spreads a search over machines; without it, threads do. Its headers and flags stay away from our warnings, and we use its C interface only.
find_package(MPI COMPONENTS C)
option(PHAZE_MPI "Search on many machines with MPI" ${MPI_C_FOUND})
if(PHAZE_MPI)
  if(NOT MPI_C_FOUND)
    message(FATAL_ERROR "PHAZE_MPI needs MPI: install libopenmpi-dev, or configure with -DPHAZE_MPI=OFF")
  endif()
  add_library(phaze_mpi INTERFACE)
  target_include_directories(phaze_mpi SYSTEM INTERFACE ${MPI_C_INCLUDE_DIRS})
  target_compile_definitions(phaze_mpi INTERFACE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  target_link_libraries(phaze_mpi INTERFACE ${MPI_C_LIBRARIES})
endif()
