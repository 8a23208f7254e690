// SPDX-License-Identifier: Apache-2.0
//
// Row-wise kernels: embedding, norm, gather, sum, activated product, alone or fused. One program a
// line.
#include "passes/graph/Regions.h"
#include "passes/tile/GroupBody.h"
#include <numeric>

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

/// The table in groups that the region's embedding reads; null where there is none.
static WeightOp groupTable(FusedOp region) {
  auto embed = graph::findIn<EmbedOp>(region);
  WeightOp table = embed ? lookupWeight(embed, embed.getTableAttr()) : WeightOp();
  return table && table.getType().getGroups() ? table : WeightOp();
}

/// Groups are dealt with whole: a rounding is the last thing in its region, a table in groups the
/// only one.
static LogicalResult checkGroups(KernelBuilder &k) {
  auto yield = k.region.getBody().front().getTerminator();
  for (auto rounding : k.region.getBody().front().getOps<QuantizeOp>())
    if (rounding.getResult() != yield->getOperand(0))
      return rounding.emitError() << "no row-wise kernel goes on with a quantised row, expected "
                                     "it to be what the region yields";
  WeightOp table = groupTable(k.region);
  if (table && !graph::holdsOnly<EmbedOp>(k.region))
    return k.region.emitError() << "no row-wise kernel fuses an embedding in groups, expected it "
                                   "alone in its region";
  if (table && !table.getType().getLayout().getPanelRows())
    return k.region.emitError() << "expects table @" << table.getSymName()
                                << " of groups in panels, found row-major";
  return success();
}

LogicalResult tiles::buildRowWise(KernelBuilder &k) {
  auto yield = k.region.getBody().front().getTerminator();
  for (Operation &op : k.region.getBody().front().without_terminator())
    if (!isa<EmbedOp, GatherRowsOp, RMSNormOp, AddOp, ActivateOp, SplitOp, QuantizeOp, AttentionMergeOp>(op))
      return op.emitError() << "no row-wise kernel holds '" << op.getName() << "'";
  if (yield->getNumOperands() != 1)
    return k.region.emitError() << "expects one result of a row-wise region, found "
                                << yield->getNumOperands();
  Value result = yield->getOperand(0);
  if (!isa<RankedTensorType>(result.getType()))
    return k.region.emitError() << "expects a tensor of a row-wise region, found "
                                << result.getType();
  for (Operation &op : k.region.getBody().front())
    if (auto norm = dyn_cast<RMSNormOp>(op); norm && norm.getGroups() != 1)
      return norm.emitError() << "no row-wise kernel holds a norm of heads, found "
                              << norm.getGroups() << " groups";
  if (failed(checkGroups(k)))
    return failure();
  if (result.getDefiningOp<QuantizeOp>())
    return buildQuantize(k);
  if (groupTable(k.region))
    return buildGroupEmbed(k);
  int64_t width = widthOf(result.getType()), lanes = k.schedule.getLanes();
  if (auto merge = graph::findIn<AttentionMergeOp>(k.region)) // heads are merged tile by tile
    lanes = std::gcd(lanes, merge.getPartialRow().value);
  k.launch.extent =
      lineOf(result.getType()) == Line::Output ? tile::Extent::Outputs : tile::Extent::Rows;
  Value line = k.programId(tile::Axis::Line);
  RowBody rows(k);
  rows.prepare(result, line);
  Value target = k.output(result);
  k.columns(width, lanes, {}, [&](Value column, Value valid, ValueRange) {
    k.store(rows.tileOf(result, line, column, lanes, valid), target, {line, column}, valid);
    return SmallVector<Value>();
  });
  return success();
}
