# SPDX-License-Identifier: Apache-2.0
# The golden models, written into the build tree by tools/goldens/make_models.py (standard library only), and the library
# that reads what transformers made of them. Include where needed: `llmc_golden_models`, `llmc_test_goldens`.
include_guard(GLOBAL)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(llmc_golden_tools ${PROJECT_SOURCE_DIR}/tools/goldens)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/golden-models.stamp
  COMMAND ${Python3_EXECUTABLE} -B ${llmc_golden_tools}/make_models.py --out ${PROJECT_BINARY_DIR}/golden-models
  COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/golden-models.stamp
  DEPENDS ${llmc_golden_tools}/make_models.py ${llmc_golden_tools}/configs.py
  COMMENT "Writing the golden models" VERBATIM)
add_custom_target(llmc_golden_models DEPENDS ${PROJECT_BINARY_DIR}/golden-models.stamp)

add_library(llmc_test_goldens STATIC ${CMAKE_CURRENT_LIST_DIR}/Goldens.cpp)
target_link_libraries(llmc_test_goldens PUBLIC llmc_json)
target_compile_definitions(llmc_test_goldens PUBLIC
  LLMC_GOLDENS="${PROJECT_SOURCE_DIR}/test/e2e/goldens" LLMC_GOLDEN_MODELS="${PROJECT_BINARY_DIR}/golden-models")
add_dependencies(llmc_test_goldens llmc_golden_models)
