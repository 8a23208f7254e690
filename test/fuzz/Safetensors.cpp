// SPDX-License-Identifier: Apache-2.0
// Any bytes as one safetensors file, bound to a config that its tensors may fit. The first byte
// says how many zeros follow the rest.
#include "Checks.h"
#include "MemoryFile.h"
#include "frontends/huggingface/OpenFolder.h"
#include "frontends/safetensors/SafetensorsSource.h"
#include "test/fuzz/TinyConfig.h"

using namespace llmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  size_t extra = data[0] % 2 == 0 ? 0 : fuzz::tinyDataBytes;
  fuzz::MemoryFile file(data + 1, size - 1, extra);
  Result<safetensors::Checkpoint> checkpoint = safetensors::Checkpoint::open(file.path());
  if (!checkpoint) {
    fuzz::checkError(checkpoint.error());
    return 0;
  }
  for (const auto &[name, entry] : checkpoint->entries())
    fuzz::require(entry.tensor.begin <= entry.tensor.end && entry.tensor.end <= entry.file->size);
  model::ModelConfig config = fuzz::tinyConfig();
  safetensors::BindOptions options;
  options.nameOf = huggingface::storedName;
  Result<std::unique_ptr<model::WeightSource>> weights =
      safetensors::bindWeights(std::move(*checkpoint), config, options);
  if (weights)
    fuzz::checkWeights(config, **weights);
  else
    fuzz::checkError(weights.error());
  return 0;
}
