// SPDX-License-Identifier: Apache-2.0
// The executor that goes into every artefact: linked once when llmc is built, carried as bytes.
#pragma once

#include <string_view>

namespace llmc::artifact {

// A relocatable object that defines llmc_executor_* and the memory functions compilers call.
std::string_view executorObject();

// The same, instrumented for ThreadSanitizer; for tests of ours. Linked in only where it is asked
// for (CMake target llmc_artifact_tsan_executor).
std::string_view threadSanitizerExecutorObject();

} // namespace llmc::artifact
