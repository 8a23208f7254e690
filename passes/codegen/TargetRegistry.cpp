// SPDX-License-Identifier: Apache-2.0
//
// Targets by name. The only place, with the folders beside it, that names one.
#include "passes/Target.h"
#include "passes/codegen/cpu/CpuTarget.h"
#include "passes/codegen/cpu/Passes.h"
#include "passes/codegen/nvptx/Passes.h"

std::unique_ptr<llmc::Target> llmc::createTarget(llvm::StringRef name, std::string &error) {
  llvm::StringRef level = name;
  if (level.consume_front("cpu:"))
    return createCpuTarget(level, error);
  error = "unknown target '" + name.str() + "', expected cpu:LEVEL, for example cpu:native or cpu:x86-64-v3";
  return nullptr;
}

void llmc::registerTargetPasses() {
  cpu::registerPasses();
  nvptx::registerPasses();
}
