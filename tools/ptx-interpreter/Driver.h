// SPDX-License-Identifier: Apache-2.0
// A machine behind the CUDA driver's function table, so that what runs on a GPU runs on the
// interpreter unchanged. The driver API has no user pointer, so each binding takes one of a few
// slots in this process, and each slot has its own functions: two machines can be bound at once and
// any thread may call. Work is done in the call itself; streams are handles without meaning. As on
// a device, a thread needs a current context for all but the first calls.
#ifndef LLMC_TOOLS_PTX_INTERPRETER_DRIVER_H
#define LLMC_TOOLS_PTX_INTERPRETER_DRIVER_H

#include "runtime/executor/nvptx/DriverTable.h"
#include "tools/ptx-interpreter/Machine.h"

namespace llmc::ptx {

struct DriverDevice;

struct DriverOptions {
  /// A launch with findings that a device would not notice (races, uninitialised reads) fails like
  /// one that crashes.
  bool findingsFailLaunch = true;
};

class DriverBinding {
public:
  static constexpr unsigned mostBindings = 4; // at one time in a process

  /// Borrows `machine` until destroyed. All slots taken: `table()` is null.
  explicit DriverBinding(Machine &machine, DriverOptions options = {});
  ~DriverBinding();
  DriverBinding(const DriverBinding &) = delete;
  DriverBinding &operator=(const DriverBinding &) = delete;

  /// Valid as long as the binding; its functions fail with LLMC_CUDA_DEINITIALIZED afterwards.
  const llmc_cuda_driver *table() const;

  /// What refused modules, refused launches and findings said so far, as error lines.
  std::vector<std::string> messages() const;
  /// Over all launches so far.
  Counters counters() const;
  uint64_t launches() const;

private:
  std::shared_ptr<DriverDevice> device;
  unsigned slot = mostBindings;
};

} // namespace llmc::ptx

#endif
