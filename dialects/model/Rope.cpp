// SPDX-License-Identifier: Apache-2.0
// Inverse frequencies of rotary embeddings, step for step in the precision that transformers uses:
// tensors in fp32, scalars in double until they meet a tensor. Powers are taken in double and
// rounded once, which is the nearest value to what an fp32 power gives on any machine.
#include "dialects/model/ModelConfig.h"

#include <algorithm>
#include <cmath>

namespace llmc::model {
namespace {

constexpr double pi = 3.14159265358979323846;

// theta ** (2i / dims), both operands fp32.
std::vector<float> wavelengthsOverTwoPi(const RopeConfig &rope, int64_t dims) {
  std::vector<float> powers(static_cast<size_t>(dims / 2));
  for (size_t i = 0; i < powers.size(); ++i) {
    float exponent = static_cast<float>(2 * i) / static_cast<float>(dims);
    powers[i] = static_cast<float>(std::pow(static_cast<double>(static_cast<float>(rope.theta)),
                                            static_cast<double>(exponent)));
  }
  return powers;
}

std::vector<float> reciprocals(const std::vector<float> &powers) {
  std::vector<float> frequencies(powers.size());
  std::transform(powers.begin(), powers.end(), frequencies.begin(),
                 [](float power) { return 1.0f / power; });
  return frequencies;
}

// Long wavelengths are stretched by `factor`, short ones kept, those between blended.
void scaleLlama3(const RopeConfig &rope, std::vector<float> &frequencies) {
  double context = static_cast<double>(rope.originalMaxPositions);
  float longest = static_cast<float>(context / rope.lowFreqFactor);
  float shortest = static_cast<float>(context / rope.highFreqFactor);
  float factor = static_cast<float>(rope.factor);
  float low = static_cast<float>(rope.lowFreqFactor);
  float span = static_cast<float>(rope.highFreqFactor - rope.lowFreqFactor);
  for (float &frequency : frequencies) {
    float wavelength = static_cast<float>(2 * pi) / frequency;
    if (wavelength > longest) {
      frequency = frequency / factor;
    } else if (!(wavelength < shortest)) {
      float smooth = (static_cast<float>(context) / wavelength - low) / span;
      float stretched = (1.0f - smooth) * frequency / factor;
      float kept = smooth * frequency;
      frequency = stretched + kept;
    }
  }
}

// The dimension whose wavelength makes `rotations` turns within the original context.
double dimensionOfRotations(const RopeConfig &rope, double rotations, int64_t dims) {
  double context = static_cast<double>(rope.originalMaxPositions);
  return static_cast<double>(dims) * std::log(context / (rotations * 2 * pi)) /
         (2 * std::log(rope.theta));
}

std::vector<float> yarnFrequencies(const RopeConfig &rope, int64_t dims) {
  std::vector<float> powers = wavelengthsOverTwoPi(rope, dims);
  double low = dimensionOfRotations(rope, rope.betaFast, dims);
  double high = dimensionOfRotations(rope, rope.betaSlow, dims);
  if (rope.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(dims - 1));
  if (low == high)
    high += 0.001; // a ramp of no width would divide by zero
  std::vector<float> frequencies(powers.size());
  for (size_t i = 0; i < powers.size(); ++i) {
    float ramp = (static_cast<float>(i) - static_cast<float>(low)) / static_cast<float>(high - low);
    float kept = 1.0f - std::clamp(ramp, 0.0f, 1.0f);
    float stretchedPart = 1.0f / (static_cast<float>(rope.factor) * powers[i]) * (1.0f - kept);
    float keptPart = 1.0f / powers[i] * kept;
    frequencies[i] = stretchedPart + keptPart;
  }
  return frequencies;
}

double yarnScale(double factor, double mscale) {
  return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
}

double yarnMagnitude(const RopeConfig &rope) {
  if (rope.attentionFactor)
    return *rope.attentionFactor;
  if (rope.mscale != 0 && rope.mscaleAllDim != 0)
    return yarnScale(rope.factor, rope.mscale) / yarnScale(rope.factor, rope.mscaleAllDim);
  return yarnScale(rope.factor, 1.0);
}

} // namespace

RopeFrequencies ropeFrequencies(const RopeConfig &rope, int64_t headDim) {
  int64_t dims = rope.rotaryDims > 0 ? rope.rotaryDims : headDim;
  if (rope.kind == RopeKind::Yarn)
    return {yarnFrequencies(rope, dims), static_cast<float>(yarnMagnitude(rope))};
  std::vector<float> frequencies = reciprocals(wavelengthsOverTwoPi(rope, dims));
  for (size_t i = 0; i < rope.frequencyDivisors.size() && i < frequencies.size(); ++i)
    frequencies[i] /= static_cast<float>(rope.frequencyDivisors[i]);
  if (rope.kind == RopeKind::Linear)
    for (float &frequency : frequencies)
      frequency /= static_cast<float>(rope.factor);
  if (rope.kind == RopeKind::Llama3)
    scaleLlama3(rope, frequencies);
  // Dynamic: the base only changes beyond positionLimit(), which no session may pass.
  return {std::move(frequencies), 1.0f};
}

} // namespace llmc::model
