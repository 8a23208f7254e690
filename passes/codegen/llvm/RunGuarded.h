// SPDX-License-Identifier: Apache-2.0
//
// LLVM ends the process on some errors of code generation; here they come back.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace llmc {

/// Runs `work`; false, with the reason, where LLVM gave up inside. One call at a time in a process,
/// others wait: LLVM's fatal error handler is the process's.
bool runGuarded(llvm::function_ref<void()> work, std::string &reason);

} // namespace llmc
