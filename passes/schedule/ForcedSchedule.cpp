// SPDX-License-Identifier: Apache-2.0
//
// Schedule fields forced by the user.
#include "passes/schedule/ForcedSchedule.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

/// The fields of a schedule by name, in the order of the attribute.
constexpr const char *kFields[] = {"lanes",  "k_split", "kv_chunk", "row_tile",
                                   "panels", "across",  "k_tile",   "chunk"};

SmallVector<int64_t> valuesOf(ScheduleAttr s) {
  return {s.getLanes(),  s.getKSplit(), s.getKvChunk(), s.getRowTile(),
          s.getPanels(), s.getAcross(), s.getKTile(),   s.getChunk()};
}

bool isGraph(StringRef word) { return word == "prefill" || word == "decode" || word == "verify"; }

} // namespace

bool llmc::fixesTree(StringRef field) {
  return field == "lanes" || field == "k_split" || field == "kv_chunk";
}

bool llmc::parseForced(StringRef text, SmallVectorImpl<ForcedField> &fields, std::string &error) {
  SmallVector<StringRef> entries;
  text.split(entries, ',', -1, /*KeepEmpty=*/false);
  for (StringRef entry : entries) {
    ForcedField forced;
    forced.text = entry.trim().str();
    auto [place, value] = StringRef(forced.text).split('=');
    SmallVector<StringRef> parts;
    place.split(parts, ':');
    forced.field = parts.pop_back_val().str();
    if (!llvm::is_contained(kFields, StringRef(forced.field)) ||
        value.getAsInteger(10, forced.value) || parts.size() > 2) {
      SmallVector<StringRef> names(std::begin(kFields), std::end(kFields));
      error = "schedule '" + forced.text +
              "': expected [graph:][kind or region:]field=number, with field one of " +
              llvm::join(ArrayRef<StringRef>(names), ", ");
      return false;
    }
    if (!parts.empty() && isGraph(parts.front())) {
      forced.graph = parts.front().str();
      parts.erase(parts.begin());
    }
    if (parts.size() > 1) {
      error = "schedule '" + forced.text + "': '" + parts.front().str() +
              "' is no graph, expected prefill, decode or verify";
      return false;
    }
    if (!parts.empty())
      forced.selector = parts.front().str();
    if (fixesTree(forced.field) && !forced.graph.empty()) {
      error = "schedule '" + forced.text + "': " + forced.field +
              " fixes a reduction tree, which is the same in every graph; leave the graph out";
      return false;
    }
    fields.push_back(forced);
  }
  return true;
}

ScheduleAttr llmc::applyForced(FusedOp region, ScheduleAttr schedule,
                               ArrayRef<ForcedField> fields) {
  auto function = region->getParentOfType<FunctionOpInterface>();
  auto graph = function ? function->getAttrOfType<StringAttr>(kGraphAttrName) : StringAttr();
  SmallVector<int64_t> values = valuesOf(schedule);
  for (const ForcedField &forced : fields) {
    bool sameGraph = forced.graph.empty() || (graph && graph.getValue() == forced.graph);
    bool sameRegion = forced.selector.empty() || forced.selector == stringify(kindOf(region)) ||
                      forced.selector == region.getName();
    if (!sameGraph || !sameRegion)
      continue;
    values[llvm::find(kFields, StringRef(forced.field)) - std::begin(kFields)] = forced.value;
    forced.used = true;
  }
  return ScheduleAttr::getChecked([&] { return region.emitError(); }, region.getContext(),
                                  values[0], values[1], values[2], values[3], values[4], values[5],
                                  values[6], values[7]);
}
