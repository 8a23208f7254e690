// SPDX-License-Identifier: Apache-2.0
// As EmbeddedExecutor.cpp, for the instrumented executor.
#include "passes/codegen/artifact/EmbeddedExecutor.h"

extern "C" const char llmc_embedded_tsan_executor_begin[];
extern "C" const char llmc_embedded_tsan_executor_end[];

namespace llmc::artifact {

std::string_view threadSanitizerExecutorObject() {
  return {llmc_embedded_tsan_executor_begin,
          size_t(llmc_embedded_tsan_executor_end - llmc_embedded_tsan_executor_begin)};
}

} // namespace llmc::artifact
