// SPDX-License-Identifier: Apache-2.0
// Rotary scaling as GGUF writes it: linear and yarn by keys, Llama 3's by a tensor of divisors.
#include "frontends/gguf/Config.h"
#include "frontends/safetensors/Convert.h"
#include "frontends/safetensors/Header.h"

#include <algorithm>
#include <cmath>

namespace llmc::gguf {

using model::RopeKind;

namespace {

class RopeReader {
public:
  RopeReader(const Container &container, const RawConfig &raw, model::RopeConfig &rope)
      : container(container), raw(raw), rope(rope) {}
  Status read();

private:
  std::string key(const char *suffix) const { return raw.architecture + ".rope." + suffix; }
  Result<double> factor() const;
  Status readYarn();
  Status checkYarnKeysAbsent() const;
  Status readDivisors();

  const Container &container;
  const RawConfig &raw;
  model::RopeConfig &rope;
};

// 1: none. An old key and the new one may both be there when they agree; 0 stands for absent.
Result<double> RopeReader::factor() const {
  double linear = raw.ropeScaleLinear.value_or(0), given = raw.ropeFactor.value_or(0);
  if (linear != 0 && given != 0 && linear != given)
    return container
        .errorAtKey(key("scale_linear"), "found " + std::to_string(linear) +
                                             ", expected the same as rope.scaling.factor (" +
                                             std::to_string(given) + ")")
        .withNote(
            container.noteAtKey(key("scaling.factor"), std::to_string(given) + " comes from here"));
  return given != 0 ? given : linear != 0 ? linear : 1.0;
}

Status RopeReader::checkYarnKeysAbsent() const {
  struct Row {
    bool present;
    const char *key;
  };
  const Row rows[] = {
      {raw.yarnBetaFast.has_value(), "scaling.yarn_beta_fast"},
      {raw.yarnBetaSlow.has_value(), "scaling.yarn_beta_slow"},
      {raw.yarnLogMultiplier.value_or(0) != 0, "scaling.yarn_log_multiplier"},
      {raw.ropeAttentionFactor.value_or(1) != 1, "scaling.attn_factor"},
  };
  for (const Row &row : rows)
    if (row.present)
      return container.errorAtKey(key(row.key), "found a key of yarn, expected "
                                                "rope.scaling.type to be \"yarn\" beside it");
  return {};
}

// The magnitude is 1 + 0.1 ln(factor), parted by 1 + 0.1 multiplier ln(factor) where a multiplier
// is given, times attn_factor.
Status RopeReader::readYarn() {
  rope.originalMaxPositions = raw.originalContextLength.value_or(raw.contextLength.value_or(0));
  rope.betaFast = raw.yarnBetaFast.value_or(rope.betaFast);
  rope.betaSlow = raw.yarnBetaSlow.value_or(rope.betaSlow);
  double multiplier = raw.yarnLogMultiplier.value_or(0);
  if (multiplier != 0) {
    rope.mscale = 1;
    rope.mscaleAllDim = multiplier;
  }
  double extra = raw.ropeAttentionFactor.value_or(1);
  if (extra != 1) {
    double stretch = rope.factor > 1 ? 0.1 * std::log(rope.factor) : 0;
    rope.attentionFactor = extra * (1 + stretch) / (1 + multiplier * stretch);
  }
  return {};
}

Status RopeReader::readDivisors() {
  const StoredTensor *tensor = container.findTensor(ropeDivisorsName);
  if (!tensor || raw.architecture != "llama") // elsewhere the tensor is one that nothing reads
    return {};
  std::vector<int64_t> shape = {rope.rotaryDims / 2};
  if (tensor->shape != shape || tensor->type->element != model::ElementType::F32)
    return container.errorAtTensor(tensor->name,
                                   "found " + std::string(tensor->type->name) + " of shape " +
                                       safetensors::shapeText(tensor->shape) +
                                       ", expected F32 of shape " + safetensors::shapeText(shape));
  if (rope.kind == RopeKind::Yarn)
    return container.errorAtTensor(tensor->name, "found divisors of rotary frequencies beside "
                                                 "yarn, expected one of both");
  std::vector<unsigned char> bytes(tensor->bytes);
  if (Status status = container.handle()->read(tensor->begin, bytes.data(), bytes.size()); !status)
    return status;
  std::vector<float> divisors(static_cast<size_t>(shape[0]));
  safetensors::convertToF32(bytes.data(), model::ElementType::F32, divisors.size(),
                            divisors.data());
  for (float divisor : divisors)
    rope.frequencyDivisors.push_back(shortestDecimal(divisor));
  for (size_t i = 0; i < rope.frequencyDivisors.size(); ++i)
    if (double divisor = rope.frequencyDivisors[i]; !(divisor >= 1e-30 && divisor <= 1e30))
      return container.errorAtTensor(tensor->name, "found " + std::to_string(divisor) +
                                                       " at index " + std::to_string(i) +
                                                       ", expected a number from 1e-30 to 1e30");
  return {};
}

Status RopeReader::read() {
  rope.theta = raw.ropeBase.value_or(10000.0);
  std::string type = raw.ropeType.value_or("linear");
  if (type != "none" && type != "linear" && type != "yarn")
    return container.errorAtKey(key("scaling.type"), "found \"" + escaped(type, 80) +
                                                         "\", expected \"none\", \"linear\" or "
                                                         "\"yarn\"");
  Result<double> stretch = factor();
  if (!stretch)
    return stretch.takeError();
  if (type != "none" && *stretch != 1) {
    rope.kind = type == "yarn" ? RopeKind::Yarn : RopeKind::Linear;
    rope.factor = *stretch;
  }
  if (Status status = type == "yarn" ? Status() : checkYarnKeysAbsent(); !status)
    return status;
  if (rope.kind == RopeKind::Yarn)
    if (Status status = readYarn(); !status)
      return status;
  return readDivisors();
}

} // namespace

Status deriveRope(const Container &container, const RawConfig &raw, model::RopeConfig &rope) {
  return RopeReader(container, raw, rope).read();
}

} // namespace llmc::gguf
