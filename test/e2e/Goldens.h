// SPDX-License-Identifier: Apache-2.0
//
// What Hugging Face transformers made of the golden models: test/e2e/goldens/NAME.json and
// NAME.npy, written by tools/goldens/make_goldens.py.
#pragma once

#include "dialects/model/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::test {

struct Golden {
  std::string name;
  std::vector<int32_t> prompt;
  std::vector<int32_t> greedy; ///< the tokens that follow, end-of-sequence ids ignored
  int64_t positions = 0;
  int64_t vocabulary = 0;
  std::vector<float> logits; ///< [positions, vocabulary], of the prompt
};

/// The bound of every comparison of logits with transformers; acceptance 2 of the thin road. Both
/// sides compute in fp32 and the library's own noise is below a tenth of it (float32_noise in each
/// NAME.json).
inline constexpr float logitsBound = 1e-3f;

/// All names, sorted. Empty when there are no goldens.
std::vector<std::string> goldenNames();
Result<Golden> readGolden(const std::string &name);
/// Reads `file`, a NumPy file of [positions, vocabulary], into the last three fields.
Status readLogits(const std::string &file, Golden &golden);
/// The folder of the model that `name` was made of.
std::string goldenModel(const std::string &name);

} // namespace llmc::test
