// SPDX-License-Identifier: Apache-2.0
// The keys of a Hugging Face config.json that llmc knows, per family, as one table. A key that is
// not in it is an error, because it might change the model's results.
#pragma once

#include "frontends/json/KeyTable.h"

namespace llmc::huggingface {

enum Family : unsigned { Llama = 1, Mistral = 2, Qwen2 = 4, Qwen3 = 8 };
inline constexpr unsigned allFamilies = Llama | Mistral | Qwen2 | Qwen3;

// What the file says, before anything is derived from it.
struct RawConfig {
  std::string modelType;
  int64_t vocabSize = 0, hiddenSize = 0, intermediateSize = 0, numLayers = 0, numHeads = 0;
  std::optional<int64_t> numKVHeads, headDim, maxPositions, slidingWindow, maxWindowLayers,
      originalMaxPositions;
  std::optional<double> normEpsilon, ropeTheta;
  std::optional<bool> attentionBias, mlpBias, tieWordEmbeddings, useSlidingWindow;
  std::string activation = "silu";
  const json::Value *ropeScaling = nullptr;
  const json::Value *ropeParameters = nullptr;
  const json::Value *layerTypes = nullptr;
  const json::Value *bosTokenId = nullptr;
  const json::Value *eosTokenId = nullptr;
};

// `rope_scaling` (transformers 4) or `rope_parameters` (5); both spell the same keys.
struct RawRope {
  std::optional<std::string> type, oldType;
  std::optional<double> theta, factor, lowFreqFactor, highFreqFactor, betaFast, betaSlow,
      attentionFactor, mscale, mscaleAllDim;
  std::optional<int64_t> originalMaxPositions;
  std::optional<bool> truncate;
};

// Groups of the rope table: one bit for each kind.
unsigned ropeGroup(int kind);

const json::Table<RawConfig> &configKeys();
const json::Table<RawRope> &ropeKeys();

// 0 when llmc does not know the family.
unsigned familyOf(std::string_view modelType);

} // namespace llmc::huggingface
