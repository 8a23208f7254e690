// SPDX-License-Identifier: Apache-2.0
// The cost table as JSON: a term is [FLOPs, bytes of weights, of activations, of keys and values],
// and is left out where it is zero.
#include "tools/llmc/Explain.h"
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace llmc::tool {
namespace {

using Json = nlohmann::ordered_json;
using cost::operator==;
using cost::CostTerms;
using cost::RegionTerms;
using llm::OpCost;

struct NamedTerm {
  const char *name;
  OpCost CostTerms::*term;
};
constexpr NamedTerm kTerms[] = {
    {"fixed", &CostTerms::fixed},      {"row", &CostTerms::perRow},
    {"output", &CostTerms::perOutput}, {"sequence", &CostTerms::perSequence},
    {"key", &CostTerms::perKey},       {"context", &CostTerms::perContext},
};

Json toJson(const CostTerms &terms) {
  Json json = Json::object();
  for (const NamedTerm &named : kTerms) {
    const OpCost &cost = terms.*named.term;
    if (!(cost == OpCost()))
      json[named.name] = {cost.flops, cost.weightBytes, cost.activationBytes, cost.kvBytes};
  }
  if (terms.window)
    json["window"] = terms.window;
  return json;
}

// Numbers that a table may hold; a damaged one must not print nonsense.
bool isCount(const Json &value) {
  return value.is_number() && std::isfinite(value.get<double>()) &&
         std::fabs(value.get<double>()) < 1e24;
}

bool readTerm(const Json &json, OpCost &cost) {
  if (!json.is_array() || json.size() != 4 || !std::all_of(json.begin(), json.end(), isCount))
    return false;
  cost = {json[0].get<double>(), json[1].get<double>(), json[2].get<double>(),
          json[3].get<double>()};
  return true;
}

bool readTerms(const Json &json, CostTerms &terms) {
  if (!json.is_object())
    return false;
  for (const NamedTerm &named : kTerms)
    if (json.contains(named.name) && !readTerm(json[named.name], terms.*named.term))
      return false;
  if (!json.contains("window"))
    return true;
  terms.window = json["window"].is_number_unsigned() ? json["window"].get<int64_t>() : -1;
  return terms.window > 0;
}

bool readArithmetic(const Json &json, cost::Arithmetic &arithmetic) {
  for (cost::Arithmetic known :
       {cost::Arithmetic::F32, cost::Arithmetic::BF16, cost::Arithmetic::Int8})
    if (json.is_string() && json.get_ref<const std::string &>() == cost::name(known)) {
      arithmetic = known;
      return true;
    }
  return false;
}

bool readRegion(const Json &json, RegionTerms &region) {
  const struct {
    const char *key;
    std::string *text;
  } texts[] = {{"graph", &region.graph}, {"name", &region.name}, {"kind", &region.kind}};
  if (!json.is_object())
    return false;
  for (const auto &field : texts) {
    if (!json.contains(field.key) || !json[field.key].is_string())
      return false;
    *field.text = json[field.key].get<std::string>();
  }
  return json.contains("arithmetic") && readArithmetic(json["arithmetic"], region.arithmetic) &&
         json.contains("terms") && readTerms(json["terms"], region.terms);
}

} // namespace

std::string termsToJson(const std::vector<RegionTerms> &regions) {
  Json rows = Json::array();
  for (const RegionTerms &region : regions)
    rows.push_back({{"graph", region.graph},
                    {"name", region.name},
                    {"kind", region.kind},
                    {"arithmetic", cost::name(region.arithmetic)},
                    {"terms", toJson(region.terms)}});
  return rows.dump();
}

Result<std::vector<RegionTerms>> termsFromJson(std::string_view manifest, const std::string &path) {
  const Json json = Json::parse(manifest, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("cost") || !json["cost"].is_array())
    return errorAt(
        path, "manifest: cost",
        "found no table, expected the one that llmc compile writes; models compiled from "
        "edited IR have none");
  std::vector<RegionTerms> regions;
  for (const Json &row : json["cost"]) {
    regions.emplace_back();
    if (!readRegion(row, regions.back()))
      return errorAt(path, "manifest: cost: " + std::to_string(regions.size() - 1),
                     "found no row of a cost table, expected graph, name, kind, arithmetic and "
                     "terms; compile the model again with this llmc");
  }
  return regions;
}

} // namespace llmc::tool
