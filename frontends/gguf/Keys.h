// SPDX-License-Identifier: Apache-2.0
// The keys of a GGUF file's metadata that llmc knows, as one table. A key that is not in it is an
// error, because it might change the model's results.
#pragma once

#include "frontends/gguf/Container.h"

#include <variant>

namespace llmc::gguf {

// One bit for each general.architecture; Mistral and SmolLM2 come as llama.
enum Architecture : unsigned { Llama = 1, Qwen2 = 2, Qwen3 = 4 };
inline constexpr unsigned allArchitectures = Llama | Qwen2 | Qwen3;

// 0 when llmc does not know the architecture.
unsigned architectureOf(std::string_view name);
std::string knownArchitectures(); // for messages: "llama, qwen2 or qwen3"

// What the file says, before anything is derived from it. Entries are borrowed from the container.
struct RawConfig {
  std::string architecture;
  std::optional<int64_t> vocabSize, contextLength, embeddingLength, blockCount, keyLength,
      valueLength, ropeDimensions, originalContextLength, slidingWindow;
  std::optional<double> normEpsilon, ropeBase, ropeScaleLinear, ropeFactor, ropeAttentionFactor,
      yarnBetaFast, yarnBetaSlow, yarnLogMultiplier;
  std::optional<std::string> ropeType;
  // One number, or a list with one for each layer.
  const KeyValue *feedForwardLength = nullptr, *headCount = nullptr, *headCountKV = nullptr;
  const KeyValue *slidingWindowPattern = nullptr;
  const KeyValue *bosId = nullptr, *eosId = nullptr, *eotId = nullptr, *eomId = nullptr;
};

enum class Need {
  Required,
  Optional,
  Harmless, // known not to change the result; any value
  Fixed,    // only the values listed in `allowed` are understood
};

struct Key {
  using Member =
      std::variant<std::monostate, std::optional<int64_t> RawConfig::*,
                   std::optional<double> RawConfig::*, std::optional<std::string> RawConfig::*,
                   const KeyValue * RawConfig::*>;
  const char *name; // ".x" stands for "ARCHITECTURE.x", "x.*" for all keys that begin with "x."
  Need need;
  Member member;
  const char *about;
  const char *allowed = ""; // Fixed: spellings as Container::describe gives them, parted by '|'
  unsigned architectures = allArchitectures;
};

const std::vector<Key> &knownKeys();

// Reads every key of the container by the table. Fails at a key that is unknown, missing, of the
// wrong type or of a value that llmc does not honour.
Result<RawConfig> readKeys(const Container &container);

} // namespace llmc::gguf
