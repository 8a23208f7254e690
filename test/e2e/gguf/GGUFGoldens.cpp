// SPDX-License-Identifier: Apache-2.0
#include "test/e2e/gguf/GGUFGoldens.h"
#include "frontends/json/Value.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

namespace llmc::test {

static std::string goldenFile(const std::string &name) {
  return std::string(LLMC_GOLDENS) + "/gguf/" + name;
}

std::vector<std::string> ggufNames() {
  std::vector<std::string> names;
  std::error_code code;
  for (const auto &entry :
       std::filesystem::directory_iterator(std::string(LLMC_GOLDENS) + "/gguf", code))
    if (entry.path().extension() == ".json")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

static Status readSide(const std::string &file, GGUFGolden &golden, std::vector<float> &logits) {
  Golden read;
  if (Status status = readLogits(file, read); !status)
    return status;
  if (read.positions != int64_t(golden.prompt.size()))
    return errorAt(file, "",
                   "found logits of " + std::to_string(read.positions) + " positions, expected " +
                       std::to_string(golden.prompt.size()));
  golden.vocabulary = read.vocabulary;
  logits = std::move(read.logits);
  return {};
}

Result<GGUFGolden> readGGUFGolden(const std::string &name) {
  std::string file = goldenFile(name);
  Result<json::Value> record = json::parseFile(file + ".json");
  if (!record)
    return record.takeError();
  GGUFGolden golden;
  golden.name = name;
  const json::Value *type = record->find("type"), *prompt = record->find("prompt");
  if (!type || !type->is(json::Value::Kind::String) || !prompt)
    return errorAt(file + ".json", "", "found no type or prompt, expected both");
  golden.type = type->text();
  for (size_t i = 0; i < prompt->size(); ++i)
    golden.prompt.push_back(int32_t((*prompt)[i].integer));
  if (Status status = readSide(file + ".transformers.npy", golden, golden.transformers); !status)
    return status.takeError();
  if (std::filesystem::exists(file + ".llama_cpp.npy"))
    if (Status status = readSide(file + ".llama_cpp.npy", golden, golden.llamaCpp); !status)
      return status.takeError();
  return golden;
}

std::string ggufFile(const std::string &name) { return ggufFolder(name) + ".gguf"; }
std::string ggufFolder(const std::string &name) {
  return std::string(LLMC_GGUF_MODELS) + "/" + name;
}

float largestDifference(const std::vector<float> &found, const std::vector<float> &expected) {
  if (found.size() != expected.size())
    return std::numeric_limits<float>::infinity();
  float largest = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    float difference = std::fabs(found[i] - expected[i]);
    largest = std::isnan(difference) ? std::numeric_limits<float>::infinity()
                                     : std::max(largest, difference);
  }
  return largest;
}

double nmse(const std::vector<float> &found, const std::vector<float> &expected) {
  if (found.size() != expected.size())
    return std::numeric_limits<double>::infinity();
  double difference = 0, square = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    double distance = double(found[i]) - double(expected[i]);
    difference += distance * distance;
    square += double(expected[i]) * double(expected[i]);
  }
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference / square;
}

} // namespace llmc::test
