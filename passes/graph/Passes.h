// SPDX-License-Identifier: Apache-2.0
//
// Passes of the `graph` stage: llm -> llm. See Passes.td for what each does.
#pragma once

#include "dialects/llm/LLMDialect.h"
#include "mlir/Pass/Pass.h"

namespace llmc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "GraphPasses.h.inc"
} // namespace llmc
