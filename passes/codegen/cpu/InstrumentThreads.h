// SPDX-License-Identifier: Apache-2.0
//
// ThreadSanitizer for kernels, a test-only option.
#pragma once

namespace llvm {
class Module;
}

namespace llmc::cpu {

/// Announces every access wider than 16 bytes to ThreadSanitizer, masked ones by their real length.
/// LLVM's own pass sees the rest.
void announceWideAccesses(llvm::Module &module);

/// Marks every function for LLVM's pass.
void requestThreadSanitizer(llvm::Module &module);

} // namespace llmc::cpu
