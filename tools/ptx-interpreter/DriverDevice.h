// SPDX-License-Identifier: Apache-2.0
// What stands behind one driver table: the handles it gave out and the calls on them. Callers hold
// the lock.
#ifndef LLMC_TOOLS_PTX_INTERPRETER_DRIVERDEVICE_H
#define LLMC_TOOLS_PTX_INTERPRETER_DRIVERDEVICE_H

#include "tools/ptx-interpreter/Driver.h"

#include <mutex>
#include <set>

namespace llmc::ptx {

struct DriverDevice {
  DriverDevice(Machine &machine, DriverOptions options) : machine(machine), options(options) {}

  llmc_cuda_result attribute(int *value, int attribute, llmc_cuda_device device) const;
  llmc_cuda_result loadModule(llmc_cuda_module *result, const void *image);
  llmc_cuda_result unloadModule(llmc_cuda_module module);
  llmc_cuda_result getFunction(llmc_cuda_function *result, llmc_cuda_module module,
                               const char *name);
  llmc_cuda_result setFunctionAttribute(llmc_cuda_function function, int attribute, int value);
  llmc_cuda_result allocate(llmc_cuda_pointer *address, size_t bytes);
  llmc_cuda_result launch(llmc_cuda_function function, const LaunchShape &shape,
                          llmc_cuda_stream stream, void **parameters, void **extra);
  llmc_cuda_result createStream(llmc_cuda_stream *stream);
  bool knowsStream(llmc_cuda_stream stream) const { return !stream || streams.count(stream); }

  struct Function {
    LoadedModule *module;
    const Kernel *kernel;
    uint32_t mostDynamicShared;
  };

  std::mutex lock;
  Machine &machine;
  DriverOptions options;
  bool initialised = false;
  unsigned contextUsers = 0;
  std::set<LoadedModule *> modules;
  std::map<Function *, std::unique_ptr<Function>> functions;
  std::set<llmc_cuda_stream> streams;
  uintptr_t nextStream = 1;
  std::vector<std::string> messages;
  Counters counters;
  uint64_t launches = 0;

private:
  void say(const std::string &message);
  llmc_cuda_result verdict(const LaunchResult &result, const std::string &fileName);
};

} // namespace llmc::ptx

#endif
