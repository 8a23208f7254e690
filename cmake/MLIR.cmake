# SPDX-License-Identifier: Apache-2.0
# Finds LLVM, MLIR and LLD, and provides llmc_mlir_library(): a static library whose sources include MLIR headers and share one
# precompiled header. Links the two shared libraries only: a static libMLIR*.a beside them would register every type twice.
set(LLMC_LLVM_VERSION ${LLMC_LLVM_MAJOR}.${LLMC_LLVM_MINOR})
set(LLMC_LLVM_HINT /usr/lib/llvm-${LLMC_LLVM_MAJOR}/lib/cmake)
find_package(MLIR ${LLMC_LLVM_VERSION} REQUIRED CONFIG HINTS ${LLMC_LLVM_HINT}/mlir)
find_package(LLD ${LLMC_LLVM_VERSION} REQUIRED CONFIG HINTS ${LLMC_LLVM_HINT}/lld)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
separate_arguments(LLMC_LLVM_DEFINITIONS UNIX_COMMAND "${LLVM_DEFINITIONS}")
set(LLMC_LLVM_TOOLS ${LLVM_TOOLS_BINARY_DIR})
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS}) # mlir_tablegen looks here

add_library(llmc_mlir INTERFACE)
target_include_directories(llmc_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(llmc_mlir INTERFACE ${LLMC_LLVM_DEFINITIONS})
target_link_libraries(llmc_mlir INTERFACE MLIR LLVM)

# The precompiled header is built once, here, and reused by every library below it.
file(WRITE ${CMAKE_BINARY_DIR}/llmc_pch_anchor.cpp "// Anchor of the shared precompiled header.\n")
add_library(llmc_pch STATIC ${CMAKE_BINARY_DIR}/llmc_pch_anchor.cpp)
target_link_libraries(llmc_pch PUBLIC llmc_mlir)
target_precompile_headers(llmc_pch PRIVATE ${PROJECT_SOURCE_DIR}/dialects/Precompiled.h)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # ccache can reuse objects built against a header without a time stamp in it.
  target_compile_options(llmc_pch PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
endif()

function(llmc_mlir_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC llmc_mlir ${ARG_LINK})
  target_precompile_headers(${name} REUSE_FROM llmc_pch)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()
