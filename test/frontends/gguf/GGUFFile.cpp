// SPDX-License-Identifier: Apache-2.0
#include "GGUFFile.h"

#include <cmath>
#include <cstring>

namespace llmc::test {

std::string littleEndian(uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i)
    bytes += static_cast<char>(value >> (8 * i) & 255);
  return bytes;
}

std::string floatBytes(float value) {
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &value, 4);
  return bytes;
}

std::string ggufString(std::string_view text) {
  return littleEndian(text.size(), 8) + std::string(text);
}

GGUFKey u32Key(const std::string &name, uint32_t value) {
  return {name, U32, littleEndian(value, 4)};
}
GGUFKey f32Key(const std::string &name, float value) { return {name, F32Value, floatBytes(value)}; }
GGUFKey boolKey(const std::string &name, bool value) {
  return {name, BoolValue, littleEndian(value, 1)};
}
GGUFKey stringKey(const std::string &name, std::string_view value) {
  return {name, StringValue, ggufString(value)};
}
GGUFKey listKey(const std::string &name, uint32_t element, uint64_t count, std::string_view bytes) {
  return {name, ArrayValue, littleEndian(element, 4) + littleEndian(count, 8) + std::string(bytes)};
}
GGUFKey stringsKey(const std::string &name, const std::vector<std::string> &values) {
  std::string bytes;
  for (const std::string &value : values)
    bytes += ggufString(value);
  return listKey(name, StringValue, values.size(), bytes);
}

GGUFKey *GGUFFile::find(const std::string &name) {
  for (GGUFKey &key : keys)
    if (key.name == name)
      return &key;
  return nullptr;
}

GGUFTensor *GGUFFile::findTensor(const std::string &name) {
  for (GGUFTensor &tensor : tensors)
    if (tensor.name == name)
      return &tensor;
  return nullptr;
}

void GGUFFile::set(GGUFKey key) {
  if (GGUFKey *old = find(key.name))
    *old = std::move(key);
  else
    keys.push_back(std::move(key));
}

namespace {

void pad(std::string &bytes, uint64_t alignment) {
  while (alignment && bytes.size() % alignment != 0)
    bytes += '\0';
}

std::string metadata(const GGUFFile &file, const std::vector<uint64_t> &offsets) {
  std::string bytes = file.magic + littleEndian(file.version, 4) +
                      littleEndian(file.tensorCount.value_or(file.tensors.size()), 8) +
                      littleEndian(file.keyCount.value_or(file.keys.size()), 8);
  for (const GGUFKey &key : file.keys)
    bytes += ggufString(key.name) + littleEndian(key.type, 4) + key.bytes;
  for (size_t i = 0; i < file.tensors.size(); ++i) {
    const GGUFTensor &tensor = file.tensors[i];
    bytes += ggufString(tensor.name) + littleEndian(tensor.dims.size(), 4);
    for (uint64_t dim : tensor.dims)
      bytes += littleEndian(dim, 8);
    bytes += littleEndian(tensor.type, 4) + littleEndian(offsets[i], 8);
  }
  return bytes;
}

} // namespace

uint64_t GGUFFile::metadataBytes() const {
  return metadata(*this, std::vector<uint64_t>(tensors.size())).size();
}

std::string GGUFFile::bytes() const {
  std::string data;
  std::vector<uint64_t> offsets;
  for (const GGUFTensor &tensor : tensors) {
    pad(data, alignment);
    offsets.push_back(tensor.offset.value_or(data.size()));
    data += tensor.bytes;
  }
  std::string whole = metadata(*this, offsets);
  pad(whole, alignment);
  return whole + data;
}

std::string ggufBlock(uint32_t type, const std::vector<uint8_t> &codes, uint16_t scale,
                      uint16_t minimum) {
  std::string bytes = littleEndian(scale, 2);
  if (type == Q4_1Tensor)
    bytes += littleEndian(minimum, 2);
  if (type == Q8_0Tensor) {
    for (uint8_t code : codes)
      bytes += static_cast<char>(code - 128);
    return bytes;
  }
  for (size_t i = 0; i < 16; ++i)
    bytes += static_cast<char>(codes[i] | codes[i + 16] << 4);
  return bytes;
}

std::string pairedRows(const std::string &bytes, size_t width, int64_t headDim) {
  std::string moved;
  size_t dims = static_cast<size_t>(headDim);
  for (size_t head = 0; head < bytes.size() / width / dims; ++head)
    for (size_t pair = 0; pair < dims / 2; ++pair)
      for (size_t row : {pair, pair + dims / 2})
        moved += bytes.substr((head * dims + row) * width, width);
  return moved;
}

namespace {

model::ModelConfig tinyConfig(const std::string &architecture) {
  model::ModelConfig config;
  config.family = architecture;
  config.hiddenSize = 64;
  config.intermediateSize = 96;
  config.vocabSize = 40;
  config.maxPositions = 128;
  config.norm.epsilon = 1e-5;
  config.rope.theta = 10000;
  config.rope.rotaryDims = 16;
  model::LayerConfig layer;
  layer.numHeads = 4;
  layer.numKVHeads = 2;
  layer.headDim = 16;
  layer.qkvBias = architecture == "qwen2";
  layer.qkNorm = architecture == "qwen3";
  layer.qkNormEpsilon = 1e-5;
  layer.attentionScale = 0.25;
  config.layers.assign(2, layer);
  config.bosIds = {1};
  config.eosIds = {2};
  return config;
}

std::vector<GGUFKey> keysOf(const model::ModelConfig &config) {
  const std::string &a = config.family;
  std::vector<std::string> tokens;
  for (int64_t i = 0; i < config.vocabSize; ++i)
    tokens.push_back("t" + std::to_string(i));
  return {stringKey("general.architecture", a),
          stringKey("general.name", "tiny"),
          u32Key(a + ".block_count", 2),
          u32Key(a + ".context_length", 128),
          u32Key(a + ".embedding_length", 64),
          u32Key(a + ".feed_forward_length", 96),
          u32Key(a + ".attention.head_count", 4),
          u32Key(a + ".attention.head_count_kv", 2),
          f32Key(a + ".attention.layer_norm_rms_epsilon", 1e-5f),
          f32Key(a + ".rope.freq_base", 10000),
          u32Key(a + ".vocab_size", 40),
          stringKey("tokenizer.ggml.model", "gpt2"),
          stringsKey("tokenizer.ggml.tokens", tokens),
          u32Key("tokenizer.ggml.bos_token_id", 1),
          u32Key("tokenizer.ggml.eos_token_id", 2),
          u32Key("general.quantization_version", 2)};
}

std::string ggufName(const std::string &canonical) {
  static const std::pair<const char *, const char *> names[] = {
      {"embed", "token_embd.weight"},   {"final_norm", "output_norm.weight"},
      {"lm_head", "output.weight"},     {"attn_norm", "attn_norm.weight"},
      {"mlp_norm", "ffn_norm.weight"},  {"q", "attn_q.weight"},
      {"k", "attn_k.weight"},           {"v", "attn_v.weight"},
      {"q_bias", "attn_q.bias"},        {"k_bias", "attn_k.bias"},
      {"v_bias", "attn_v.bias"},        {"q_norm", "attn_q_norm.weight"},
      {"k_norm", "attn_k_norm.weight"}, {"o", "attn_output.weight"},
      {"gate", "ffn_gate.weight"},      {"up", "ffn_up.weight"},
      {"down", "ffn_down.weight"},
  };
  size_t dot = canonical.rfind('.');
  std::string last = dot == std::string::npos ? canonical : canonical.substr(dot + 1);
  for (const auto &[ours, theirs] : names)
    if (last == ours)
      return dot == std::string::npos ? theirs : "blk." + canonical.substr(7, dot - 6) + theirs;
  return canonical;
}

uint16_t halfOf(float value) {
  _Float16 half = static_cast<_Float16>(value);
  uint16_t bits;
  std::memcpy(&bits, &half, 2);
  return bits;
}

// Of 32 values: a scale that holds the largest, codes to the nearest.
std::string quantised(uint32_t type, const float *values) {
  float low = values[0], high = values[0];
  for (int i = 0; i < 32; ++i)
    low = std::fmin(low, values[i]), high = std::fmax(high, values[i]);
  bool minimum = type == Q4_1Tensor;
  int most = type == Q8_0Tensor ? 255 : 15, bias = type == Q8_0Tensor ? 128 : 8;
  float scale =
      minimum ? (high - low) / 15 : std::fmax(high, -low) / static_cast<float>(most - bias);
  std::vector<uint8_t> codes;
  for (int i = 0; i < 32; ++i) {
    float code = minimum ? (values[i] - low) / scale : values[i] / scale + static_cast<float>(bias);
    codes.push_back(static_cast<uint8_t>(std::lround(std::fmin(std::fmax(code, 0), most))));
  }
  return ggufBlock(type, codes, halfOf(scale), halfOf(low));
}

std::string encoded(uint32_t type, const std::vector<float> &values) {
  std::string bytes;
  for (size_t i = 0; i < values.size();
       i += type == F32Tensor || type == F16Tensor || type == BF16Tensor ? 1 : 32) {
    uint32_t word;
    std::memcpy(&word, &values[i], 4);
    bytes += type == F32Tensor    ? littleEndian(word, 4)
             : type == F16Tensor  ? littleEndian(halfOf(values[i]), 2)
             : type == BF16Tensor ? littleEndian(word >> 16, 2)
                                  : quantised(type, &values[i]);
  }
  return bytes;
}

bool isQOrK(const std::string &canonical) {
  std::string last = canonical.substr(canonical.rfind('.') + 1);
  return last == "q" || last == "k" || last == "q_bias" || last == "k_bias";
}

} // namespace

TinyGGUF tinyGGUF(const std::string &architecture, uint32_t type) {
  TinyGGUF tiny;
  tiny.config = tinyConfig(architecture);
  tiny.file.keys = keysOf(tiny.config);
  model::RandomWeightSource source(tiny.config, 3);
  for (const model::WeightSpec &spec : model::canonicalWeights(tiny.config)) {
    const model::TensorInfo *info = source.find(spec.name);
    std::vector<float> values(static_cast<size_t>(info->rows() * info->columns()));
    if (!source.readRows(spec.name, 0, info->rows(), values.data()))
      return tiny;
    uint32_t ownType = spec.shape.size() == 1 ? uint32_t(F32Tensor) : type;
    std::string bytes = encoded(ownType, values);
    if (architecture == "llama" && isQOrK(spec.name)) {
      bool bias = spec.shape.size() == 1;
      size_t rows = static_cast<size_t>(bias ? info->columns() : info->rows());
      bytes = pairedRows(bytes, bytes.size() / rows, 16);
    }
    std::vector<uint64_t> dims(spec.shape.rbegin(), spec.shape.rend());
    tiny.file.tensors.push_back({ggufName(spec.name), dims, ownType, bytes});
  }
  return tiny;
}

} // namespace llmc::test
