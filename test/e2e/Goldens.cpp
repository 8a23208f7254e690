// SPDX-License-Identifier: Apache-2.0
//
// Reads the goldens: a JSON record, and NumPy's .npy of little-endian f32 in two dimensions.
#include "test/e2e/Goldens.h"
#include "frontends/json/Value.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace llmc::test {
namespace {

Result<std::vector<int32_t>> readIds(const json::Value &record, const char *key,
                                     const std::string &file) {
  const json::Value *list = record.find(key);
  if (!list || !list->is(json::Value::Kind::Array))
    return errorAt(file, std::string("/") + key, "found no list of ids");
  std::vector<int32_t> ids;
  for (size_t i = 0; i < list->size(); ++i)
    ids.push_back(int32_t((*list)[i].integer));
  return ids;
}

} // namespace

Status readLogits(const std::string &file, Golden &golden) {
  Result<std::string> bytes = json::readTextFile(file, uint64_t(1) << 28);
  if (!bytes)
    return bytes.takeError();
  if (bytes->size() < 10 || bytes->compare(0, 8, std::string("\x93NUMPY\x01\x00", 8)) != 0)
    return errorAt(file, "", "found another beginning, expected a NumPy file of version 1");
  size_t headerBytes = uint8_t((*bytes)[8]) | size_t(uint8_t((*bytes)[9])) << 8;
  std::string header = bytes->substr(10, headerBytes);
  size_t shape = header.find("'shape': (");
  long long positions = 0, vocabulary = 0;
  if (header.find("'<f4'") == std::string::npos ||
      header.find("'fortran_order': False") == std::string::npos || shape == std::string::npos ||
      std::sscanf(header.c_str() + shape, "'shape': (%lld, %lld)", &positions, &vocabulary) != 2)
    return errorAt(file, "",
                   "found the header " + escaped(header) +
                       ", expected row-major <f4 of two dimensions");
  golden.positions = positions;
  golden.vocabulary = vocabulary;
  size_t count = size_t(positions * vocabulary);
  if (bytes->size() != 10 + headerBytes + count * sizeof(float))
    return errorAt(file, "",
                   "found " + std::to_string(bytes->size()) + " bytes, expected " +
                       std::to_string(count) + " values");
  golden.logits.resize(count);
  std::memcpy(golden.logits.data(), bytes->data() + 10 + headerBytes, count * sizeof(float));
  return {};
}

std::vector<std::string> goldenNames() {
  std::vector<std::string> names;
  std::error_code code;
  for (const auto &entry : std::filesystem::directory_iterator(LLMC_GOLDENS, code))
    if (entry.path().extension() == ".npy")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Result<Golden> readGolden(const std::string &name) {
  std::string file = std::string(LLMC_GOLDENS) + "/" + name;
  Result<json::Value> record = json::parseFile(file + ".json");
  if (!record)
    return record.takeError();
  Golden golden;
  golden.name = name;
  Result<std::vector<int32_t>> prompt = readIds(*record, "prompt", file + ".json");
  if (!prompt)
    return prompt.takeError();
  Result<std::vector<int32_t>> greedy = readIds(*record, "greedy", file + ".json");
  if (!greedy)
    return greedy.takeError();
  golden.prompt = std::move(*prompt);
  golden.greedy = std::move(*greedy);
  if (Status status = readLogits(file + ".npy", golden); !status)
    return status.takeError();
  if (golden.positions != int64_t(golden.prompt.size()))
    return errorAt(file + ".npy", "",
                   "found logits of " + std::to_string(golden.positions) + " positions, expected " +
                       std::to_string(golden.prompt.size()));
  return golden;
}

std::string goldenModel(const std::string &name) {
  return std::string(LLMC_GOLDEN_MODELS) + "/" + name;
}

} // namespace llmc::test
