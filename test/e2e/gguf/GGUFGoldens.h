// SPDX-License-Identifier: Apache-2.0
//
// What llama.cpp and transformers made of the GGUF models of tools/goldens/gguf_configs.py, and the
// bounds under which llmc agrees with them.
#pragma once

#include "test/e2e/Goldens.h"

namespace llmc::test {

struct GGUFGolden {
  std::string name;
  std::string type; ///< of the linears: "F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1"
  std::vector<int32_t> prompt;
  int64_t vocabulary = 0;
  std::vector<float> transformers; ///< [positions, vocabulary], on the dequantised weights
  std::vector<float> llamaCpp;     ///< the same on the file; empty for what llama.cpp cannot say

  bool isFloat() const { return type == "F32" || type == "F16" || type == "BF16"; }
};

/// Of all types but F32: llama.cpp rounds activations to the type that a product is made in.
inline constexpr double nmseBound = 5e-3;

std::vector<std::string> ggufNames();
Result<GGUFGolden> readGGUFGolden(const std::string &name);
/// The file, and the same weights as a Hugging Face folder in float32.
std::string ggufFile(const std::string &name);
std::string ggufFolder(const std::string &name);

/// The largest difference of any two logits; infinite when one is no number.
float largestDifference(const std::vector<float> &found, const std::vector<float> &expected);
/// Sum of squared differences over the sum of squares of `expected`.
double nmse(const std::vector<float> &found, const std::vector<float> &expected);

} // namespace llmc::test
