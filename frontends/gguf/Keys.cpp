// SPDX-License-Identifier: Apache-2.0
// The table, and the walk over a file's keys. Rows are looked for from the top: a row for one key
// stands before the row for its prefix.
#include "frontends/gguf/Keys.h"

#include <algorithm>
#include <cmath>

namespace llmc::gguf {

using Raw = RawConfig;

namespace {

struct ArchitectureName {
  const char *name;
  Architecture bit;
};
constexpr ArchitectureName architectures[] = {{"llama", Llama}, {"qwen2", Qwen2}, {"qwen3", Qwen3}};

constexpr const char *mightChange =
    "expected only keys that llmc knows: it might change the model's results, so it is not ignored";

} // namespace

const std::vector<Key> &knownKeys() {
  static const std::vector<Key> table = {
      // Sizes.
      {".vocab_size", Need::Optional, &Raw::vocabSize, "rows of the embedding"},
      {".context_length", Need::Required, &Raw::contextLength, "positions the model was made for"},
      {".embedding_length", Need::Required, &Raw::embeddingLength, "width of the residual stream"},
      {".block_count", Need::Required, &Raw::blockCount, "number of layers"},
      {".feed_forward_length", Need::Required, &Raw::feedForwardLength, "width of the MLP"},
      {".attention.head_count", Need::Required, &Raw::headCount, "query heads"},
      {".attention.head_count_kv", Need::Optional, &Raw::headCountKV, "key/value heads"},
      {".attention.key_length", Need::Optional, &Raw::keyLength, "width of a head of q and k"},
      {".attention.value_length", Need::Optional, &Raw::valueLength, "width of a head of v"},
      {".attention.layer_norm_rms_epsilon", Need::Required, &Raw::normEpsilon,
       "added to the mean square"},
      {".attention.sliding_window", Need::Optional, &Raw::slidingWindow, "keys a query sees"},
      {".attention.sliding_window_pattern", Need::Optional, &Raw::slidingWindowPattern,
       "which layers have the window"},
      // Rotary embedding.
      {".rope.dimension_count", Need::Optional, &Raw::ropeDimensions, "rotated dimensions"},
      {".rope.freq_base", Need::Optional, &Raw::ropeBase, "base of the rotary frequencies"},
      {".rope.scale_linear", Need::Optional, &Raw::ropeScaleLinear,
       "stretch of positions, as old files write it"},
      {".rope.scaling.type", Need::Optional, &Raw::ropeType, "none, linear or yarn"},
      {".rope.scaling.factor", Need::Optional, &Raw::ropeFactor, "stretch of positions"},
      {".rope.scaling.original_context_length", Need::Optional, &Raw::originalContextLength,
       "context of the first training"},
      {".rope.scaling.attn_factor", Need::Optional, &Raw::ropeAttentionFactor,
       "yarn: on top of its own magnitude"},
      {".rope.scaling.yarn_beta_fast", Need::Optional, &Raw::yarnBetaFast, "yarn"},
      {".rope.scaling.yarn_beta_slow", Need::Optional, &Raw::yarnBetaSlow, "yarn"},
      {".rope.scaling.yarn_log_multiplier", Need::Optional, &Raw::yarnLogMultiplier, "yarn"},
      {".rope.scaling.yarn_ext_factor",
       Need::Fixed,
       {},
       "yarn: how much of the ramp holds",
       "1|-1"},
      {".rope.scaling.yarn_attn_factor", Need::Fixed, {}, "yarn: llama.cpp derives its own", "1"},
      {".rope.scaling.finetuned", Need::Harmless, {}, "bookkeeping"},
      // Things that these architectures can be said to have, and llmc does not.
      {".attention.causal", Need::Fixed, {}, "a query sees earlier keys only", "true"},
      {".expert_count", Need::Fixed, {}, "no mixture of experts yet", "0"},
      {".expert_used_count", Need::Fixed, {}, "no mixture of experts yet", "0"},
      {".nextn_predict_layers", Need::Fixed, {}, "no prediction of several tokens yet", "0"},
      {".pooling_type", Need::Fixed, {}, "logits, not an embedding of the text", "0|-1"},
      {".tensor_data_layout", Need::Harmless, {}, "a note of old converters"},
      // Token ids that the model's config holds.
      {"tokenizer.ggml.bos_token_id", Need::Optional, &Raw::bosId, "starts a text"},
      {"tokenizer.ggml.eos_token_id", Need::Optional, &Raw::eosId, "ends generation"},
      {"tokenizer.ggml.eot_token_id", Need::Optional, &Raw::eotId, "ends a turn"},
      {"tokenizer.ggml.eom_token_id", Need::Optional, &Raw::eomId, "ends a message"},
      // The whole file.
      {"general.architecture", Need::Harmless, {}, "read before the others"},
      {"general.alignment", Need::Harmless, {}, "read with the frame"},
      {"general.type", Need::Fixed, {}, "a model, not an adapter or a projector", "\"model\""},
      {"general.quantization_version", Need::Fixed, {}, "blocks as they are since 2023", "2"},
      {"split.count",
       Need::Fixed,
       {},
       "all in one file; llama-gguf-split --merge makes it one",
       "0|1"},
      {"split.no", Need::Fixed, {}, "all in one file", "0"},
      {"split.*", Need::Harmless, {}, "bookkeeping"},
      {"general.*", Need::Harmless, {}, "names, licences, defaults for sampling"},
      {"tokenizer.*", Need::Harmless, {}, "read by Tokenizer.cpp; no part of the logits"},
      {"quantize.*", Need::Harmless, {}, "how the file was made"},
      {"mradermacher.*", Need::Harmless, {}, "how the file was made"},
  };
  return table;
}

unsigned architectureOf(std::string_view name) {
  for (const ArchitectureName &row : architectures)
    if (name == row.name)
      return row.bit;
  return 0;
}

std::string knownArchitectures() {
  std::string text;
  for (const ArchitectureName &row : architectures)
    text += (text.empty()                          ? ""
             : &row == std::end(architectures) - 1 ? " or "
                                                   : ", ") +
            std::string(row.name);
  return text;
}

namespace {

std::string fullName(const Key &key, const std::string &architecture) {
  return key.name[0] == '.' ? architecture + key.name : key.name;
}

bool matches(const Key &row, std::string_view key, const std::string &architecture) {
  std::string name = fullName(row, architecture);
  if (name.back() != '*')
    return key == name;
  std::string_view prefix = std::string_view(name).substr(0, name.size() - 1);
  return key.substr(0, prefix.size()) == prefix;
}

bool allows(std::string_view allowed, std::string_view spelling) {
  while (true) {
    size_t bar = allowed.find('|');
    if (allowed.substr(0, bar) == spelling)
      return true;
    if (bar == std::string_view::npos)
      return false;
    allowed.remove_prefix(bar + 1);
  }
}

std::string alternatives(std::string_view allowed) {
  std::string text;
  for (char c : allowed)
    text += c == '|' ? std::string(" or ") : std::string(1, c);
  return text;
}

class KeyReader {
public:
  explicit KeyReader(const Container &container) : container(container) {}
  Result<RawConfig> read();

private:
  Error wrong(const KeyValue &entry, const std::string &expected) const {
    return container.errorAtKey(entry.key, "found " + container.describe(entry.value) +
                                               ", expected " + expected);
  }
  Status readArchitecture();
  Status readOne(const Key &row, const KeyValue &entry);
  Status store(const KeyValue &entry, std::monostate) { return {}; }
  Status store(const KeyValue &entry, const KeyValue *RawConfig::*member) {
    raw.*member = &entry;
    return {};
  }
  Status store(const KeyValue &entry, std::optional<int64_t> RawConfig::*member);
  Status store(const KeyValue &entry, std::optional<double> RawConfig::*member);
  Status store(const KeyValue &entry, std::optional<std::string> RawConfig::*member);

  const Container &container;
  RawConfig raw;
  unsigned bit = 0;
};

Status KeyReader::store(const KeyValue &entry, std::optional<int64_t> RawConfig::*member) {
  if (entry.value.type != ValueType::Array)
    raw.*member = container.integer(entry.value);
  return raw.*member ? Status() : wrong(entry, "a whole number below 2^63");
}

Status KeyReader::store(const KeyValue &entry, std::optional<double> RawConfig::*member) {
  if (entry.value.type != ValueType::Array)
    raw.*member = container.number(entry.value);
  return raw.*member && std::isfinite(*(raw.*member)) ? Status() : wrong(entry, "a finite number");
}

Status KeyReader::store(const KeyValue &entry, std::optional<std::string> RawConfig::*member) {
  if (entry.value.type != ValueType::String)
    return wrong(entry, "a string");
  raw.*member = std::string(container.text(entry.value));
  return {};
}

Status KeyReader::readArchitecture() {
  constexpr const char *key = "general.architecture";
  const KeyValue *entry = container.find(key);
  if (!entry)
    return container.errorAtKey(key, "found no such key, expected " + knownArchitectures());
  if (entry->value.type == ValueType::String)
    raw.architecture = std::string(container.text(entry->value));
  bit = architectureOf(raw.architecture);
  return bit ? Status() : wrong(*entry, knownArchitectures());
}

Status KeyReader::readOne(const Key &row, const KeyValue &entry) {
  if (row.need == Need::Fixed && !allows(row.allowed, container.describe(entry.value)))
    return wrong(entry, alternatives(row.allowed) + " (" + row.about + ")");
  return std::visit([&](auto member) { return store(entry, member); }, row.member);
}

Result<RawConfig> KeyReader::read() {
  if (Status status = readArchitecture(); !status)
    return status.takeError();
  for (const KeyValue &entry : container.keys()) {
    const Key *found = nullptr;
    for (const Key &row : knownKeys())
      if (!found && (row.architectures & bit) && matches(row, entry.key, raw.architecture))
        found = &row;
    if (!found)
      return container.errorAtKey(entry.key, "found an unknown key, " + std::string(mightChange));
    if (Status status = readOne(*found, entry); !status)
      return status.takeError();
  }
  for (const Key &row : knownKeys())
    if (row.need == Need::Required && !container.find(fullName(row, raw.architecture)))
      return container.errorAtKey(fullName(row, raw.architecture),
                                  "found no such key, expected one that gives the " +
                                      std::string(row.about));
  return std::move(raw);
}

} // namespace

Result<RawConfig> readKeys(const Container &container) { return KeyReader(container).read(); }

} // namespace llmc::gguf
