// SPDX-License-Identifier: Apache-2.0
//
// Fatal errors of LLVM come back through a crash recovery point.
#include "passes/codegen/llvm/RunGuarded.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include <mutex>

static std::mutex emissionMutex;

static void onFatalError(void *reason, const char *message, bool) {
  *static_cast<std::string *>(reason) = message;
  if (auto *recovery = llvm::CrashRecoveryContext::GetCurrent())
    recovery->HandleExit(1);
}

bool llmc::runGuarded(llvm::function_ref<void()> work, std::string &reason) {
  std::lock_guard<std::mutex> guard(emissionMutex);
  llvm::CrashRecoveryContext::Enable();
  llvm::install_fatal_error_handler(onFatalError, &reason);
  llvm::CrashRecoveryContext recovery;
  bool finished = recovery.RunSafely(work);
  llvm::remove_fatal_error_handler();
  llvm::CrashRecoveryContext::Disable();
  if (!finished && reason.empty())
    reason = "code generation crashed";
  return finished;
}
