// SPDX-License-Identifier: Apache-2.0
// What `llmc bench` measured, as tables for people and as JSON (schema kSchema; its keys are in
// README.md).
#pragma once

#include "tools/llmc/bench/Relations.h"
#include <nlohmann/json_fwd.hpp>

namespace llmc::tool {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 2; // larger when a key changes its meaning

// What all rows have in common.
struct Setting {
  std::string name, level, cpu;
  uint64_t weightsBytes = 0;
  std::string memory; // "mapped file" or "anonymous memory"
  uint32_t processors = 0;
  std::string f32Instructions, int8Instructions;
};

void printSetting(const Setting &setting);
// The prefill rows, then the decode rows, then the ceilings that they were held against.
void printRows(const std::vector<Row> &rows, const Setting &setting);
// The commands of each row.
void printCosts(const std::vector<Row> &rows);

Json settingPart(const Setting &setting);
// `rows` are all of them, for what they say together.
Json rowPart(const Row &row, const std::vector<Row> &rows, bool withCosts);
Json spreadPart(const Spread &spread);

// "512 tokens, 2 threads", "depth 1024, batch 1, 2 threads"
std::string inWords(const RowKey &key);

} // namespace llmc::tool
