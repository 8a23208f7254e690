// SPDX-License-Identifier: Apache-2.0
// Loading, launch checks, and the loop over blocks and warps.
#include "tools/ptx-interpreter/Machine.h"

#include "tools/ptx-interpreter/Parser.h"
#include "tools/ptx-interpreter/Warp.h"

#include <algorithm>

namespace llmc::ptx {

LoadedModule *Machine::load(std::string_view text, const std::string &fileName,
                            std::string &error) {
  std::optional<Module> module = parseModule(text, fileName, error);
  if (!module)
    return nullptr;
  auto loaded = std::make_unique<LoadedModule>();
  loaded->module = std::move(*module);
  const std::vector<uint8_t> &globals = loaded->module.globals;
  if (!globals.empty()) {
    loaded->globals = global.allocate(globals.size());
    if (loaded->globals == 0) {
      error = fileName + ": error: no device memory for " + std::to_string(globals.size()) +
              " bytes of module variables";
      return nullptr;
    }
    global.write(loaded->globals, globals.data(), globals.size());
  }
  modules.push_back(std::move(loaded));
  return modules.back().get();
}

bool Machine::unload(LoadedModule *module) {
  auto found = std::find_if(modules.begin(), modules.end(),
                            [&](const auto &entry) { return entry.get() == module; });
  if (found == modules.end())
    return false;
  if (module->globals)
    global.release(module->globals);
  modules.erase(found);
  return true;
}

namespace {

uint64_t product(const uint32_t (&extents)[3]) {
  return uint64_t(extents[0]) * extents[1] * extents[2];
}

std::string triple(const uint32_t (&extents)[3]) {
  return std::to_string(extents[0]) + "," + std::to_string(extents[1]) + "," +
         std::to_string(extents[2]);
}

/// Why a launch is refused; empty when it is fine.
std::string launchError(const Kernel &kernel, const LaunchShape &shape, size_t parameterBytes) {
  uint64_t threads = shape.block[0] > limits::threadsPerBlock ||
                             shape.block[1] > limits::threadsPerBlock ||
                             shape.block[2] > limits::threadsPerBlock
                         ? UINT64_MAX
                         : product(shape.block);
  if (threads == 0 || threads > limits::threadsPerBlock)
    return "block " + triple(shape.block) + ", expected 1 to " +
           std::to_string(limits::threadsPerBlock) + " threads";
  if (threads > kernel.maximumThreads)
    return "block " + triple(shape.block) + ", expected at most the kernel's .maxntid of " +
           std::to_string(kernel.maximumThreads) + " threads";
  if (kernel.requiredThreads[0] &&
      !std::equal(shape.block, shape.block + 3, kernel.requiredThreads))
    return "block " + triple(shape.block) + ", expected the kernel's .reqntid " +
           triple(kernel.requiredThreads);
  if (shape.grid[0] == 0 || shape.grid[1] == 0 || shape.grid[2] == 0 || shape.grid[0] > INT32_MAX ||
      shape.grid[1] > 65535 || shape.grid[2] > 65535)
    return "grid " + triple(shape.grid) + ", expected 1 to 2147483647,65535,65535 blocks";
  uint64_t shared = uint64_t(kernel.dynamicOffset) + shape.dynamicSharedBytes;
  if (shared > limits::sharedBytes)
    return "shared memory of " + std::to_string(shared) + " bytes, expected at most " +
           std::to_string(limits::sharedBytes);
  if (parameterBytes != kernel.parameterBytes)
    return "parameters of " + std::to_string(parameterBytes) + " bytes, expected " +
           std::to_string(kernel.parameterBytes);
  return "";
}

/// One block to its end; false when a finding ended the launch.
bool runBlock(LaunchState &state, std::vector<Warp> &warps, uint32_t sharedBytes) {
  state.shared.reset(sharedBytes);
  for (Warp &warp : warps)
    warp.reset();
  for (;;) {
    std::vector<Warp *> waiting;
    for (Warp &warp : warps) {
      if (warp.isDone())
        continue;
      Warp::Stop stop = warp.run();
      if (stop == Warp::Stop::Failed)
        return false;
      if (stop == Warp::Stop::Barrier)
        waiting.push_back(&warp);
    }
    if (waiting.empty())
      return true;
    for (Warp *warp : waiting)
      if (warp->barrierIdentifier() != waiting.front()->barrierIdentifier()) {
        warp->reportBarrierMismatch("warps wait at barriers " +
                                    std::to_string(waiting.front()->barrierIdentifier()) + " and " +
                                    std::to_string(warp->barrierIdentifier()) + ", none can go on");
        return false;
      }
    state.shared.barrier();
    ++state.counters.barriers;
  }
}

bool runGrid(LaunchState &state, const LaunchShape &shape, uint32_t sharedBytes) {
  uint32_t threads = uint32_t(product(shape.block));
  std::vector<Warp> warps;
  for (uint32_t first = 0; first < threads; first += Warp::width)
    warps.emplace_back(state, first / Warp::width,
                       std::min(threads - first, uint32_t(Warp::width)));
  for (uint32_t z = 0; z < shape.grid[2]; ++z)
    for (uint32_t y = 0; y < shape.grid[1]; ++y)
      for (uint32_t x = 0; x < shape.grid[0]; ++x) {
        state.blockIndex[0] = x;
        state.blockIndex[1] = y;
        state.blockIndex[2] = z;
        if (!runBlock(state, warps, sharedBytes))
          return false;
        ++state.linearBlock;
      }
  return true;
}

} // namespace

LaunchResult Machine::launch(const LoadedModule &module, const Kernel &kernel,
                             const LaunchShape &shape, const std::vector<uint8_t> &parameters) {
  LaunchResult result;
  result.error = launchError(kernel, shape, parameters.size());
  if (!result.error.empty()) {
    result.refused = true;
    result.error =
        module.module.fileName + ": error: launch of kernel '" + kernel.name + "': " + result.error;
    return result;
  }
  ReportLog log;
  LaunchState state(kernel, global, log, parameters);
  state.moduleGlobals = module.globals;
  std::copy(shape.grid, shape.grid + 3, state.gridSize);
  std::copy(shape.block, shape.block + 3, state.blockSize);
  state.budgetLeft = options.instructionBudget;
  global.beginLaunch(product(shape.grid));
  // The gap before dynamic memory belongs to nobody unless there is some.
  uint32_t sharedBytes = shape.dynamicSharedBytes ? kernel.dynamicOffset + shape.dynamicSharedBytes
                                                  : kernel.sharedBytes;
  result.completed = runGrid(state, shape, sharedBytes);
  result.counters = state.counters;
  result.reports = log.reports();
  result.droppedReports = log.dropped();
  if (!result.reports.empty())
    result.error = describe(result.completed ? result.reports.front() : result.reports.back(),
                            module.module.fileName);
  return result;
}

bool packParameters(const Kernel &kernel, const std::vector<uint64_t> &values,
                    std::vector<uint8_t> &bytes, std::string &error) {
  if (values.size() != kernel.parameters.size()) {
    error = "kernel '" + kernel.name + "' got " + std::to_string(values.size()) +
            " arguments, expected " + std::to_string(kernel.parameters.size());
    return false;
  }
  bytes.assign(kernel.parameterBytes, 0);
  for (size_t index = 0; index < values.size(); ++index) {
    const Parameter &parameter = kernel.parameters[index];
    std::memcpy(&bytes[parameter.offset], &values[index], std::min<size_t>(parameter.size, 8));
  }
  return true;
}

} // namespace llmc::ptx
