// SPDX-License-Identifier: Apache-2.0
// The driver's functions, one set a slot, each finding its device by the slot it was made for.
#include "tools/ptx-interpreter/Driver.h"

#include "tools/ptx-interpreter/DriverDevice.h"

#include <array>

namespace llmc::ptx {

namespace {

constexpr int driverVersion = 12000;

struct Slot {
  std::shared_ptr<DriverDevice> device;
  uint64_t generation =
      0; // of the binding, so that a thread's old current context does not fit a new binding
};

struct Registry {
  std::mutex lock;
  std::array<Slot, DriverBinding::mostBindings> slots;
};

Registry &registry() {
  static Registry instance;
  return instance;
}

/// The binding whose context is current in this thread, a slot.
thread_local std::array<uint64_t, DriverBinding::mostBindings> currentGeneration{};

enum class Needs { Nothing, Initialised, Context };

template <typename Body> llmc_cuda_result call(unsigned slot, Needs needs, Body body) {
  Slot entry;
  {
    std::lock_guard<std::mutex> guard(registry().lock);
    entry = registry().slots[slot];
  }
  if (!entry.device)
    return LLMC_CUDA_DEINITIALIZED;
  std::lock_guard<std::mutex> guard(entry.device->lock);
  if (needs != Needs::Nothing && !entry.device->initialised)
    return LLMC_CUDA_NOT_INITIALIZED;
  bool current = entry.device->contextUsers > 0 && currentGeneration[slot] == entry.generation;
  if (needs == Needs::Context && !current)
    return LLMC_CUDA_INVALID_CONTEXT;
  return body(*entry.device, entry.generation);
}

llmc_cuda_result give(int *place, int value) {
  if (!place)
    return LLMC_CUDA_INVALID_VALUE;
  *place = value;
  return LLMC_CUDA_SUCCESS;
}

llmc_cuda_result orInvalid(bool fine) { return fine ? LLMC_CUDA_SUCCESS : LLMC_CUDA_INVALID_VALUE; }

llmc_cuda_result errorString(llmc_cuda_result result, const char **text) {
  struct Entry {
    llmc_cuda_result result;
    const char *text;
  };
  static constexpr Entry entries[] = {
      {LLMC_CUDA_SUCCESS, "no error"},
      {LLMC_CUDA_INVALID_VALUE, "invalid argument"},
      {LLMC_CUDA_OUT_OF_MEMORY, "out of memory"},
      {LLMC_CUDA_NOT_INITIALIZED, "initialization error"},
      {LLMC_CUDA_DEINITIALIZED, "driver shutting down"},
      {LLMC_CUDA_NO_DEVICE, "no CUDA-capable device is detected"},
      {LLMC_CUDA_INVALID_DEVICE, "invalid device ordinal"},
      {LLMC_CUDA_INVALID_CONTEXT, "invalid device context"},
      {LLMC_CUDA_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"},
      {LLMC_CUDA_INVALID_PTX, "a PTX JIT compilation failed"},
      {LLMC_CUDA_INVALID_HANDLE, "invalid resource handle"},
      {LLMC_CUDA_NOT_FOUND, "named symbol not found"},
      {LLMC_CUDA_ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
      {LLMC_CUDA_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"},
      {LLMC_CUDA_LAUNCH_TIMEOUT, "the launch timed out and was terminated"},
      {LLMC_CUDA_MISALIGNED_ADDRESS, "misaligned address"},
      {LLMC_CUDA_LAUNCH_FAILED, "unspecified launch failure"},
  };
  for (const Entry &entry : entries)
    if (entry.result == result && text) {
      *text = entry.text;
      return LLMC_CUDA_SUCCESS;
    }
  return LLMC_CUDA_INVALID_VALUE;
}

using Device = DriverDevice;

template <unsigned slot> void addDeviceCalls(llmc_cuda_driver &table) {
  table.cuInit = [](unsigned int flags) {
    return call(slot, Needs::Nothing, [&](Device &device, uint64_t) {
      device.initialised |= flags == 0;
      return orInvalid(flags == 0);
    });
  };
  table.cuDriverGetVersion = [](int *version) { return give(version, driverVersion); };
  table.cuDeviceGetCount = [](int *count) {
    return call(slot, Needs::Initialised, [&](Device &, uint64_t) { return give(count, 1); });
  };
  table.cuDeviceGet = [](llmc_cuda_device *device, int ordinal) {
    return call(slot, Needs::Initialised, [&](Device &, uint64_t) {
      return ordinal == 0 ? give(device, 0) : llmc_cuda_result(LLMC_CUDA_INVALID_DEVICE);
    });
  };
  table.cuDeviceGetAttribute = [](int *value, int attribute, llmc_cuda_device which) {
    return call(slot, Needs::Initialised, [&](Device &device, uint64_t) {
      return device.attribute(value, attribute, which);
    });
  };
  table.cuDevicePrimaryCtxRetain = [](llmc_cuda_context *context, llmc_cuda_device which) {
    return call(slot, Needs::Initialised, [&](Device &device, uint64_t) -> llmc_cuda_result {
      if (which != 0 || !context)
        return which ? LLMC_CUDA_INVALID_DEVICE : LLMC_CUDA_INVALID_VALUE;
      ++device.contextUsers;
      *context = reinterpret_cast<llmc_cuda_context>(&device);
      return LLMC_CUDA_SUCCESS;
    });
  };
  table.cuDevicePrimaryCtxRelease = [](llmc_cuda_device which) {
    return call(slot, Needs::Initialised, [&](Device &device, uint64_t) -> llmc_cuda_result {
      if (which != 0 || device.contextUsers == 0)
        return which ? LLMC_CUDA_INVALID_DEVICE : LLMC_CUDA_INVALID_CONTEXT;
      --device.contextUsers;
      return LLMC_CUDA_SUCCESS;
    });
  };
  table.cuCtxSetCurrent = [](llmc_cuda_context context) {
    return call(slot, Needs::Initialised,
                [&](Device &device, uint64_t generation) -> llmc_cuda_result {
                  bool ours = context == reinterpret_cast<llmc_cuda_context>(&device) &&
                              device.contextUsers > 0;
                  if (context && !ours)
                    return LLMC_CUDA_INVALID_CONTEXT;
                  currentGeneration[slot] = context ? generation : 0;
                  return LLMC_CUDA_SUCCESS;
                });
  };
}

template <unsigned slot> void addModuleCalls(llmc_cuda_driver &table) {
  table.cuModuleLoadData = [](llmc_cuda_module *module, const void *image) {
    return call(slot, Needs::Context,
                [&](Device &device, uint64_t) { return device.loadModule(module, image); });
  };
  table.cuModuleUnload = [](llmc_cuda_module module) {
    return call(slot, Needs::Context,
                [&](Device &device, uint64_t) { return device.unloadModule(module); });
  };
  table.cuModuleGetFunction = [](llmc_cuda_function *function, llmc_cuda_module module,
                                 const char *name) {
    return call(slot, Needs::Context, [&](Device &device, uint64_t) {
      return device.getFunction(function, module, name);
    });
  };
  table.cuFuncSetAttribute = [](llmc_cuda_function function, int attribute, int value) {
    return call(slot, Needs::Context, [&](Device &device, uint64_t) {
      return device.setFunctionAttribute(function, attribute, value);
    });
  };
}

template <unsigned slot> void addMemoryCalls(llmc_cuda_driver &table) {
  table.cuMemAlloc_v2 = [](llmc_cuda_pointer *address, size_t bytes) {
    return call(slot, Needs::Context,
                [&](Device &device, uint64_t) { return device.allocate(address, bytes); });
  };
  table.cuMemFree_v2 = [](llmc_cuda_pointer address) {
    return call(slot, Needs::Context, [&](Device &device, uint64_t) {
      return orInvalid(address == 0 || device.machine.memory().release(address));
    });
  };
  table.cuMemcpyHtoD_v2 = [](llmc_cuda_pointer to, const void *from, size_t bytes) {
    return call(slot, Needs::Context, [&](Device &device, uint64_t) {
      return orInvalid(bytes == 0 || (from && device.machine.memory().write(to, from, bytes)));
    });
  };
  table.cuMemcpyDtoH_v2 = [](void *to, llmc_cuda_pointer from, size_t bytes) {
    return call(slot, Needs::Context, [&](Device &device, uint64_t) {
      return orInvalid(bytes == 0 || (to && device.machine.memory().read(from, to, bytes)));
    });
  };
  table.cuMemsetD8_v2 = [](llmc_cuda_pointer to, unsigned char value, size_t bytes) {
    return call(slot, Needs::Context, [&](Device &device, uint64_t) {
      return orInvalid(bytes == 0 || device.machine.memory().fill(to, value, bytes));
    });
  };
}

template <unsigned slot> void addLaunchCalls(llmc_cuda_driver &table) {
  table.cuLaunchKernel = [](llmc_cuda_function function, unsigned int gridX, unsigned int gridY,
                            unsigned int gridZ, unsigned int blockX, unsigned int blockY,
                            unsigned int blockZ, unsigned int dynamicSharedBytes,
                            llmc_cuda_stream stream, void **parameters, void **extra) {
    LaunchShape shape{{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, dynamicSharedBytes};
    return call(slot, Needs::Context, [&](Device &device, uint64_t) {
      return device.launch(function, shape, stream, parameters, extra);
    });
  };
  table.cuStreamCreate = [](llmc_cuda_stream *stream, unsigned int) {
    return call(slot, Needs::Context,
                [&](Device &device, uint64_t) { return device.createStream(stream); });
  };
  table.cuStreamSynchronize = [](llmc_cuda_stream stream) {
    return call(slot, Needs::Context, [&](Device &device, uint64_t) -> llmc_cuda_result {
      return device.knowsStream(stream) ? LLMC_CUDA_SUCCESS : LLMC_CUDA_INVALID_HANDLE;
    });
  };
  table.cuStreamDestroy_v2 = [](llmc_cuda_stream stream) {
    return call(slot, Needs::Context, [&](Device &device, uint64_t) -> llmc_cuda_result {
      return device.streams.erase(stream) ? LLMC_CUDA_SUCCESS : LLMC_CUDA_INVALID_HANDLE;
    });
  };
}

template <unsigned slot> llmc_cuda_driver makeTable() {
  llmc_cuda_driver table = {};
  addDeviceCalls<slot>(table);
  addModuleCalls<slot>(table);
  addMemoryCalls<slot>(table);
  addLaunchCalls<slot>(table);
  table.cuGetErrorString = errorString;
  return table;
}

const llmc_cuda_driver *tableOf(unsigned slot) {
  static const llmc_cuda_driver tables[] = {makeTable<0>(), makeTable<1>(), makeTable<2>(),
                                            makeTable<3>()};
  static_assert(sizeof tables / sizeof *tables == DriverBinding::mostBindings, "a table a slot");
  return &tables[slot];
}

} // namespace

DriverBinding::DriverBinding(Machine &machine, DriverOptions options)
    : device(std::make_shared<DriverDevice>(machine, options)) {
  static uint64_t generations = 0; // guarded by the registry's lock
  std::lock_guard<std::mutex> guard(registry().lock);
  for (unsigned candidate = 0; candidate < mostBindings && slot == mostBindings; ++candidate)
    if (!registry().slots[candidate].device)
      slot = candidate;
  if (slot < mostBindings)
    registry().slots[slot] = {device, ++generations};
}

DriverBinding::~DriverBinding() {
  if (slot == mostBindings)
    return;
  std::lock_guard<std::mutex> guard(registry().lock);
  registry().slots[slot].device.reset();
}

const llmc_cuda_driver *DriverBinding::table() const {
  return slot < mostBindings ? tableOf(slot) : nullptr;
}

std::vector<std::string> DriverBinding::messages() const {
  std::lock_guard<std::mutex> guard(device->lock);
  return device->messages;
}

Counters DriverBinding::counters() const {
  std::lock_guard<std::mutex> guard(device->lock);
  return device->counters;
}

uint64_t DriverBinding::launches() const {
  std::lock_guard<std::mutex> guard(device->lock);
  return device->launches;
}

} // namespace llmc::ptx
