// SPDX-License-Identifier: Apache-2.0
//
// Fatal errors of LLVM come back through a crash recovery point.
#include "passes/codegen/llvm/RunGuarded.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex emissionMutex;

namespace {
struct Reason {
  std::mutex mutex;
  std::string text; // of the first that gave up
};
} // namespace

static void onFatalError(void *data, const char *message, bool) {
  {
    auto &reason = *static_cast<Reason *>(data);
    std::lock_guard<std::mutex> guard(reason.mutex);
    if (reason.text.empty())
      reason.text = message;
  }
  if (auto *recovery = llvm::CrashRecoveryContext::GetCurrent())
    recovery->HandleExit(1);
}

bool llmc::runGuarded(llvm::function_ref<void()> work, std::string &reason) {
  return runGuarded(1, 1, [&](size_t) { work(); }, reason);
}

bool llmc::runGuarded(size_t count, size_t threads, llvm::function_ref<void(size_t)> work, std::string &reason) {
  std::lock_guard<std::mutex> guard(emissionMutex);
  Reason why;
  llvm::CrashRecoveryContext::Enable();
  llvm::install_fatal_error_handler(onFatalError, &why);
  std::atomic<size_t> next{0};
  std::atomic<bool> finished{true};
  auto takeSome = [&] {
    for (size_t i = next++; i < count; i = next++) {
      llvm::CrashRecoveryContext recovery;
      if (!recovery.RunSafely([&] { work(i); }))
        finished = false;
    }
  };
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < std::min(count, threads); ++i)
    helpers.emplace_back(takeSome);
  takeSome();
  for (std::thread &helper : helpers)
    helper.join();
  llvm::remove_fatal_error_handler();
  llvm::CrashRecoveryContext::Disable();
  if (!finished)
    reason = why.text.empty() ? "code generation crashed" : why.text;
  return finished;
}
