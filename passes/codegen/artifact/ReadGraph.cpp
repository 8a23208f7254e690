// SPDX-License-Identifier: Apache-2.0
// Reads a graph function op by op: places become operands (equal ones share an entry), launches
// become commands, results point at operands.
#include "passes/codegen/artifact/ReadGraph.h"
#include "dialects/llm/LLMDialect.h"
#include "dialects/tile/TileDialect.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>
#include <tuple>

using namespace mlir;

namespace llmc::artifact {
namespace {

// The command table's numbers are abi.h's, the IR's are the dialect's: they are the same.
static_assert(int(tile::Extent::One) == LLMC_EXTENT_ONE &&
              int(tile::Extent::Rows) == LLMC_EXTENT_ROWS &&
              int(tile::Extent::Outputs) == LLMC_EXTENT_OUTPUTS &&
              int(tile::Extent::Sequences) == LLMC_EXTENT_SEQUENCES);
static_assert(int(tile::ResultKind::Logits) == LLMC_RESULT_LOGITS &&
              int(tile::ResultKind::Accepted) == LLMC_RESULT_ACCEPTED);

constexpr size_t kMaxOperandEntries = size_t(UINT16_MAX) + 1;

class GraphReader {
public:
  GraphReader(Places &places, Tables &tables) : places(places), tables(tables) {}

  LogicalResult read(func::FuncOp function);
  Graph take() { return std::move(graph); }

private:
  LogicalResult readKind(func::FuncOp function);
  LogicalResult readOp(Operation &op);
  LogicalResult readSlice(tile::SliceOp op);
  LogicalResult readWeight(tile::WeightOp op);
  LogicalResult readCache(tile::CacheOp op);
  LogicalResult readLaunch(tile::LaunchOp op);
  LogicalResult readResult(tile::ResultOp op);
  LogicalResult checkLaunch(tile::LaunchOp op);

  LogicalResult addOperand(Operation *op, llmc_operand operand);
  FailureOr<uint16_t> operandOf(Operation *user, Value value);
  uint32_t nameOffset(StringRef name);
  uint32_t kernelNumber(FlatSymbolRefAttr symbol);
  uint64_t extentLimit(tile::Extent extent) const;

  Places &places;
  Tables &tables;
  Graph graph;
  DenseMap<Value, uint16_t> operands;
  std::map<std::tuple<uint32_t, uint32_t, uint64_t, uint64_t>, uint16_t> entries;
  llvm::StringMap<uint32_t> names;
};

LogicalResult GraphReader::readKind(func::FuncOp function) {
  auto name = function->getAttrOfType<StringAttr>(llm::kGraphAttrName);
  std::optional<llmc_graph_kind> kind;
  if (name)
    kind = llvm::StringSwitch<std::optional<llmc_graph_kind>>(name.getValue())
               .Case("prefill", LLMC_GRAPH_PREFILL)
               .Case("decode", LLMC_GRAPH_DECODE)
               .Case("verify", LLMC_GRAPH_VERIFY)
               .Default(std::nullopt);
  if (!kind)
    return function.emitOpError() << "has '" << llm::kGraphAttrName
                                  << "' = " << function->getAttr(llm::kGraphAttrName)
                                  << R"(, expected "prefill", "decode" or "verify")";
  if (llvm::any_of(tables.graphs, [&](const Graph &other) { return other.kind == *kind; }))
    return function.emitOpError() << "is a second graph " << name << ", expected one of each";
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "has " << function.getBody().getBlocks().size()
                                  << " blocks, expected a graph of one";
  graph.kind = *kind;
  return success();
}

LogicalResult GraphReader::read(func::FuncOp function) {
  if (failed(readKind(function)))
    return failure();
  for (Operation &op : function.getBody().front())
    if (failed(readOp(op)))
      return failure();
  if (graph.commands.empty() || graph.results.empty())
    return function.emitOpError() << "has " << graph.commands.size() << " launches and "
                                  << graph.results.size()
                                  << " results, expected at least one of each";
  return success();
}

LogicalResult GraphReader::readOp(Operation &op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](tile::SliceOp slice) { return readSlice(slice); })
      .Case([&](tile::WeightOp weight) { return readWeight(weight); })
      .Case([&](tile::CacheOp cache) { return readCache(cache); })
      .Case([&](tile::LaunchOp launch) { return readLaunch(launch); })
      .Case([&](tile::ResultOp result) { return readResult(result); })
      .Case([&](func::ReturnOp) { return success(); })
      .Default([](Operation *other) {
        return other->emitOpError() << "is not allowed in a graph after the memory stage, expected "
                                       "places, launches and results";
      });
}

LogicalResult GraphReader::addOperand(Operation *op, llmc_operand operand) {
  auto key = std::make_tuple(operand.kind, operand.index, operand.offset, operand.line_bytes);
  auto found = entries.find(key);
  if (found == entries.end()) {
    if (graph.operands.size() == kMaxOperandEntries)
      return op->emitOpError() << "is operand " << graph.operands.size() + 1
                               << " of its graph, expected at most " << kMaxOperandEntries;
    found = entries.emplace(key, uint16_t(graph.operands.size())).first;
    graph.operands.push_back(operand);
  }
  operands[op->getResult(0)] = found->second;
  return success();
}

LogicalResult GraphReader::readSlice(tile::SliceOp op) {
  bool rows = op.getArena() == tile::Extent::Rows;
  uint64_t arena = rows ? tables.rowsArenaBytes : tables.outputsArenaBytes;
  uint64_t offset = uint64_t(op.getOffset()),
           bytes = uint64_t(op.getResult().getType().getLineBytes());
  if (offset > arena || bytes > arena - offset)
    return op.emitOpError() << "needs " << bytes << " bytes a line at " << offset
                            << ", expected them inside an arena of " << arena;
  return addOperand(op,
                    {uint32_t(rows ? LLMC_OPERAND_ROWS : LLMC_OPERAND_OUTPUTS), 0, offset, bytes});
}

LogicalResult GraphReader::readWeight(tile::WeightOp op) {
  auto found = places.weights.find(op.getWeightAttr().getAttr());
  if (found == places.weights.end())
    return op.emitOpError() << "names " << op.getWeightAttr()
                            << ", expected a tile.packed of that name";
  const PackedWeight &weight = tables.weights[found->second];
  uint64_t bytes = uint64_t(op.getResult().getType().getLineBytes());
  if (bytes > weight.bytes)
    return op.emitOpError() << "views " << bytes << " bytes of " << op.getWeightAttr()
                            << ", expected at most its " << weight.bytes;
  return addOperand(op, {LLMC_OPERAND_WEIGHT, found->second, weight.offset, weight.bytes});
}

LogicalResult GraphReader::readCache(tile::CacheOp op) {
  auto found = places.caches.find(op.getCacheAttr().getAttr());
  if (found == places.caches.end())
    return op.emitOpError() << "names " << op.getCacheAttr()
                            << ", expected a tile.placed_cache of that name";
  const Cache &cache = tables.caches[found->second];
  return addOperand(
      op, {LLMC_OPERAND_KV, found->second, cache.offset, cache.keyBytes + cache.valueBytes});
}

FailureOr<uint16_t> GraphReader::operandOf(Operation *user, Value value) {
  auto found = operands.find(value);
  if (found != operands.end())
    return found->second;
  return user->emitOpError() << "uses a value of type " << value.getType()
                             << " that is no place, expected a slice, a weight or a cache";
}

uint32_t GraphReader::nameOffset(StringRef name) {
  auto [entry, isNew] = names.try_emplace(name, uint32_t(graph.names.size()));
  if (isNew) {
    graph.names += name;
    graph.names += '\0';
  }
  return entry->second;
}

uint32_t GraphReader::kernelNumber(FlatSymbolRefAttr symbol) {
  auto [entry, isNew] =
      places.kernels.try_emplace(symbol.getAttr(), uint32_t(tables.kernels.size()));
  if (isNew)
    tables.kernels.push_back(symbol.getValue().str());
  return entry->second;
}

/// The most that one sequence, or all of them with a line each, can make of an extent.
uint64_t GraphReader::extentLimit(tile::Extent extent) const {
  if (extent == tile::Extent::One)
    return 1;
  return std::max<uint64_t>(1, extent == tile::Extent::Sequences ? tables.limits.maxSequences
                                                                 : tables.limits.maxPositions);
}

LogicalResult GraphReader::checkLaunch(tile::LaunchOp op) {
  uint64_t limit = extentLimit(op.getExtent());
  auto inner = int64_t(op.getInner()), chunk = int64_t(op.getChunk());
  int64_t dependency = int64_t(op.getDependency().value_or(INT64_MIN)),
          before = int64_t(graph.commands.size());
  if (op.getNumResults())
    return op.emitOpError() << "has " << op.getNumResults()
                            << " results, expected places for all of them from the memory stage";
  if (op.getOperands_().size() > LLMC_MAX_OPERANDS)
    return op.emitOpError() << "has " << op.getOperands_().size() << " operands, expected at most "
                            << LLMC_MAX_OPERANDS;
  if (inner <= 0 || uint64_t(inner) > UINT32_MAX / limit)
    return op.emitOpError() << "has " << inner << " programs for each of up to " << limit
                            << " lines, expected fewer than 2^32 programs in all";
  if (chunk <= 0 || chunk > int64_t(UINT32_MAX))
    return op.emitOpError() << "has chunks of " << chunk << " programs, expected 1 to "
                            << UINT32_MAX;
  if (dependency < -1 || dependency >= before)
    return op.emitOpError() << "depends on command "
                            << (op.getDependency() ? std::to_string(dependency) : "(unset)")
                            << ", expected -1 to " << before - 1 << " from the memory stage";
  if (op.getName().contains('\0'))
    return op.emitOpError() << "has a NUL byte in its name, expected none";
  return success();
}

LogicalResult GraphReader::readLaunch(tile::LaunchOp op) {
  if (failed(checkLaunch(op)))
    return failure();
  llmc_command command = {};
  command.kernel = kernelNumber(op.getKernelAttr());
  command.first_slot = uint32_t(graph.slots.size());
  command.n_slots = uint16_t(op.getOperands_().size());
  command.extent = uint16_t(op.getExtent());
  command.inner = uint32_t(op.getInner());
  command.programs_per_chunk = uint32_t(op.getChunk());
  command.dependency = int32_t(*op.getDependency());
  command.name = nameOffset(op.getName());
  for (Value value : op.getOperands_()) {
    FailureOr<uint16_t> slot = operandOf(op, value);
    if (failed(slot))
      return failure();
    graph.slots.push_back(*slot);
  }
  graph.commands.push_back(command);
  return success();
}

LogicalResult GraphReader::readResult(tile::ResultOp op) {
  FailureOr<uint16_t> operand = operandOf(op, op.getView());
  if (failed(operand))
    return failure();
  bool isLogits = op.getKind() == tile::ResultKind::Logits;
  uint64_t expected =
      isLogits ? uint64_t(tables.limits.vocabulary) * sizeof(float) : 2 * sizeof(int32_t);
  const llmc_operand &place = graph.operands[*operand];
  if (place.kind != LLMC_OPERAND_OUTPUTS || place.line_bytes != expected)
    return op.emitOpError() << "has " << place.line_bytes
                            << " bytes a line, expected a slice of outputs with " << expected;
  graph.results.push_back({uint32_t(op.getKind()), *operand});
  return success();
}

} // namespace

LogicalResult readGraph(func::FuncOp function, Places &places, Tables &tables) {
  GraphReader reader(places, tables);
  if (failed(reader.read(function)))
    return failure();
  tables.graphs.push_back(reader.take());
  return success();
}

} // namespace llmc::artifact
