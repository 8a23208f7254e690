// SPDX-License-Identifier: Apache-2.0
// What must hold of a config before a module can be built from it. Every number is bounded before
// it is multiplied, so no product overflows whatever a file asked for.
#include "dialects/model/ModelConfig.h"

#include <cmath>
#include <cstdio>

namespace llmc::model {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

class Checker {
public:
  explicit Checker(const ModelConfig &config) : config(config) {}

  std::vector<ConfigProblem> run();

private:
  void problem(std::string place, std::string text, std::string otherPlace = {},
               std::string otherText = {}) {
    // A file with a wrong key in each of thousands of layers is told about the first ones.
    if (problems.size() < 16)
      problems.push_back(
          {std::move(place), std::move(text), std::move(otherPlace), std::move(otherText)});
  }
  bool inRange(const std::string &place, int64_t value, int64_t low, int64_t high) {
    if (value >= low && value <= high)
      return true;
    problem(place, "found " + std::to_string(value) + ", expected " + std::to_string(low) + " to " +
                       std::to_string(high));
    return false;
  }
  bool positive(const std::string &place, double value) {
    // Everything ends up in fp32, where a value that is not normal would turn into zero or
    // infinity.
    if (std::isfinite(value) && value >= 1e-30 && value <= 1e30)
      return true;
    problem(place, "found " + number(value) + ", expected a number from 1e-30 to 1e30");
    return false;
  }

  void checkLayer(size_t index);
  void checkHeads(const std::string &place, const LayerConfig &layer);
  void checkRope();
  void checkRopeScaling();
  void checkYarn();
  void checkFrequencyDivisors();
  void checkIds(const char *place, const std::vector<int32_t> &ids);
  void checkTotal();

  const ModelConfig &config;
  std::vector<ConfigProblem> problems;
};

void Checker::checkHeads(const std::string &place, const LayerConfig &layer) {
  bool heads = inRange(place + "num_heads", layer.numHeads, 1, maxWidth);
  bool keyHeads = inRange(place + "num_kv_heads", layer.numKVHeads, 1, maxWidth);
  bool width = inRange(place + "head_dim", layer.headDim, 1, maxWidth);
  if (heads && keyHeads && layer.numHeads % layer.numKVHeads != 0)
    problem(place + "num_heads",
            "found " + std::to_string(layer.numHeads) +
                " query heads, expected a multiple of the " + std::to_string(layer.numKVHeads) +
                " key/value heads",
            place + "num_kv_heads",
            std::to_string(layer.numKVHeads) + " key/value heads come from here");
  if (heads && width && layer.numHeads * layer.headDim > maxWidth)
    problem(place + "num_heads", "found " + std::to_string(layer.numHeads) + " heads of " +
                                     std::to_string(layer.headDim) +
                                     ", expected a product of at most " + std::to_string(maxWidth));
}

void Checker::checkLayer(size_t index) {
  const LayerConfig &layer = config.layers[index];
  std::string place = "/layers/" + std::to_string(index) + "/";
  checkHeads(place, layer);
  inRange(place + "sliding_window", layer.slidingWindow, 0, maxPositionCount);
  positive(place + "attention_scale", layer.attentionScale);
  if (layer.qkNorm)
    positive(place + "qk_norm_epsilon", layer.qkNormEpsilon);
  if (layer.useRope && layer.headDim >= 1 && config.rope.rotaryDims > layer.headDim)
    problem("/rope/rotary_dims",
            "found " + std::to_string(config.rope.rotaryDims) + ", expected at most head_dim (" +
                std::to_string(layer.headDim) + ")",
            place + "head_dim", std::to_string(layer.headDim) + " comes from here");
}

void Checker::checkRope() {
  const RopeConfig &rope = config.rope;
  if (rope.rotaryDims < 2 || rope.rotaryDims > maxWidth || rope.rotaryDims % 2 != 0)
    problem("/rope/rotary_dims", "found " + std::to_string(rope.rotaryDims) +
                                     ", expected an even number from 2 to " +
                                     std::to_string(maxWidth));
  if (positive("/rope/theta", rope.theta) && rope.kind == RopeKind::Yarn && rope.theta <= 1)
    problem("/rope/theta", "found " + number(rope.theta) + ", expected more than 1 for yarn");
  if (rope.kind != RopeKind::Default)
    checkRopeScaling();
  if (!rope.frequencyDivisors.empty())
    checkFrequencyDivisors();
}

void Checker::checkFrequencyDivisors() {
  const RopeConfig &rope = config.rope;
  std::string place = "/rope/frequency_divisors";
  size_t count = rope.frequencyDivisors.size();
  if (rope.kind != RopeKind::Default && rope.kind != RopeKind::Linear)
    problem(place, std::string("found divisors beside ") + name(rope.kind) +
                       ", expected default or linear");
  if (static_cast<int64_t>(count) != rope.rotaryDims / 2)
    problem(place,
            "found " + std::to_string(count) + " divisors, expected one for each pair of " +
                std::to_string(rope.rotaryDims) + " rotary dimensions");
  for (size_t i = 0; i < count; ++i)
    if (!positive(place + "/" + std::to_string(i), rope.frequencyDivisors[i]))
      return;
}

void Checker::checkRopeScaling() {
  const RopeConfig &rope = config.rope;
  if (positive("/rope/factor", rope.factor) && rope.factor < 1)
    problem("/rope/factor", "found " + number(rope.factor) + ", expected at least 1");
  if (rope.kind != RopeKind::Linear)
    inRange("/rope/original_max_positions", rope.originalMaxPositions, 1, maxPositionCount);
  if (rope.kind == RopeKind::Llama3) {
    bool low = positive("/rope/low_freq_factor", rope.lowFreqFactor);
    bool high = positive("/rope/high_freq_factor", rope.highFreqFactor);
    if (low && high && rope.highFreqFactor <= rope.lowFreqFactor)
      problem("/rope/high_freq_factor",
              "found " + number(rope.highFreqFactor) + ", expected more than low_freq_factor (" +
                  number(rope.lowFreqFactor) + ")",
              "/rope/low_freq_factor", number(rope.lowFreqFactor) + " comes from here");
  }
  if (rope.kind == RopeKind::Yarn)
    checkYarn();
}

void Checker::checkYarn() {
  const RopeConfig &rope = config.rope;
  bool fast = positive("/rope/beta_fast", rope.betaFast);
  bool slow = positive("/rope/beta_slow", rope.betaSlow);
  if (fast && slow && rope.betaFast < rope.betaSlow)
    problem("/rope/beta_fast",
            "found " + number(rope.betaFast) + ", expected at least beta_slow (" +
                number(rope.betaSlow) + ")",
            "/rope/beta_slow", number(rope.betaSlow) + " comes from here");
  if (rope.attentionFactor)
    positive("/rope/attention_factor", *rope.attentionFactor);
  if (rope.mscale != 0)
    positive("/rope/mscale", rope.mscale);
  if (rope.mscaleAllDim != 0)
    positive("/rope/mscale_all_dim", rope.mscaleAllDim);
}

void Checker::checkIds(const char *place, const std::vector<int32_t> &ids) {
  for (int32_t id : ids)
    if (id < 0 || id >= config.vocabSize)
      problem(place,
              "found id " + std::to_string(id) + ", expected 0 to " +
                  std::to_string(config.vocabSize - 1) + " (vocab_size - 1)",
              "/vocab_size", std::to_string(config.vocabSize) + " comes from here");
}

// Only once all single numbers are in range: then no term exceeds 2^50 and no sum of 4096 layers
// 2^63.
void Checker::checkTotal() {
  int64_t hidden = config.hiddenSize;
  int64_t total = 2 * config.vocabSize * hidden;
  for (const LayerConfig &layer : config.layers) {
    int64_t attention = 2 * (layer.numHeads + layer.numKVHeads) * layer.headDim * hidden;
    total += attention + 3 * config.intermediateSize * hidden;
    if (total > maxElements) {
      problem("/hidden_size", "found sizes that need more than " + std::to_string(maxElements) +
                                  " weights, expected fewer");
      return;
    }
  }
}

std::vector<ConfigProblem> Checker::run() {
  inRange("/hidden_size", config.hiddenSize, 1, maxWidth);
  inRange("/intermediate_size", config.intermediateSize, 1, maxWidth);
  inRange("/max_positions", config.maxPositions, 1, maxPositionCount);
  if (inRange("/vocab_size", config.vocabSize, 1, maxVocab)) {
    checkIds("/bos_ids", config.bosIds);
    checkIds("/eos_ids", config.eosIds);
  }
  positive("/norm/epsilon", config.norm.epsilon);
  checkRope();
  if (inRange("/layers", config.numLayers(), 1, maxLayers))
    for (size_t i = 0; i < config.layers.size(); ++i)
      checkLayer(i);
  if (problems.empty())
    checkTotal();
  return std::move(problems);
}

} // namespace

std::vector<ConfigProblem> validate(const ModelConfig &config) { return Checker(config).run(); }

} // namespace llmc::model
