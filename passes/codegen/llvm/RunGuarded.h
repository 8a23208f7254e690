// SPDX-License-Identifier: Apache-2.0
//
// LLVM ends the process on some errors of code generation; here they come back.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstddef>
#include <string>

namespace llmc {

/// Runs `work`; false, with the reason, where LLVM gave up inside. One call at a time in a process,
/// others wait: LLVM's fatal error handler is the process's.
bool runGuarded(llvm::function_ref<void()> work, std::string &reason);

/// The same of work(0) to work(count - 1), each called once, on up to `threads` threads, this one among them. All have ended when
/// it returns.
bool runGuarded(size_t count, size_t threads, llvm::function_ref<void(size_t)> work, std::string &reason);

} // namespace llmc
