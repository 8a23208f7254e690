// SPDX-License-Identifier: Apache-2.0
//
// Contracts: what is true at the end of each stage. Cheap, run on every compilation.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace llmc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "ContractPasses.h.inc"
} // namespace llmc
