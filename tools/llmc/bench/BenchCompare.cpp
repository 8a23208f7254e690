// SPDX-License-Identifier: Apache-2.0
// `llmc bench --compare A.json B.json`: rows of the same name side by side.
#include "tools/llmc/bench/BenchCompare.h"
#include "tools/llmc/Format.h"
#include "tools/llmc/TokenIds.h"
#include "tools/llmc/bench/Report.h"
#include <cmath>
#include <nlohmann/json.hpp>

namespace llmc::tool {
namespace {

bool isNumber(const Json &object, const char *key) {
  return object.is_object() && object.contains(key) && object[key].is_number() &&
         std::isfinite(object[key].get<double>());
}

bool readSpread(const Json &json, Spread &spread) {
  const struct {
    const char *key;
    double *value;
  } fields[] = {{"median", &spread.median},
                {"q1", &spread.q1},
                {"q3", &spread.q3},
                {"min", &spread.least},
                {"max", &spread.most}};
  for (const auto &field : fields) {
    if (!isNumber(json, field.key))
      return false;
    *field.value = json[field.key].get<double>();
  }
  return spread.median > 0;
}

// "prefill 128, 2 threads"; the keys that tell rows apart.
std::string nameOf(const char *phase, const Json &row) {
  std::string name = phase;
  for (const char *key : {"prompt_len", "depth", "batch", "gen", "threads"})
    if (isNumber(row, key))
      name += formatted(", %s %.0f", key, row[key].get<double>());
  return name;
}

bool readRows(const Json &json, std::vector<ComparedRow> &rows) {
  for (const char *phase : {"prefill", "decode"}) {
    if (!json.contains(phase) || !json[phase].is_array())
      return false;
    for (const Json &row : json[phase]) {
      ComparedRow read;
      if (!row.is_object() || !row.contains("tokens_per_s") ||
          !readSpread(row["tokens_per_s"], read.rate))
        return false;
      read.name = nameOf(phase, row);
      rows.push_back(std::move(read));
    }
  }
  return true;
}

Result<std::vector<ComparedRow>> readFile(const std::string &path) {
  Result<std::string> text = readSmallFile(path, "what llmc bench --json wrote");
  if (!text)
    return text.takeError();
  const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !isNumber(json, "schema"))
    return errorAt(path, "", "found no JSON with a schema, expected what llmc bench --json wrote");
  if (json["schema"] != kSchema)
    return errorAt(path, "schema",
                   formatted("found %.0f, expected %d; measure again with this llmc",
                             json["schema"].get<double>(), kSchema));
  std::vector<ComparedRow> rows;
  if (!readRows(json, rows))
    return errorAt(path, rows.empty() ? "" : "after " + rows.back().name,
                   "found no row with tokens_per_s, expected what llmc bench --json wrote");
  return rows;
}

const ComparedRow *find(const std::vector<ComparedRow> &rows, const std::string &name) {
  for (const ComparedRow &row : rows)
    if (row.name == name)
      return &row;
  return nullptr;
}

std::string cell(const ComparedRow *row) { return row ? formatted("%.1f", row->rate.median) : "-"; }
std::string quartiles(const ComparedRow *row) {
  return row ? formatted("%.1f..%.1f", row->rate.q1, row->rate.q3) : "-";
}

} // namespace

const char *verdict(const Spread &first, const Spread &second) {
  if (second.q1 > first.q3)
    return "faster";
  if (second.q3 < first.q1)
    return "slower";
  return "";
}

Status compareBenches(const std::string &first, const std::string &second) {
  Result<std::vector<ComparedRow>> a = readFile(first), b = readFile(second);
  if (!a)
    return a.takeError();
  if (!b)
    return b.takeError();
  std::vector<std::string> names;
  for (const std::vector<ComparedRow> *rows : {&*a, &*b})
    for (const ComparedRow &row : *rows)
      if (std::find(names.begin(), names.end(), row.name) == names.end())
        names.push_back(row.name);
  if (names.empty())
    return errorAt(first, "", "found no row of a prefill or a decode, nor in the other file, expected what 'llmc bench --json' writes without --start");
  Table table({"row", ">A tok/s", ">quartiles", ">B tok/s", ">quartiles", ">B/A", "outside"});
  for (const std::string &name : names) {
    const ComparedRow *left = find(*a, name), *right = find(*b, name);
    const bool both = left && right;
    table.add({escaped(name), cell(left), quartiles(left), cell(right), quartiles(right),
               both ? formatted("%.3f", right->rate.median / left->rate.median) : "-",
               both ? verdict(left->rate, right->rate) : ""});
  }
  print("A " + escaped(first, 4096) + "\nB " + escaped(second, 4096) + "\n\n" + table.text() +
        "\noutside: the quartiles of A and B do not overlap\n");
  return finishOutput();
}

} // namespace llmc::tool
