// SPDX-License-Identifier: Apache-2.0
// From an LLVM module of tables to object bytes, for the baseline of x86-64.
#pragma once

#include "dialects/model/Error.h"

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace llmc::artifact {

// Position-independent code for every processor of the triple's architecture.
Result<std::unique_ptr<llvm::TargetMachine>> baselineMachine(llvm::StringRef triple);

Result<std::string> emitObject(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace llmc::artifact
