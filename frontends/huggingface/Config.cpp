// SPDX-License-Identifier: Apache-2.0
// From the keys of a config.json to a ModelConfig: fills in what each family leaves to defaults (as
// transformers does), and reports contradictions at the key of the file that causes them.
#include "frontends/huggingface/Config.h"

#include <cmath>

namespace llmc::huggingface {

using json::Place;
using json::Value;
using model::LayerConfig;
using model::ModelConfig;

namespace {

// Defaults of transformers' classes for keys that are absent (a null is a value of its own).
constexpr int64_t defaultSlidingWindow = 4096;
constexpr int64_t defaultMaxWindowLayers = 28;

class ConfigReader {
public:
  ConfigReader(const Value &tree, Place root, const Value *generation, Place generationRoot)
      : tree(tree), root(std::move(root)), generation(generation),
        generationRoot(std::move(generationRoot)) {}

  Result<ModelConfig> read();

private:
  Status readKeys();
  Status readActivation();
  Status readIds(const char *key, const Value *own, std::vector<int32_t> &ids, Place &place);
  Status readLayers();
  Status readWindows(std::vector<LayerConfig> &layers);
  Status readLayerTypes(std::vector<bool> &sliding);
  std::optional<int64_t> window() const;
  Status checkConfig() const;
  Place placeOf(const std::string &configPlace) const;

  const Value &tree;
  Place root;
  const Value *generation;
  Place generationRoot;
  RawConfig raw;
  unsigned family = 0;
  ModelConfig config;
  Place bosPlace, eosPlace;
};

Status ConfigReader::readKeys() {
  if (!tree.is(Value::Kind::Object))
    return wrongValue(root, tree, "an object");
  const Value *type = tree.find("model_type");
  family = type && type->is(Value::Kind::String) ? familyOf(type->text()) : 0;
  if (family == 0)
    return root.at("model_type")
        .error(
            (type ? "found " + describe(*type) : std::string("found nothing")) +
            ", expected a family that llmc knows: \"llama\", \"mistral\", \"qwen2\" or \"qwen3\"");
  json::ReadOptions options = {family, true,
                               "it might change the model's results, so it is not ignored"};
  return readObject(configKeys(), tree, root, raw, options);
}

Status ConfigReader::readActivation() {
  struct Row {
    const char *name;
    model::Activation activation;
  };
  static constexpr Row rows[] = {
      {"silu", model::Activation::SiLU},         {"swish", model::Activation::SiLU},
      {"gelu", model::Activation::GELUErf},      {"gelu_pytorch_tanh", model::Activation::GELUTanh},
      {"gelu_new", model::Activation::GELUTanh}, {"relu", model::Activation::ReLU},
  };
  for (const Row &row : rows)
    if (raw.activation == row.name) {
      config.activation = row.activation;
      return {};
    }
  return root.at("hidden_act")
      .error("found \"" + escaped(raw.activation, 80) +
             "\", expected \"silu\", \"swish\", \"gelu\", \"gelu_pytorch_tanh\", \"gelu_new\" or "
             "\"relu\"");
}

// generation_config.json first, then config.json; one id or a list.
Status ConfigReader::readIds(const char *key, const Value *own, std::vector<int32_t> &ids,
                             Place &place) {
  const Value *value = generation ? generation->find(key) : nullptr;
  place = generationRoot.at(key);
  if (!value || value->is(Value::Kind::Null)) {
    value = own;
    place = root.at(key);
  }
  if (!value)
    return {};
  if (value->is(Value::Kind::Array))
    return json::read(*value, place, ids);
  if (!value->is(Value::Kind::Integer) || value->integer < 0 || value->integer > INT32_MAX)
    return wrongValue(place, *value, "a token id or a list of token ids");
  ids.push_back(static_cast<int32_t>(value->integer));
  return {};
}

// The window that layers may use; nothing when all attend to all.
std::optional<int64_t> ConfigReader::window() const {
  bool switched = family == Qwen2 || family == Qwen3;
  if (family == Llama || (switched && !raw.useSlidingWindow.value_or(false)))
    return std::nullopt;
  return tree.find("sliding_window") ? raw.slidingWindow : defaultSlidingWindow;
}

Status ConfigReader::readLayerTypes(std::vector<bool> &sliding) {
  Place place = root.at("layer_types");
  if (!raw.layerTypes->is(Value::Kind::Array))
    return wrongValue(place, *raw.layerTypes, "a list");
  if (raw.layerTypes->size() != sliding.size())
    return wrongValue(place, *raw.layerTypes,
                      "one entry for each of num_hidden_layers (" + std::to_string(sliding.size()) +
                          ") layers")
        .withNote(
            root.at("num_hidden_layers").note(std::to_string(sliding.size()) + " comes from here"));
  for (size_t i = 0; i < sliding.size(); ++i) {
    int word = 0;
    Place entry = place.at(std::to_string(i));
    if (Status status =
            readWord((*raw.layerTypes)[i], entry, {"full_attention", "sliding_attention"}, word);
        !status)
      return status;
    if (word == 1 && !window())
      return wrongValue(entry, (*raw.layerTypes)[i],
                        "\"full_attention\", because no sliding window is given")
          .withNote(root.at(family == Llama ? "model_type" : "sliding_window")
                        .note("a window needs a family that has one, a number here and, in qwen2 "
                              "and qwen3, "
                              "use_sliding_window"));
    // Mistral's code has one window for all layers and does not look at layer_types.
    if (family == Mistral && word == 0 && window())
      return wrongValue(entry, (*raw.layerTypes)[i],
                        "\"sliding_attention\", because sliding_window holds for all")
          .withNote(root.at("sliding_window").note(std::to_string(*window()) + " comes from here"));
    sliding[i] = word == 1;
  }
  return {};
}

Status ConfigReader::readWindows(std::vector<LayerConfig> &layers) {
  std::optional<int64_t> width = window();
  if (width && *width < 1)
    return root.at("sliding_window")
        .error("found " + std::to_string(*width) + ", expected at least 1, or null");
  std::vector<bool> sliding(layers.size(), width.has_value());
  int64_t first = raw.maxWindowLayers.value_or(defaultMaxWindowLayers);
  if (family == Qwen2 || family == Qwen3)
    for (size_t i = 0; i < sliding.size(); ++i)
      sliding[i] = width && static_cast<int64_t>(i) >= first;
  if (raw.layerTypes)
    if (Status status = readLayerTypes(sliding); !status)
      return status;
  for (size_t i = 0; i < layers.size(); ++i)
    layers[i].slidingWindow = sliding[i] ? *width : 0;
  return {};
}

Status ConfigReader::readLayers() {
  if (raw.numLayers < 1 || raw.numLayers > model::maxLayers)
    return root.at("num_hidden_layers")
        .error("found " + std::to_string(raw.numLayers) + ", expected 1 to " +
               std::to_string(model::maxLayers));
  if (raw.numHeads < 1)
    return root.at("num_attention_heads")
        .error("found " + std::to_string(raw.numHeads) + ", expected at least 1");
  if (!raw.headDim && raw.hiddenSize % raw.numHeads != 0)
    return root.at("hidden_size")
        .error("found " + std::to_string(raw.hiddenSize) +
               ", expected a multiple of num_attention_heads (" + std::to_string(raw.numHeads) +
               "), or an explicit head_dim")
        .withNote(
            root.at("num_attention_heads").note(std::to_string(raw.numHeads) + " comes from here"));
  LayerConfig layer;
  layer.numHeads = raw.numHeads;
  layer.numKVHeads = raw.numKVHeads.value_or(raw.numHeads);
  layer.headDim = raw.headDim.value_or(raw.hiddenSize / raw.numHeads);
  bool attentionBias = raw.attentionBias.value_or(false);
  layer.qkvBias = family == Qwen2 || attentionBias;
  layer.outBias = attentionBias;
  layer.mlpBias = raw.mlpBias.value_or(false);
  layer.qkNorm = family == Qwen3;
  layer.qkNormEpsilon = *raw.normEpsilon;
  layer.attentionScale =
      layer.headDim > 0 ? 1.0 / std::sqrt(static_cast<double>(layer.headDim)) : 0.0;
  config.layers.assign(static_cast<size_t>(raw.numLayers), layer);
  config.rope.rotaryDims = layer.headDim;
  return readWindows(config.layers);
}

// Where config.json says what model.json would say at `configPlace`.
Place ConfigReader::placeOf(const std::string &configPlace) const {
  if (configPlace == "/bos_ids")
    return bosPlace;
  if (configPlace == "/eos_ids")
    return eosPlace;
  std::string_view key = configPlace;
  key.remove_prefix(key.rfind('/') + 1);
  struct Row {
    std::string_view config, file;
  };
  static constexpr Row rows[] = {
      {"num_heads", "num_attention_heads"},
      {"num_kv_heads", "num_key_value_heads"},
      {"layers", "num_hidden_layers"},
      {"max_positions", "max_position_embeddings"},
      {"epsilon", "rms_norm_eps"},
      {"qk_norm_epsilon", "rms_norm_eps"},
      {"attention_scale", "head_dim"},
      {"rotary_dims", "head_dim"},
      {"theta", "rope_theta"},
      {"original_max_positions", "original_max_position_embeddings"},
  };
  for (const Row &row : rows)
    if (key == row.config) {
      key = row.file;
      break;
    }
  const Value *rope = raw.ropeParameters ? raw.ropeParameters : raw.ropeScaling;
  bool nested = configPlace.rfind("/rope/", 0) == 0 && rope && rope->find(key);
  return nested ? root.at(raw.ropeParameters ? "rope_parameters" : "rope_scaling").at(key)
                : root.at(key);
}

Status ConfigReader::checkConfig() const {
  std::vector<model::ConfigProblem> problems = model::validate(config);
  if (problems.empty())
    return {};
  const model::ConfigProblem &first = problems.front();
  Error error = placeOf(first.place).error(first.text);
  if (!first.otherPlace.empty())
    error.notes.push_back(placeOf(first.otherPlace).note(first.otherText));
  return error;
}

Result<ModelConfig> ConfigReader::read() {
  if (Status status = readKeys(); !status)
    return status.takeError();
  config.family = raw.modelType;
  config.hiddenSize = raw.hiddenSize;
  config.intermediateSize = raw.intermediateSize;
  config.vocabSize = raw.vocabSize;
  config.maxPositions = *raw.maxPositions;
  config.norm.epsilon = *raw.normEpsilon;
  config.tieWordEmbeddings = raw.tieWordEmbeddings.value_or(false);
  if (Status status = readActivation(); !status)
    return status.takeError();
  if (Status status = readIds("bos_token_id", raw.bosTokenId, config.bosIds, bosPlace); !status)
    return status.takeError();
  if (Status status = readIds("eos_token_id", raw.eosTokenId, config.eosIds, eosPlace); !status)
    return status.takeError();
  if (Status status = readLayers(); !status)
    return status.takeError();
  if (Status status = deriveRope(raw, root, config.rope); !status)
    return status.takeError();
  if (Status status = checkConfig(); !status)
    return status.takeError();
  return std::move(config);
}

} // namespace

Result<ModelConfig> parseConfig(std::string_view text, const std::string &file,
                                std::string_view generationText,
                                const std::string &generationFile) {
  Result<Value> tree = json::parse(text, file);
  if (!tree)
    return tree.takeError();
  Value generation;
  if (!generationText.empty()) {
    Result<Value> parsed = json::parse(generationText, generationFile);
    if (!parsed)
      return parsed.takeError();
    if (!parsed->is(Value::Kind::Object))
      return wrongValue({generationFile, ""}, *parsed, "an object");
    generation = std::move(*parsed);
  }
  return ConfigReader(*tree, {file, ""}, generationText.empty() ? nullptr : &generation,
                      {generationFile, ""})
      .read();
}

} // namespace llmc::huggingface
