// SPDX-License-Identifier: Apache-2.0
//
// The table of levels, and what "native" means here.
#include "passes/codegen/cpu/CpuLevel.h"
#include "llmc/abi.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace llmc::cpu;

namespace {
struct Feature {
  const char *llvmName;
  uint64_t bit;
};
constexpr Feature kFeatures[] = {{"avx2", LLMC_CPU_AVX2},
                                 {"fma", LLMC_CPU_FMA},
                                 {"f16c", LLMC_CPU_F16C},
                                 {"bmi2", LLMC_CPU_BMI2},
                                 {"avx512f", LLMC_CPU_AVX512F},
                                 {"avx512bw", LLMC_CPU_AVX512BW},
                                 {"avx512dq", LLMC_CPU_AVX512DQ},
                                 {"avx512vl", LLMC_CPU_AVX512VL},
                                 {"avx512cd", LLMC_CPU_AVX512CD},
                                 {"avx512vnni", LLMC_CPU_AVX512VNNI},
                                 {"avx512bf16", LLMC_CPU_AVX512BF16}};

constexpr uint64_t kV3 = LLMC_CPU_AVX2 | LLMC_CPU_FMA | LLMC_CPU_F16C | LLMC_CPU_BMI2;
constexpr uint64_t kV4 = kV3 | LLMC_CPU_AVX512F | LLMC_CPU_AVX512BW | LLMC_CPU_AVX512DQ |
                         LLMC_CPU_AVX512VL | LLMC_CPU_AVX512CD;

struct Named {
  const char *name;
  const char *tuneFor;
  uint64_t features;
};
constexpr Named kLevels[] = {
    {"x86-64-v3", "znver3", kV3},
    {"x86-64-v4", "znver4", kV4},
    {"x86-64-v4+vnni+bf16", "znver4", kV4 | LLMC_CPU_AVX512VNNI | LLMC_CPU_AVX512BF16}};
} // namespace

/// Measured: a Xeon reads four panels side by side 20 % faster than one after the other, a Zen 4 40 %
/// slower (README.md). Where the machine is not known, what loses less.
static unsigned streamsOf(llvm::StringRef processor) {
  return processor.starts_with("znver") ? 1 : 4;
}

static CpuLevel makeLevel(llvm::StringRef name, llvm::StringRef tuneFor, uint64_t features) {
  CpuLevel level;
  level.name = name.str();
  level.tuneFor = tuneFor.str();
  level.features = features;
  level.streams = streamsOf(tuneFor);
  for (const Feature &feature : kFeatures) {
    if (!(features & feature.bit))
      continue;
    if (!level.llvmFeatures.empty())
      level.llvmFeatures += ',';
    level.llvmFeatures += '+';
    level.llvmFeatures += feature.llvmName;
  }
  if ((features & kV4) == kV4) {
    level.vectorBytes = 64;
    level.vectorRegisters = 32;
  }
  return level;
}

bool CpuLevel::hasByteDot() const { return vectorBytes == 64 && (features & LLMC_CPU_AVX512VNNI); }

/// What of the features above this machine has. Without the whole of AVX-512's base, none of
/// AVX-512 is used.
static uint64_t hostFeatures() {
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  uint64_t features = 0;
  for (const Feature &feature : kFeatures)
    if (host.lookup(feature.llvmName))
      features |= feature.bit;
  return (features & kV4) == kV4 ? features : features & kV3;
}

std::vector<llvm::StringRef> llmc::cpu::cpuLevelNames() {
  std::vector<llvm::StringRef> names;
  for (const Named &level : kLevels)
    names.push_back(level.name);
  names.push_back("native");
  return names;
}

std::optional<CpuLevel> llmc::cpu::parseCpuLevel(llvm::StringRef name, std::string &error) {
  for (const Named &level : kLevels)
    if (name == level.name)
      return makeLevel(level.name, level.tuneFor, level.features);
  if (name != "native") {
    error = "unknown CPU level '" + name.str() + "', expected " + llvm::join(cpuLevelNames(), ", ");
    return std::nullopt;
  }
  uint64_t features = hostFeatures();
  if ((features & kV3) != kV3) {
    error = "this machine (" + llvm::sys::getHostCPUName().str() +
            ") lacks AVX2, FMA, F16C or BMI2, expected a level for another machine: " +
            llvm::join(cpuLevelNames(), ", ");
    return std::nullopt;
  }
  return makeLevel("native", llvm::sys::getHostCPUName(), features);
}
