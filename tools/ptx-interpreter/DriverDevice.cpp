// SPDX-License-Identifier: Apache-2.0
// The driver's calls on a machine. Limits are those of compute capability 8.0.
#include "tools/ptx-interpreter/DriverDevice.h"

#include <algorithm>
#include <cstring>

namespace llmc::ptx {

namespace {
constexpr uint32_t defaultSharedBytes = 48u << 10;
constexpr uint32_t optInSharedBytes = 163u << 10;
constexpr size_t mostMessages = 1000;

struct AttributeValue {
  int attribute;
  int value;
};
constexpr AttributeValue attributeValues[] = {
    {LLMC_CUDA_MAX_THREADS_PER_BLOCK, int(limits::threadsPerBlock)},
    {LLMC_CUDA_MAX_SHARED_BYTES_PER_BLOCK, int(defaultSharedBytes)},
    {LLMC_CUDA_WARP_SIZE, 32},
    {LLMC_CUDA_MULTIPROCESSORS, 2},
    {LLMC_CUDA_CAPABILITY_MAJOR, 8},
    {LLMC_CUDA_CAPABILITY_MINOR, 0},
    {LLMC_CUDA_MAX_SHARED_BYTES_OPT_IN, int(optInSharedBytes)},
};
} // namespace

void DriverDevice::say(const std::string &message) {
  if (messages.size() < mostMessages)
    messages.push_back(message);
}

llmc_cuda_result DriverDevice::attribute(int *value, int attribute, llmc_cuda_device device) const {
  if (device != 0)
    return LLMC_CUDA_INVALID_DEVICE;
  for (const AttributeValue &entry : attributeValues)
    if (entry.attribute == attribute && value) {
      *value = entry.value;
      return LLMC_CUDA_SUCCESS;
    }
  return LLMC_CUDA_INVALID_VALUE;
}

llmc_cuda_result DriverDevice::loadModule(llmc_cuda_module *result, const void *image) {
  if (!result || !image)
    return LLMC_CUDA_INVALID_VALUE;
  const char *text = static_cast<const char *>(image);
  if (text[0] == '\x7f') { // ELF: a cubin holds machine code
    say("module: error: found a cubin, expected PTX text");
    return LLMC_CUDA_NO_BINARY_FOR_GPU;
  }
  std::string error;
  LoadedModule *module =
      machine.load({text, strnlen(text, size_t(limits::textBytes) + 1)}, "module", error);
  if (!module) {
    say(error);
    return LLMC_CUDA_INVALID_PTX;
  }
  modules.insert(module);
  *result = reinterpret_cast<llmc_cuda_module>(module);
  return LLMC_CUDA_SUCCESS;
}

llmc_cuda_result DriverDevice::unloadModule(llmc_cuda_module handle) {
  auto *module = reinterpret_cast<LoadedModule *>(handle);
  if (!modules.erase(module))
    return LLMC_CUDA_INVALID_HANDLE;
  for (auto entry = functions.begin(); entry != functions.end();)
    entry = entry->second->module == module ? functions.erase(entry) : std::next(entry);
  machine.unload(module);
  return LLMC_CUDA_SUCCESS;
}

llmc_cuda_result DriverDevice::getFunction(llmc_cuda_function *result, llmc_cuda_module handle,
                                           const char *name) {
  auto *module = reinterpret_cast<LoadedModule *>(handle);
  if (!result || !name)
    return LLMC_CUDA_INVALID_VALUE;
  if (!modules.count(module))
    return LLMC_CUDA_INVALID_HANDLE;
  const Kernel *kernel = module->module.find(name);
  if (!kernel)
    return LLMC_CUDA_NOT_FOUND;
  for (const auto &entry : functions)
    if (entry.first->kernel == kernel) {
      *result = reinterpret_cast<llmc_cuda_function>(entry.first);
      return LLMC_CUDA_SUCCESS;
    }
  uint32_t room = defaultSharedBytes - std::min(kernel->dynamicOffset, defaultSharedBytes);
  auto function = std::make_unique<Function>(Function{module, kernel, room});
  *result = reinterpret_cast<llmc_cuda_function>(function.get());
  functions.emplace(function.get(), std::move(function));
  return LLMC_CUDA_SUCCESS;
}

llmc_cuda_result DriverDevice::setFunctionAttribute(llmc_cuda_function handle, int attribute,
                                                    int value) {
  auto found = functions.find(reinterpret_cast<Function *>(handle));
  if (found == functions.end())
    return LLMC_CUDA_INVALID_HANDLE;
  Function &function = *found->second;
  if (attribute != LLMC_CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES || value < 0 ||
      uint64_t(value) + function.kernel->dynamicOffset > optInSharedBytes)
    return LLMC_CUDA_INVALID_VALUE;
  function.mostDynamicShared = uint32_t(value);
  return LLMC_CUDA_SUCCESS;
}

llmc_cuda_result DriverDevice::allocate(llmc_cuda_pointer *address, size_t bytes) {
  if (!address || bytes == 0)
    return LLMC_CUDA_INVALID_VALUE;
  *address = machine.memory().allocate(bytes);
  return *address ? LLMC_CUDA_SUCCESS : LLMC_CUDA_OUT_OF_MEMORY;
}

llmc_cuda_result DriverDevice::verdict(const LaunchResult &result, const std::string &fileName) {
  if (result.refused) {
    say(result.error);
    return LLMC_CUDA_INVALID_VALUE;
  }
  for (const Report &report : result.reports)
    say(describe(report, fileName));
  if (result.completed)
    return result.reports.empty() || !options.findingsFailLaunch ? LLMC_CUDA_SUCCESS
                                                                 : LLMC_CUDA_LAUNCH_FAILED;
  switch (result.reports.empty() ? ReportKind::Trapped : result.reports.back().kind) {
  case ReportKind::OutOfBounds:
    return LLMC_CUDA_ILLEGAL_ADDRESS;
  case ReportKind::Misaligned:
    return LLMC_CUDA_MISALIGNED_ADDRESS;
  case ReportKind::BudgetSpent:
    return LLMC_CUDA_LAUNCH_TIMEOUT;
  default:
    return LLMC_CUDA_LAUNCH_FAILED;
  }
}

llmc_cuda_result DriverDevice::launch(llmc_cuda_function handle, const LaunchShape &shape,
                                      llmc_cuda_stream stream, void **parameters, void **extra) {
  auto found = functions.find(reinterpret_cast<Function *>(handle));
  if (found == functions.end() || !knowsStream(stream))
    return LLMC_CUDA_INVALID_HANDLE;
  const Function &function = *found->second;
  const Kernel &kernel = *function.kernel;
  if (extra || (!parameters && !kernel.parameters.empty()))
    return LLMC_CUDA_INVALID_VALUE;
  if (shape.dynamicSharedBytes > function.mostDynamicShared) {
    say("module: error: launch of kernel '" + kernel.name + "': dynamic shared memory of " +
        std::to_string(shape.dynamicSharedBytes) + " bytes, expected at most " +
        std::to_string(function.mostDynamicShared) + ", ask for more with cuFuncSetAttribute");
    return LLMC_CUDA_INVALID_VALUE;
  }
  std::vector<uint8_t> bytes(kernel.parameterBytes);
  for (size_t index = 0; index < kernel.parameters.size(); ++index)
    std::memcpy(&bytes[kernel.parameters[index].offset], parameters[index],
                kernel.parameters[index].size);
  LaunchResult result = machine.launch(*function.module, kernel, shape, bytes);
  ++launches;
  counters.add(result.counters);
  return verdict(result, function.module->module.fileName);
}

llmc_cuda_result DriverDevice::createStream(llmc_cuda_stream *stream) {
  if (!stream)
    return LLMC_CUDA_INVALID_VALUE;
  *stream = reinterpret_cast<llmc_cuda_stream>(nextStream++);
  streams.insert(*stream);
  return LLMC_CUDA_SUCCESS;
}

} // namespace llmc::ptx
