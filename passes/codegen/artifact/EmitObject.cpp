// SPDX-License-Identifier: Apache-2.0
// LLVM's code generator for the few constants and one function of the tables.
#include "passes/codegen/artifact/EmitObject.h"

#include "passes/codegen/llvm/EmitCode.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetOptions.h"

using namespace llvm;

namespace llmc::artifact {

Result<std::unique_ptr<TargetMachine>> baselineMachine(StringRef name) {
  std::string message;
  auto machine = createMachine(Triple(name), "x86-64", "", TargetOptions(), Reloc::PIC_, message);
  if (!machine)
    return errorAt("artifact", "",
                   "found no code generator for " + name.str() +
                       ", expected an LLVM that was built with X86: " + message);
  return machine;
}

Result<std::string> emitObject(Module &module, TargetMachine &machine) {
  std::string message;
  raw_string_ostream stream(message);
  if (verifyModule(module, &stream))
    return errorAt("artifact", "tables",
                   "found a module that LLVM refuses: " + escaped(message) +
                       "; this is a fault of llmc");
  SmallVector<char, 0> bytes;
  raw_svector_ostream output(bytes);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, output, nullptr, CodeGenFileType::ObjectFile))
    return errorAt("artifact", "tables",
                   "found a target that writes no objects, expected one that does");
  passes.run(module);
  return std::string(bytes.data(), bytes.size());
}

} // namespace llmc::artifact
