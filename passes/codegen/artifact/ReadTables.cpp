// SPDX-License-Identifier: Apache-2.0
// Module level: sizes, limits, weights and caches. ReadGraph.cpp reads the graphs.
#include "passes/codegen/artifact/ReadTables.h"
#include "dialects/llm/WeightFormat.h"
#include "dialects/tile/TileDialect.h"
#include "passes/codegen/artifact/Panels.h"
#include "passes/codegen/artifact/ReadGraph.h"

using namespace mlir;

namespace llmc::artifact {
namespace {

/// The packer holds a panel in memory, so an edited module must not ask for an absurd one.
constexpr int64_t kMaxPanelRows = 4096;

LogicalResult readBytes(ModuleOp module, StringRef name, uint64_t &bytes) {
  auto attribute = module->getAttrOfType<IntegerAttr>(name);
  if (!attribute || attribute.getInt() < 0)
    return module.emitOpError() << "has no attribute '" << name
                                << "' with bytes, expected one from the memory stage";
  bytes = uint64_t(attribute.getInt());
  return success();
}

LogicalResult readLimit(ModuleOp module, DictionaryAttr limits, StringRef name, uint32_t &limit) {
  auto attribute = limits.getAs<IntegerAttr>(name);
  if (!attribute || attribute.getInt() < 0 || attribute.getInt() > INT32_MAX)
    return module.emitOpError() << "has no '" << name
                                << "' in 'llm.limits', expected a number from 0 to " << INT32_MAX;
  limit = uint32_t(attribute.getInt());
  return success();
}

LogicalResult readLimits(ModuleOp module, Limits &limits) {
  auto attributes = module->getAttrOfType<DictionaryAttr>("llm.limits");
  if (!attributes)
    return module.emitOpError() << "has no attribute 'llm.limits', expected the model's limits";
  if (failed(readLimit(module, attributes, "hidden", limits.hidden)) ||
      failed(readLimit(module, attributes, "vocabulary", limits.vocabulary)) ||
      failed(readLimit(module, attributes, "layers", limits.layers)) ||
      failed(readLimit(module, attributes, "max_positions", limits.maxPositions)) ||
      failed(readLimit(module, attributes, "max_sequences", limits.maxSequences)))
    return failure();
  auto eos = attributes.getAs<DenseI32ArrayAttr>("eos");
  if (!eos)
    return module.emitOpError() << "has no 'eos' in 'llm.limits', expected array<i32: ...>";
  limits.eos.assign(eos.asArrayRef().begin(), eos.asArrayRef().end());
  return success();
}

/// Bytes that the packing needs; nothing where they do not fit 63 bits.
std::optional<uint64_t> bytesOf(const PackedWeight &weight) {
  uint64_t panel = std::max<uint64_t>(weight.panelRows, 1);
  unsigned __int128 rows =
      (weight.rows + panel - 1) / panel * static_cast<unsigned __int128>(panel);
  if (rows * weight.columns >> 60)
    return std::nullopt;
  return packedBytes(weight.format, weight.rows, weight.columns, weight.panelRows);
}

LogicalResult readFormat(tile::PackedOp op, PackedWeight &weight) {
  Type element = op.getElement();
  if (!isa<llm::GroupType, Float32Type, Float16Type, BFloat16Type>(element))
    return op.emitOpError() << "has elements of " << element
                            << ", expected f32, f16, bf16 or !llm.group";
  weight.format = llm::formatOf(element);
  if (weight.format.groups && (weight.columns % model::groupSize || !weight.panelRows))
    return op.emitOpError() << "keeps " << weight.columns << " columns in groups with panel_rows "
                            << weight.panelRows << ", expected a multiple of "
                            << model::groupSize << " columns in panels";
  return success();
}

LogicalResult readSource(tile::PackedOp op, PackedWeight &weight) {
  if (bool(op.getSources()) == bool(op.getComputed()))
    return op.emitOpError() << "expects either sources or a computed table, found "
                            << (op.getSources() ? "both" : "neither");
  if (op.getSources()) {
    for (auto source : op.getSources()->getAsRange<StringAttr>())
      weight.sources.push_back(source.getValue().str());
    if (weight.sources.empty())
      return op.emitOpError() << "has an empty list of sources, expected at least one";
    weight.name = llvm::join(weight.sources, "+");
    return success();
  }
  auto table = dyn_cast<llm::RopeTableAttr>(*op.getComputed());
  if (!table)
    return op.emitOpError() << "is computed by " << *op.getComputed()
                            << ", expected #llm.rope_table";
  ArrayRef<float> frequencies = table.getFrequencies().asArrayRef();
  if (weight.columns != 2 * frequencies.size() || weight.panelRows ||
      !(weight.format == model::Format()))
    return op.emitOpError() << "expects a row-major table of f32 and " << 2 * frequencies.size()
                            << " columns, found " << weight.columns << " columns and panel_rows "
                            << weight.panelRows;
  weight.computed = RopeTable{{frequencies.begin(), frequencies.end()},
                              float(table.getMagnitude().getValueAsDouble())};
  weight.name = op.getSymName().str();
  return success();
}

LogicalResult readWeight(tile::PackedOp op, Tables &tables) {
  auto rows = int64_t(op.getRows()), columns = int64_t(op.getColumns()),
       panelRows = int64_t(op.getPanelRows());
  auto offset = int64_t(op.getOffset()), packed = int64_t(op.getBytes());
  if (rows <= 0 || columns <= 0 || panelRows < 0 || offset < 0 || packed <= 0)
    return op.emitOpError() << "expects positive rows, columns and bytes and no negative place";
  if (panelRows > kMaxPanelRows)
    return op.emitOpError() << "has panels of " << panelRows << " rows, expected at most "
                            << kMaxPanelRows;
  PackedWeight weight;
  weight.rows = uint64_t(rows);
  weight.columns = uint64_t(columns);
  weight.panelRows = uint64_t(panelRows);
  weight.offset = uint64_t(offset);
  weight.bytes = uint64_t(packed);
  if (failed(readFormat(op, weight)))
    return failure();
  std::optional<uint64_t> bytes = bytesOf(weight);
  if (!bytes || weight.bytes != *bytes)
    return op.emitOpError() << "occupies " << weight.bytes << " bytes, expected "
                            << bytes.value_or(0) << " for its shape and panels";
  if (weight.offset % LLMC_WEIGHT_ALIGNMENT || weight.offset < tables.weightsBytes ||
      weight.offset > uint64_t(1) << 62)
    return op.emitOpError() << "lies at " << weight.offset << ", expected a multiple of "
                            << LLMC_WEIGHT_ALIGNMENT
                            << " that is not below the end of the weight before it ("
                            << tables.weightsBytes << ")";
  if (failed(readSource(op, weight)))
    return failure();
  if (weight.computed && weight.rows < tables.limits.maxPositions)
    return op.emitOpError() << "has angles of " << weight.rows << " positions, expected as many as 'max_positions' in 'llm.limits' ("
                            << tables.limits.maxPositions << ")";
  tables.weightsBytes = weight.offset + weight.bytes;
  tables.weights.push_back(std::move(weight));
  return success();
}

LogicalResult readCache(tile::PlacedCacheOp op, Tables &tables) {
  tile::KVType type = op.getType();
  Cache cache;
  cache.name = op.getSymName().str();
  cache.heads = uint32_t(type.getHeads());
  cache.keyWidth = uint32_t(type.getKey());
  cache.valueWidth = uint32_t(type.getValue());
  cache.tokenMajor = type.getTokenMajor();
  cache.element = type.hasCodes() ? LLMC_I8 : type.getElement().isBF16() ? LLMC_BF16 : LLMC_F32;
  cache.offset = uint64_t(op.getOffset());
  cache.keyBytes = uint64_t(type.getKeyBytes());
  cache.valueBytes = uint64_t(type.getValueBytes());
  if (uint64_t(type.getBlock()) != tables.chunkBytes)
    return op.emitOpError() << "has blocks of " << type.getBlock()
                            << " bytes, expected 'llm.chunk_bytes' (" << tables.chunkBytes << ")";
  uint64_t bytes = cache.keyBytes + cache.valueBytes;
  if (int64_t(op.getOffset()) < 0 || cache.offset > tables.chunkBytes ||
      bytes > tables.chunkBytes - cache.offset)
    return op.emitOpError() << "needs " << bytes << " bytes at " << op.getOffset()
                            << ", expected them inside a block of " << tables.chunkBytes;
  tables.caches.push_back(std::move(cache));
  return success();
}

/// Weights in the order of their places, whatever order the module lists them in.
SmallVector<tile::PackedOp> packedByOffset(ModuleOp module) {
  SmallVector<tile::PackedOp> ops(module.getOps<tile::PackedOp>());
  llvm::sort(ops, [](tile::PackedOp a, tile::PackedOp b) { return a.getOffset() < b.getOffset(); });
  return ops;
}

} // namespace

FailureOr<Tables> readTables(ModuleOp module) {
  Tables tables;
  if (failed(readBytes(module, "llm.rows_arena_bytes", tables.rowsArenaBytes)) ||
      failed(readBytes(module, "llm.outputs_arena_bytes", tables.outputsArenaBytes)) ||
      failed(readBytes(module, "llm.chunk_bytes", tables.chunkBytes)) ||
      failed(readLimits(module, tables.limits)))
    return failure();
  Places places;
  for (tile::PackedOp op : packedByOffset(module)) {
    places.weights[op.getSymNameAttr()] = uint32_t(tables.weights.size());
    if (failed(readWeight(op, tables)))
      return failure();
  }
  for (auto op : module.getOps<tile::PlacedCacheOp>()) {
    places.caches[op.getSymNameAttr()] = uint32_t(tables.caches.size());
    if (failed(readCache(op, tables)))
      return failure();
  }
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(llm::kGraphAttrName) && failed(readGraph(function, places, tables)))
      return failure();
  if (tables.graphs.empty())
    return module.emitOpError() << "has no function with attribute '" << llm::kGraphAttrName
                                << "', expected at least one graph";
  return tables;
}

} // namespace llmc::artifact
