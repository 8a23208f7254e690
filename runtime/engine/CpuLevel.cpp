// SPDX-License-Identifier: Apache-2.0
// Which of an artefact's kernel sets this processor can run.
#include "runtime/engine/Error.h"
#include "runtime/engine/Model.h"
#include <cstdio>

namespace llmc {
namespace {

const struct {
  uint64_t bit;
  const char *name;
} kFeatures[] = {
    {LLMC_CPU_AVX2, "avx2"},
    {LLMC_CPU_FMA, "fma"},
    {LLMC_CPU_F16C, "f16c"},
    {LLMC_CPU_BMI2, "bmi2"},
    {LLMC_CPU_AVX512F, "avx512f"},
    {LLMC_CPU_AVX512BW, "avx512bw"},
    {LLMC_CPU_AVX512DQ, "avx512dq"},
    {LLMC_CPU_AVX512VL, "avx512vl"},
    {LLMC_CPU_AVX512CD, "avx512cd"},
    {LLMC_CPU_AVX512VNNI, "avx512vnni"},
    {LLMC_CPU_AVX512BF16, "avx512bf16"},
};

void nameFeatures(uint64_t features, char *text, size_t capacity) {
  size_t used = 0;
  for (const auto &feature : kFeatures) {
    if (!(features & feature.bit) || used >= capacity)
      continue;
    used += static_cast<size_t>(
        snprintf(text + used, capacity - used, "%s%s", used ? ", " : "", feature.name));
    features &= ~feature.bit;
  }
  if (features && used < capacity)
    snprintf(text + used, capacity - used, "%sunknown bits 0x%llx", used ? ", " : "",
             static_cast<unsigned long long>(features));
}

} // namespace

llmc_status chooseLevel(llmc_model &model, const char *file, llmc_error *error) {
  const llmc_artifact &artifact = *model.artifact;
  const uint64_t have = artifact.cpu_features();
  for (uint32_t i = artifact.n_levels; i-- > 0;)
    if (!(artifact.levels[i].features & ~have)) {
      model.level = i;
      return LLMC_OK;
    }
  char missing[256] = "";
  nameFeatures(artifact.levels[0].features & ~have, missing, sizeof missing);
  return fail(error, LLMC_UNSUPPORTED_CPU,
              "%s: level %s: error: found a processor without %s, expected them; compile for this "
              "processor with --target cpu:native",
              file, Escaped(artifact.levels[0].name).text(), missing);
}

} // namespace llmc
