// SPDX-License-Identifier: Apache-2.0
// Makes small models on disk for the readers' tests: right ones, and ones with a single fault.
#pragma once

#include "dialects/model/WeightSource.h"

#include <nlohmann/json.hpp>

namespace llmc::test {

using Json = nlohmann::ordered_json;

// A folder that is gone, with all in it, when the test ends.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  std::string file(const std::string &name) const { return path + "/" + name; }
  void write(const std::string &name, std::string_view bytes) const;

  std::string path;
};

struct TestTensor {
  std::string name;
  std::string type = "F32";
  std::vector<int64_t> shape;
  std::string bytes;
};

// `length` as eight bytes, `header`, `data`: right or wrong, as the test likes.
std::string safetensorsFile(uint64_t length, std::string_view header, std::string_view data);
std::string safetensorsFile(std::string_view header, std::string_view data);
// The header of tensors that lie one after the other.
Json headerOf(const std::vector<TestTensor> &tensors);
std::string safetensorsFile(const std::vector<TestTensor> &tensors);

TestTensor f32Tensor(const std::string &name, std::vector<int64_t> shape,
                     const std::vector<float> &values);

// A Hugging Face config.json of `family` as transformers 5 writes it, sizes as in tinyConfig.
Json tinyHuggingFaceConfig(const std::string &family);
// All weights of `config` under Hugging Face's names, drawn from `seed`.
std::vector<TestTensor> randomTensors(const model::ModelConfig &config, uint64_t seed);
// A folder's files, all right.
struct TinyFolder {
  Json config;
  std::vector<TestTensor> tensors;
  void write(const TemporaryFolder &folder) const;
};
TinyFolder tinyFolder(const std::string &family);

} // namespace llmc::test
