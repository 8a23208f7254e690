// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/bench/BenchOptions.h"
#include "tools/llmc/Format.h"
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sched.h>
#include <unistd.h>

namespace llmc::tool {

uint32_t processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (!sched_getaffinity(0, sizeof allowed, &allowed))
    return static_cast<uint32_t>(CPU_COUNT(&allowed));
  return static_cast<uint32_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
}

// Lines of /proc/self/maps are "begin-end rights offset device inode path".
std::string kindOfMemory(const void *memory) {
  const auto address = reinterpret_cast<unsigned long long>(memory);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0, inode = 0;
    if (sscanf(line.c_str(), "%llx-%llx %*s %*s %*s %llu", &begin, &end, &inode) == 3 &&
        address >= begin && address < end)
      return inode ? "mapped file" : "anonymous memory";
  }
  return "no memory";
}

std::vector<uint32_t> threadsOf(const BenchOptions &options) {
  return options.threads.empty() ? std::vector<uint32_t>{processors()} : options.threads;
}

Status checkThreads(const BenchOptions &options) {
  for (const uint32_t threads : options.threads)
    if (threads > processors())
      return errorAt("--threads", "",
                     formatted("found %u, expected 1 to %u, the processors that this program may "
                               "use: more threads would measure how they wait for each other",
                               threads, processors()));
  return {};
}

static Status checkSizes(const BenchOptions &options, const llmc_model_info &info) {
  for (const uint32_t length : options.promptLengths)
    if (length > info.max_positions)
      return errorAt("--prompt-len", "",
                     formatted("found %u, expected at most %u tokens; compile with a larger "
                               "--max-seq for more",
                               length, info.max_positions));
  for (const uint32_t batch : options.batches)
    if (batch > info.max_sequences)
      return errorAt("--batch", "",
                     formatted("found %u, expected 1 to %u; compile with a larger --max-batch for "
                               "more",
                               batch, info.max_sequences));
  for (const uint32_t depth : options.depths) {
    const uint64_t length = uint64_t(depth) + options.generated;
    if (length > info.max_positions)
      return errorAt(depth ? "--depth" : "--gen", "",
                     formatted("found %u tokens and %u new ones, expected at most %u in all; "
                               "compile with a larger --max-seq for more",
                               depth, options.generated, info.max_positions));
    for (const uint32_t batch : options.batches)
      if (length * batch > INT32_MAX)
        return errorAt("--batch", "",
                       formatted("found %u sequences of %llu tokens, expected at most %d tokens in "
                                 "all",
                                 batch, static_cast<unsigned long long>(length), INT32_MAX));
  }
  return {};
}

Status fitSizes(BenchOptions &options, const llmc_model_info &info) {
  if (options.fitsPrompts)
    for (uint32_t &length : options.promptLengths)
      length = std::min(length, info.max_positions);
  const uint32_t depth = *std::max_element(options.depths.begin(), options.depths.end());
  if (options.fitsGenerated && depth < info.max_positions)
    options.generated = std::min(options.generated, info.max_positions - depth);
  return checkSizes(options, info);
}

} // namespace llmc::tool
