// SPDX-License-Identifier: Apache-2.0
#include "Support.h"

#include "frontends/huggingface/Config.h"
#include "frontends/huggingface/OpenFolder.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace llmc::test {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "llmc-test-XXXXXX").string();
  if (mkdtemp(pattern.data()))
    path = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path.empty())
    std::filesystem::remove_all(path, ignored);
}

void TemporaryFolder::write(const std::string &name, std::string_view bytes) const {
  std::ofstream(file(name), std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string safetensorsFile(uint64_t length, std::string_view header, std::string_view data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i)
    bytes += static_cast<char>(length >> (8 * i) & 255);
  bytes += header;
  bytes += data;
  return bytes;
}

std::string safetensorsFile(std::string_view header, std::string_view data) {
  return safetensorsFile(header.size(), header, data);
}

Json headerOf(const std::vector<TestTensor> &tensors) {
  Json header = Json::object();
  uint64_t offset = 0;
  for (const TestTensor &tensor : tensors) {
    uint64_t end = offset + tensor.bytes.size();
    header[tensor.name] = {
        {"dtype", tensor.type}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  return header;
}

std::string safetensorsFile(const std::vector<TestTensor> &tensors) {
  std::string data;
  for (const TestTensor &tensor : tensors)
    data += tensor.bytes;
  return safetensorsFile(headerOf(tensors).dump(), data);
}

TestTensor f32Tensor(const std::string &name, std::vector<int64_t> shape,
                     const std::vector<float> &values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {name, "F32", std::move(shape), std::move(bytes)};
}

Json tinyHuggingFaceConfig(const std::string &family) {
  Json config = {
      {"architectures", {"ForCausalLM"}},
      {"attention_dropout", 0.0},
      {"bos_token_id", 1},
      {"dtype", "float32"},
      {"eos_token_id", 2},
      {"head_dim", 10},
      {"hidden_act", "silu"},
      {"hidden_size", 24},
      {"initializer_range", 0.02},
      {"intermediate_size", 40},
      {"max_position_embeddings", 64},
      {"model_type", family},
      {"num_attention_heads", 3},
      {"num_hidden_layers", 2},
      {"num_key_value_heads", 1},
      {"pad_token_id", nullptr},
      {"rms_norm_eps", 1e-05},
      {"rope_parameters", {{"rope_theta", 10000.0}, {"rope_type", "default"}}},
      {"tie_word_embeddings", false},
      {"transformers_version", "5.24.0"},
      {"use_cache", true},
      {"vocab_size", 67},
  };
  if (family == "llama")
    config.update({{"attention_bias", false}, {"mlp_bias", false}, {"pretraining_tp", 1}});
  if (family == "mistral")
    config["sliding_window"] = 8;
  if (family == "qwen2" || family == "qwen3")
    config.update({{"use_sliding_window", false},
                   {"sliding_window", nullptr},
                   {"max_window_layers", 28},
                   {"layer_types", {"full_attention", "full_attention"}}});
  if (family == "qwen3")
    config["attention_bias"] = false;
  return config;
}

std::vector<TestTensor> randomTensors(const model::ModelConfig &config, uint64_t seed) {
  model::RandomWeightSource source(config, seed);
  std::vector<TestTensor> tensors;
  for (const model::WeightSpec &spec : model::canonicalWeights(config)) {
    const model::TensorInfo *info = source.find(spec.name);
    std::vector<float> values(static_cast<size_t>(info->rows() * info->columns()));
    if (source.readRows(spec.name, 0, info->rows(), values.data()))
      tensors.push_back(f32Tensor(huggingface::storedName(spec.name), spec.shape, values));
  }
  return tensors;
}

void TinyFolder::write(const TemporaryFolder &folder) const {
  folder.write("config.json", config.dump(2));
  folder.write("model.safetensors", safetensorsFile(tensors));
}

TinyFolder tinyFolder(const std::string &family) {
  TinyFolder folder{tinyHuggingFaceConfig(family), {}};
  Result<model::ModelConfig> config =
      huggingface::parseConfig(folder.config.dump(), "config.json", "", "");
  if (config)
    folder.tensors = randomTensors(*config, 1);
  return folder;
}

} // namespace llmc::test
