// SPDX-License-Identifier: Apache-2.0
//
// The `schedule` stage: decides how each fused region becomes a block program. The tile stage
// applies it.
#pragma once

#include "dialects/llm/LLMDialect.h"
#include "mlir/Pass/Pass.h"

namespace llmc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "SchedulePasses.h.inc"
} // namespace llmc
