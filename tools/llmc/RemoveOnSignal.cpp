// SPDX-License-Identifier: Apache-2.0
// The handler touches nothing but fixed memory and calls that a signal handler may make.
#include "tools/llmc/RemoveOnSignal.h"
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace llmc::tool {
namespace {

constexpr int kSlots = 8;
constexpr size_t kPathBytes = 4096;
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

char paths[kSlots][kPathBytes];
std::atomic<bool> used[kSlots];
std::atomic<pid_t> child{0};

void cleanUp(int signal) {
  const pid_t ending = child.exchange(0);
  if (ending > 0 && !kill(ending, SIGTERM))
    waitpid(ending, nullptr, 0);
  for (int slot = kSlots - 1; slot >= 0; --slot)
    if (used[slot].load() && unlink(paths[slot]))
      rmdir(paths[slot]);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void installOnce() {
  static const bool installed = [] {
    for (int signal : kSignals) {
      struct sigaction now = {};
      if (sigaction(signal, nullptr, &now) || now.sa_handler != SIG_DFL)
        continue;
      struct sigaction ours = {};
      ours.sa_handler = cleanUp;
      for (int other : kSignals) // one at a time
        sigaddset(&ours.sa_mask, other);
      sigaction(signal, &ours, nullptr);
    }
    return true;
  }();
  (void)installed;
}

} // namespace

RemoveOnSignal::RemoveOnSignal(const std::string &path) : slot(-1) {
  installOnce();
  for (int i = 0; i < kSlots && path.size() < kPathBytes; ++i)
    if (!used[i].load()) {
      std::memcpy(paths[i], path.c_str(), path.size() + 1);
      used[i].store(true);
      slot = i;
      return;
    }
}

RemoveOnSignal::~RemoveOnSignal() {
  if (slot >= 0)
    used[slot].store(false);
}

EndOnSignal::EndOnSignal(pid_t process) {
  installOnce();
  child.store(process);
}

EndOnSignal::~EndOnSignal() { child.store(0); }

} // namespace llmc::tool
