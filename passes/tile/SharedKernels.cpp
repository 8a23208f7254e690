// SPDX-License-Identifier: Apache-2.0
//
// A region's key: its ops in order, with numbers in place of values and symbols.
#include "passes/tile/SharedKernels.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

/// Attention and rope also look at what made their caches and rows.
static bool standsAlone(KernelKind kind) {
  return kind == KernelKind::Linear || kind == KernelKind::RowWise;
}

template <typename T> static size_t numberOf(const T &item, SmallVectorImpl<T> &items) {
  auto found = llvm::find(items, item);
  if (found == items.end())
    found = items.insert(found, item);
  return size_t(found - items.begin());
}

SharedKernels::Key SharedKernels::keyOf(FusedOp region, KernelKind kind) {
  Key key;
  llvm::raw_string_ostream text(key.text);
  text << stringify(kind) << ' ' << region.getScheduleAttr();
  SmallVector<Value> inside;
  for (Operation &op : region.getBody().front()) {
    text << '\n' << op.getName();
    for (NamedAttribute attribute : op.getAttrs()) {
      text << ' ' << attribute.getName().getValue() << '=';
      if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue())) {
        WeightOp weight = lookupWeight(&op, symbol);
        text << '@' << numberOf(symbol, key.symbols) << ':' << (weight ? Type(weight.getType()) : Type());
      } else {
        text << attribute.getValue();
      }
    }
    for (Value operand : op.getOperands()) {
      bool made = llvm::is_contained(inside, operand);
      text << (made ? " %" : " $") << numberOf(operand, made ? inside : key.values) << ':' << operand.getType();
    }
    for (OpResult result : op.getResults()) {
      inside.push_back(result);
      text << " -> " << result.getType();
    }
  }
  return key;
}

std::optional<Launch> SharedKernels::find(FusedOp region, KernelKind kind, OpBuilder &graph,
                                          FlatSymbolRefAttr &kernel) {
  if (!standsAlone(kind))
    return std::nullopt;
  Key key = keyOf(region, kind);
  auto found = entries.find(key.text);
  if (found == entries.end())
    return std::nullopt;
  const Entry &entry = found->second;
  kernel = entry.kernel;
  Launch launch = entry.launch;
  for (const Operand &operand : entry.operands) {
    Value value = operand.view ? Value() : key.values[operand.index];
    if (operand.view)
      value = tile::WeightOp::create(graph, region.getLoc(), operand.view, key.symbols[operand.index]);
    launch.operands.push_back(value);
  }
  for (unsigned result : entry.replaced)
    launch.replaced.push_back(region.getResult(result));
  return launch;
}

void SharedKernels::keep(FusedOp region, KernelKind kind, const Launch &launch, FlatSymbolRefAttr kernel) {
  if (!standsAlone(kind))
    return;
  Key key = keyOf(region, kind);
  Entry entry;
  entry.kernel = kernel;
  entry.launch = launch;
  entry.launch.operands.clear();
  entry.launch.replaced.clear();
  for (Value operand : launch.operands) {
    auto weight = operand.getDefiningOp<tile::WeightOp>();
    entry.operands.push_back(weight ? Operand{weight.getType(), numberOf(weight.getWeightAttr(), key.symbols)}
                                    : Operand{Type(), numberOf(operand, key.values)});
  }
  for (Value result : launch.replaced)
    entry.replaced.push_back(cast<OpResult>(result).getResultNumber());
  entries[key.text] = std::move(entry);
}
