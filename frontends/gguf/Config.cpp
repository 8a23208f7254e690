// SPDX-License-Identifier: Apache-2.0
// From the keys and the table of tensors to a ModelConfig. Follows what llama.cpp makes of the same
// keys where it honours them, and refuses what it would drop without a word.
#include "frontends/gguf/Config.h"
#include "frontends/safetensors/Header.h"

#include <algorithm>
#include <cmath>

namespace llmc::gguf {

using model::LayerConfig;
using model::ModelConfig;

namespace {

class ConfigReader {
public:
  ConfigReader(const Container &container, RawConfig raw)
      : container(container), raw(std::move(raw)) {}

  Result<ModelConfig> read();

private:
  std::string key(const char *suffix) const { return raw.architecture + suffix; }
  Status readVocabulary();
  Status checkVocabulary(std::string_view key, int64_t found) const;
  Status readLayerCount();
  // One number for all layers, or a list with one for each.
  Status perLayer(const KeyValue &entry, std::vector<int64_t> &values) const;
  Status readMLPWidth();
  Status readHeads();
  Result<int64_t> headDim(const std::vector<int64_t> &heads) const;
  Status readWindows();
  Status readPattern(std::vector<bool> &sliding) const;
  void readBiases();
  Status readIds();
  Status readId(const KeyValue *entry, std::vector<int32_t> &ids) const;
  std::string keyOf(const std::string &configPlace) const;
  Status checkConfig() const;

  const Container &container;
  RawConfig raw;
  ModelConfig config;
};

Status ConfigReader::checkVocabulary(std::string_view key, int64_t found) const {
  if (found == config.vocabSize)
    return {};
  std::string rows = std::to_string(config.vocabSize);
  return container
      .errorAtKey(key, "found a vocabulary of " + std::to_string(found) + ", expected " + rows)
      .withNote(container.noteAtTensor(storedName("embed"), rows + " rows come from here"));
}

Status ConfigReader::readVocabulary() {
  std::string name = storedName("embed");
  const StoredTensor *embed = container.findTensor(name);
  if (!embed)
    return container.errorAtTensor(name, "found no such tensor, expected the embedding");
  if (embed->shape.size() != 2)
    return container.errorAtTensor(name, "found shape " + safetensors::shapeText(embed->shape) +
                                             ", expected [vocabulary, embedding_length]");
  config.vocabSize = embed->shape[0];
  if (raw.vocabSize)
    if (Status status = checkVocabulary(key(".vocab_size"), *raw.vocabSize); !status)
      return status;
  const KeyValue *tokens = container.find("tokenizer.ggml.tokens");
  if (!tokens || tokens->value.type != ValueType::Array)
    return {};
  return checkVocabulary(tokens->key, static_cast<int64_t>(tokens->value.count));
}

Status ConfigReader::readLayerCount() {
  if (*raw.blockCount < 1 || *raw.blockCount > model::maxLayers)
    return container.errorAtKey(key(".block_count"), "found " + std::to_string(*raw.blockCount) +
                                                         ", expected 1 to " +
                                                         std::to_string(model::maxLayers));
  LayerConfig layer;
  layer.qkNorm = raw.architecture == "qwen3";
  layer.qkNormEpsilon = *raw.normEpsilon;
  config.layers.assign(static_cast<size_t>(*raw.blockCount), layer);
  return {};
}

Status ConfigReader::perLayer(const KeyValue &entry, std::vector<int64_t> &values) const {
  const Value &value = entry.value;
  bool list = value.type == ValueType::Array;
  if (list && value.count != config.layers.size())
    return container
        .errorAtKey(entry.key, "found " + container.describe(value) +
                                   ", expected one number, or one for each of " +
                                   std::to_string(config.layers.size()) + " layers")
        .withNote(container.noteAtKey(key(".block_count"),
                                      std::to_string(config.layers.size()) + " comes from here"));
  values.clear();
  for (size_t i = 0; i < config.layers.size(); ++i) {
    std::optional<int64_t> number = container.integer(value, list ? i : 0);
    if (!number)
      return container.errorAtKey(entry.key, "found " + container.describe(value) +
                                                 ", expected whole numbers below 2^63");
    values.push_back(*number);
  }
  return {};
}

Status ConfigReader::readMLPWidth() {
  std::vector<int64_t> widths;
  if (Status status = perLayer(*raw.feedForwardLength, widths); !status)
    return status;
  config.intermediateSize = widths[0];
  for (int64_t width : widths)
    if (width != widths[0])
      return container.errorAtKey(raw.feedForwardLength->key,
                                  "found " + std::to_string(widths[0]) + " and " +
                                      std::to_string(width) +
                                      ", expected one width for all layers");
  return {};
}

Result<int64_t> ConfigReader::headDim(const std::vector<int64_t> &heads) const {
  std::string keyLength = key(".attention.key_length");
  if (raw.valueLength && raw.valueLength != raw.keyLength)
    return container
        .errorAtKey(key(".attention.value_length"),
                    "found " + std::to_string(*raw.valueLength) +
                        ", expected the same as attention.key_length")
        .withNote(container.noteAtKey(keyLength, raw.keyLength ? std::to_string(*raw.keyLength) +
                                                                     " comes from here"
                                                               : std::string("it is not given")));
  if (raw.keyLength)
    return *raw.keyLength;
  for (int64_t count : heads)
    if (count != heads[0])
      return container.errorAtKey(keyLength, "found no such key, expected one, because "
                                             "attention.head_count differs between layers");
  if (heads[0] < 1 || config.hiddenSize % heads[0] != 0)
    return container
        .errorAtKey(key(".embedding_length"),
                    "found " + std::to_string(config.hiddenSize) +
                        ", expected a multiple of attention.head_count (" +
                        std::to_string(heads[0]) + "), or an explicit attention.key_length")
        .withNote(
            container.noteAtKey(raw.headCount->key, std::to_string(heads[0]) + " comes from here"));
  return config.hiddenSize / heads[0];
}

Status ConfigReader::readHeads() {
  std::vector<int64_t> heads, keyHeads;
  if (Status status = perLayer(*raw.headCount, heads); !status)
    return status;
  if (Status status = perLayer(raw.headCountKV ? *raw.headCountKV : *raw.headCount, keyHeads);
      !status)
    return status;
  Result<int64_t> width = headDim(heads);
  if (!width)
    return width.takeError();
  for (size_t i = 0; i < heads.size(); ++i) {
    LayerConfig &layer = config.layers[i];
    layer.numHeads = heads[i];
    layer.numKVHeads = keyHeads[i];
    layer.headDim = *width;
    layer.attentionScale = *width > 0 ? 1.0 / std::sqrt(static_cast<double>(*width)) : 0.0;
  }
  config.rope.rotaryDims = raw.ropeDimensions.value_or(*width);
  if (config.rope.rotaryDims == *width)
    return {};
  return container.errorAtKey(key(".rope.dimension_count"),
                              "found " + std::to_string(config.rope.rotaryDims) +
                                  ", expected all of a head (" + std::to_string(*width) +
                                  " dimensions) to be rotated");
}

// A list of booleans, or n: the last of each n layers sees everything.
Status ConfigReader::readPattern(std::vector<bool> &sliding) const {
  const KeyValue &entry = *raw.slidingWindowPattern;
  const Value &value = entry.value;
  bool list = value.type == ValueType::Array;
  std::optional<int64_t> period = list ? std::nullopt : container.integer(value);
  bool right = list ? value.element == ValueType::Bool && value.count == sliding.size()
                    : period && *period >= 0;
  if (!right)
    return container.errorAtKey(entry.key, "found " + container.describe(value) +
                                               ", expected a whole number, or a list of " +
                                               std::to_string(sliding.size()) +
                                               " bool, one for each layer");
  for (size_t i = 0; i < sliding.size(); ++i)
    sliding[i] = list ? container.boolean(value, i)
                      : *period == 0 || static_cast<int64_t>(i) % *period < *period - 1;
  return {};
}

Status ConfigReader::readWindows() {
  std::string windowKey = key(".attention.sliding_window");
  if (!raw.slidingWindow || *raw.slidingWindow == 0) {
    if (!raw.slidingWindowPattern)
      return {};
    return container
        .errorAtKey(raw.slidingWindowPattern->key,
                    "found a pattern of windows, expected their width beside it")
        .withNote(container.noteAtKey(windowKey, "the width belongs here"));
  }
  if (*raw.slidingWindow < 0)
    return container.errorAtKey(windowKey, "found " + std::to_string(*raw.slidingWindow) +
                                               ", expected 0 (none) or a number of keys");
  std::vector<bool> sliding(config.layers.size(), true);
  if (raw.slidingWindowPattern) {
    if (Status status = readPattern(sliding); !status)
      return status;
  } else if (raw.architecture != "llama") {
    return container.errorAtKey(windowKey,
                                "found a window in a model of " + raw.architecture +
                                    ", expected attention.sliding_window_pattern beside it, "
                                    "because only some of its layers may have one");
  }
  for (size_t i = 0; i < sliding.size(); ++i)
    config.layers[i].slidingWindow = sliding[i] ? *raw.slidingWindow : 0;
  return {};
}

// The format has no key for them: a bias is there when its tensor is.
void ConfigReader::readBiases() {
  for (size_t i = 0; i < config.layers.size(); ++i) {
    std::string prefix = "layers." + std::to_string(i) + ".";
    auto any = [&](std::initializer_list<const char *> names) {
      return std::any_of(names.begin(), names.end(), [&](const char *name) {
        return container.findTensor(storedName(prefix + name));
      });
    };
    LayerConfig &layer = config.layers[i];
    layer.qkvBias = any({"q_bias", "k_bias", "v_bias"});
    layer.outBias = any({"o_bias"});
    layer.mlpBias = any({"gate_bias", "up_bias", "down_bias"});
  }
}

Status ConfigReader::readId(const KeyValue *entry, std::vector<int32_t> &ids) const {
  if (!entry)
    return {};
  std::optional<int64_t> id =
      entry->value.type == ValueType::Array ? std::nullopt : container.integer(entry->value);
  if (!id || *id < 0 || *id >= config.vocabSize)
    return container
        .errorAtKey(entry->key, "found " + container.describe(entry->value) +
                                    ", expected an id from 0 to " +
                                    std::to_string(config.vocabSize - 1))
        .withNote(container.noteAtTensor(storedName("embed"), std::to_string(config.vocabSize) +
                                                                  " rows come from here"));
  if (std::find(ids.begin(), ids.end(), *id) == ids.end())
    ids.push_back(static_cast<int32_t>(*id));
  return {};
}

Status ConfigReader::readIds() {
  if (Status status = readId(raw.bosId, config.bosIds); !status)
    return status;
  for (const KeyValue *entry : {raw.eosId, raw.eotId, raw.eomId})
    if (Status status = readId(entry, config.eosIds); !status)
      return status;
  return {};
}

// The key that says what model.json would say at `configPlace`.
std::string ConfigReader::keyOf(const std::string &configPlace) const {
  struct Row {
    std::string_view config;
    const char *key;
  };
  static constexpr Row rows[] = {
      {"hidden_size", ".embedding_length"},
      {"intermediate_size", ".feed_forward_length"},
      {"max_positions", ".context_length"},
      {"vocab_size", ".vocab_size"},
      {"num_heads", ".attention.head_count"},
      {"num_kv_heads", ".attention.head_count_kv"},
      {"head_dim", ".attention.key_length"},
      {"attention_scale", ".attention.key_length"},
      {"sliding_window", ".attention.sliding_window"},
      {"epsilon", ".attention.layer_norm_rms_epsilon"},
      {"qk_norm_epsilon", ".attention.layer_norm_rms_epsilon"},
      {"layers", ".block_count"},
      {"theta", ".rope.freq_base"},
      {"rotary_dims", ".rope.dimension_count"},
      {"factor", ".rope.scaling.factor"},
      {"original_max_positions", ".rope.scaling.original_context_length"},
      {"attention_factor", ".rope.scaling.attn_factor"},
      {"beta_fast", ".rope.scaling.yarn_beta_fast"},
      {"beta_slow", ".rope.scaling.yarn_beta_slow"},
      {"mscale_all_dim", ".rope.scaling.yarn_log_multiplier"},
  };
  std::string_view last = std::string_view(configPlace).substr(configPlace.rfind('/') + 1);
  for (const Row &row : rows)
    if (last == row.config)
      return key(row.key);
  return std::string(last);
}

Status ConfigReader::checkConfig() const {
  std::vector<model::ConfigProblem> problems = model::validate(config);
  if (problems.empty())
    return {};
  const model::ConfigProblem &first = problems.front();
  Error error = container.errorAtKey(keyOf(first.place), first.text);
  if (!first.otherPlace.empty())
    error.notes.push_back(container.noteAtKey(keyOf(first.otherPlace), first.otherText));
  return error;
}

Result<ModelConfig> ConfigReader::read() {
  config.family = raw.architecture;
  config.hiddenSize = *raw.embeddingLength;
  config.maxPositions = *raw.contextLength;
  config.norm.epsilon = *raw.normEpsilon;
  config.tieWordEmbeddings = !container.findTensor(storedName("lm_head"));
  using Step = Status (ConfigReader::*)();
  for (Step step :
       {&ConfigReader::readVocabulary, &ConfigReader::readLayerCount, &ConfigReader::readMLPWidth,
        &ConfigReader::readHeads, &ConfigReader::readWindows, &ConfigReader::readIds})
    if (Status status = (this->*step)(); !status)
      return status.takeError();
  readBiases();
  if (Status status = deriveRope(container, raw, config.rope); !status)
    return status.takeError();
  if (Status status = checkConfig(); !status)
    return status.takeError();
  return std::move(config);
}

} // namespace

Result<ModelConfig> readConfig(const Container &container) {
  Result<RawConfig> raw = readKeys(container);
  if (!raw)
    return raw.takeError();
  return ConfigReader(container, std::move(*raw)).read();
}

} // namespace llmc::gguf
