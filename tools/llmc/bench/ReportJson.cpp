// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/bench/Report.h"
#include <nlohmann/json.hpp>

namespace llmc::tool {
namespace {

Json costPart(const CommandCost &cost) {
  return {{"graph", cost.graph},
          {"name", cost.name},
          {"kernel", cost.kernel},
          {"count", cost.count},
          {"microseconds", cost.microseconds},
          {"share", cost.share},
          {"bytes", cost.work.bytes},
          {"kv_bytes", cost.work.kvBytes},
          {"f32_operations", cost.work.f32},
          {"int8_operations", cost.work.int8},
          {"bound", cost.bound <= 0     ? Json()
                    : cost.bindsReading ? Json("bytes")
                                        : Json("operations")},
          {"bound_microseconds", cost.bound},
          {"lost_microseconds", cost.lost()}};
}

} // namespace

Json spreadPart(const Spread &spread) {
  return {{"median", spread.median},
          {"q1", spread.q1},
          {"q3", spread.q3},
          {"min", spread.least},
          {"max", spread.most}};
}

Json settingPart(const Setting &setting) {
  return {{"name", setting.name},
          {"level", setting.level},
          {"cpu", setting.cpu},
          {"weights_bytes", setting.weightsBytes},
          {"weights_memory", setting.memory},
          {"processors", setting.processors},
          {"f32_instructions", setting.f32Instructions},
          {"int8_instructions", setting.int8Instructions}};
}

Json rowPart(const Row &row, const std::vector<Row> &rows, bool withCosts) {
  Json part = Json::object();
  if (row.key.isPrefill) {
    part["prompt_len"] = row.key.promptLength;
  } else {
    part["depth"] = row.key.depth;
    part["batch"] = row.key.batch;
    part["gen"] = row.key.generated;
  }
  part["threads"] = row.key.threads;
  part["tokens_per_s"] = spreadPart(row.rate);
  part["seconds"] = spreadPart(row.seconds);
  part["step_p50_s"] = row.step50;
  part["step_p99_s"] = row.step99;
  part["kept"] = row.kept;
  part["discarded"] = row.discarded;
  part["runs_tokens_per_s"] = row.rates;
  part["bytes"] = row.work.bytes;
  part["kv_bytes"] = row.work.kvBytes;
  part["f32_operations"] = row.work.f32;
  part["int8_operations"] = row.work.int8;
  const auto share = [&](double value) { return row.knowsWork ? Json(value) : Json(); };
  part["share_of_read"] = share(row.ofRead);
  part["share_of_peak"] = share(row.ofPeak);
  part["share_of_bound"] = share(row.ofBound);
  part["linears_share_of_peak"] = share(row.linearsOfPeak);
  const Relations relations = relationsOf(row, rows);
  const auto known = [](const std::optional<double> &value) {
    return value ? Json(*value) : Json();
  };
  if (!row.key.isPrefill) {
    part["extra_step_s"] = known(relations.extraSeconds);
    part["extra_over_kv_read"] = known(relations.extraOverRead);
    part["of_batch_1"] = known(relations.ofBatchOne);
  }
  part["ceilings"] = {{"read_bytes_per_s", row.ceilings.read},
                      {"read_streams", row.ceilings.streams},
                      {"read_weights_bytes_per_s", row.ceilings.readWeights},
                      {"f32_operations_per_s", row.ceilings.f32},
                      {"int8_operations_per_s", row.ceilings.int8}};
  part["commands"] = row.boundaries.commands;
  part["between_commands_s"] = row.boundaries.seconds;
  if (withCosts) {
    part["per_op"] = Json::array();
    for (const CommandCost &cost : row.costs)
      part["per_op"].push_back(costPart(cost));
  }
  return part;
}

} // namespace llmc::tool
