// SPDX-License-Identifier: Apache-2.0
// Weights out of a counter: value i of a tensor depends on the seed, the tensor's name and i alone.
// Only integer arithmetic and one multiplication make a value, so it is the same bits on every
// machine.
#include "dialects/model/WeightSource.h"

#include <cmath>

namespace llmc::model {
namespace {

uint64_t randomBits(uint64_t key, uint64_t counter) {
  uint64_t value = key + counter * 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

// Close to normal, mean 0, deviation 1: the sum of four uniform 16-bit parts, whose deviation is
// sqrt(1/3) * 65536.
float nearlyNormal(uint64_t bits) {
  int64_t sum = 0;
  for (int part = 0; part < 4; ++part)
    sum += static_cast<int64_t>(bits >> (16 * part) & 0xFFFF);
  constexpr float inverseDeviation = 1.7320508f / 65536.0f;
  return static_cast<float>(sum - 2 * 0xFFFF) * inverseDeviation;
}

bool endsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

struct Distribution {
  float mean;
  float deviation;
};

// Rows of width n and deviation s/sqrt(n) give outputs of deviation s for inputs of mean square 1,
// which is what a norm hands on. The head gets s = 2, so logits deviate by about 2.
Distribution distributionOf(const TensorInfo &info) {
  float perColumn = 1.0f / std::sqrt(static_cast<float>(info.columns()));
  if (endsWith(info.name, "norm"))
    return {1.0f, 0.2f};
  if (endsWith(info.name, "_bias"))
    return {0.0f, 0.2f};
  if (info.name == "embed" || info.name == "lm_head")
    return {0.0f, 2.0f * perColumn}; // of a tied model, embed is the head too
  return {0.0f, perColumn};
}

} // namespace

RandomWeightSource::RandomWeightSource(const ModelConfig &config, uint64_t seed) : seed(seed) {
  for (WeightSpec &spec : canonicalWeights(config)) {
    std::string place = "random weights: tensor '" + spec.name + "'";
    tensors.emplace(spec.name, TensorInfo{spec.name, std::move(spec.shape), ElementType::F32,
                                          std::move(place)});
  }
}

const TensorInfo *RandomWeightSource::find(std::string_view name) const {
  auto found = tensors.find(std::string(name));
  return found == tensors.end() ? nullptr : &found->second;
}

Status RandomWeightSource::readRows(std::string_view name, int64_t firstRow, int64_t numRows,
                                    float *out) const {
  const TensorInfo *info = find(name);
  if (!info)
    return errorAt("random weights", "",
                   "found no tensor '" + escaped(name) + "', expected one of the model's weights");
  if (Status status = checkRows(*info, firstRow, numRows); !status)
    return status;
  Distribution distribution = distributionOf(*info);
  uint64_t key = hashBytes(name.data(), name.size(), seed);
  uint64_t first = static_cast<uint64_t>(firstRow * info->columns());
  uint64_t count = static_cast<uint64_t>(numRows * info->columns());
  for (uint64_t i = 0; i < count; ++i)
    out[i] = distribution.mean + distribution.deviation * nearlyNormal(randomBits(key, first + i));
  return {};
}

} // namespace llmc::model
