// SPDX-License-Identifier: Apache-2.0
// What must not stay behind when SIGINT, SIGTERM or SIGHUP ends the program: unfinished files, a
// folder, a child. A signal that somebody else handles or ignores is left alone.
#pragma once

#include <string>
#include <sys/types.h>

namespace llmc::tool {

// While it lives, a signal removes the file, or the folder once it is empty, in the order in which
// they were named last to first. A few at a time; more, or paths beyond 4 KB, are not remembered.
class RemoveOnSignal {
public:
  explicit RemoveOnSignal(const std::string &path);
  ~RemoveOnSignal();
  RemoveOnSignal(const RemoveOnSignal &) = delete;
  RemoveOnSignal &operator=(const RemoveOnSignal &) = delete;

private:
  int slot;
};

// While it lives, a signal ends the child first, and waits for it.
class EndOnSignal {
public:
  explicit EndOnSignal(pid_t child);
  ~EndOnSignal();
  EndOnSignal(const EndOnSignal &) = delete;
  EndOnSignal &operator=(const EndOnSignal &) = delete;
};

} // namespace llmc::tool
