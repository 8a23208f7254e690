// SPDX-License-Identifier: Apache-2.0
// The span between the two symbols of EmbeddedExecutor.S.
#include "passes/codegen/artifact/EmbeddedExecutor.h"

extern "C" const char llmc_embedded_executor_begin[];
extern "C" const char llmc_embedded_executor_end[];

namespace llmc::artifact {

std::string_view executorObject() {
  return {llmc_embedded_executor_begin,
          size_t(llmc_embedded_executor_end - llmc_embedded_executor_begin)};
}

} // namespace llmc::artifact
