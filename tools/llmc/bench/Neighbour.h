// SPDX-License-Identifier: Apache-2.0
// A process that keeps one processor busy, as another program of this machine might.
#pragma once

#include "dialects/model/Error.h"
#include "tools/llmc/RemoveOnSignal.h"
#include <memory>

namespace llmc::tool {

class Neighbour {
public:
  // Spins on that processor from here on, until it is destroyed, this process ends in any way, or
  // its own limit of processor time is spent.
  static Result<std::unique_ptr<Neighbour>> start(int processor, int nice);
  ~Neighbour();
  Neighbour(const Neighbour &) = delete;
  Neighbour &operator=(const Neighbour &) = delete;

private:
  explicit Neighbour(pid_t child) : child(child), guard(child) {}

  const pid_t child;
  EndOnSignal guard;
};

// Numbers of the processors that this program may use.
std::vector<int> allowedProcessors();

} // namespace llmc::tool
