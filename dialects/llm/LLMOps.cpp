// SPDX-License-Identifier: Apache-2.0
//
// Verifiers of the `llm` ops. Each error gives what was found and expected; a note points at the other place to blame.
#include "dialects/llm/LLMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace llmc::llm;

/// `silu`: the bare word of an activation.
static ParseResult parseActivationWord(OpAsmParser &parser, ActivationAttr &attr) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  auto activation = symbolizeActivation(word);
  if (!activation)
    return parser.emitError(loc) << "unknown activation '" << word << "', expected silu, gelu_tanh, gelu_erf or relu";
  attr = ActivationAttr::get(parser.getContext(), *activation);
  return success();
}

static void printActivationWord(OpAsmPrinter &printer, Operation *, ActivationAttr attr) {
  printer << stringifyActivation(attr.getValue());
}

#include "LLMInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "LLMOps.cpp.inc"

//===--- Helpers -----------------------------------------------------------------------------------------------------===//

/// Rows of activations as integers with a scale for each group.
static bool isQuantized(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<GroupType>(tensor.getElementType());
}

/// A value of one line each: ?xW of f32.
static LogicalResult verifyLines(Operation *op, StringRef what, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() != 2 || !tensor.isDynamicDim(0) || tensor.isDynamicDim(1) || tensor.getDimSize(1) <= 0 ||
      !tensor.getElementType().isF32())
    return op->emitOpError() << "expects " << what << " of type tensor<?xWxf32>, found " << type;
  Attribute encoding = tensor.getEncoding();
  if (encoding && (!isa<PerAttr>(encoding) || lineOf(type) == Line::Row))
    return op->emitOpError() << "expects " << what << " without encoding or per output or sequence, found " << type;
  return success();
}

static LogicalResult verifyAllLines(Operation *op) {
  for (Type type : op->getOperandTypes())
    if (isa<ShapedType>(type) && failed(verifyLines(op, "an operand", type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (isa<ShapedType>(type) && failed(verifyLines(op, "a result", type)))
      return failure();
  return success();
}

/// The same of `!llm.group<bits = 8>`.
static LogicalResult verifyQuantized(Operation *op, StringRef what, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto groups = tensor ? dyn_cast<GroupType>(tensor.getElementType()) : GroupType();
  if (!groups || groups.getBits() != 8 || groups.getMinimum() || tensor.getRank() != 2 || !tensor.isDynamicDim(0) ||
      tensor.isDynamicDim(1) || tensor.getDimSize(1) <= 0 || tensor.getDimSize(1) % GroupType::kGroup)
    return op->emitOpError() << "expects " << what << " of type tensor<?xWx!llm.group<bits = 8>>, W a multiple of "
                             << GroupType::kGroup << ", found " << type;
  return success();
}

/// Operand and result of a product: a row in f32, or in groups where the weight is in groups too.
static LogicalResult verifyProduct(Operation *op, Type input, Type result) {
  if (failed(isQuantized(input) ? verifyQuantized(op, "an operand", input) : verifyLines(op, "an operand", input)))
    return failure();
  return verifyLines(op, "a result", result);
}

static LogicalResult verifyFactors(Operation *op, SymbolTableCollection &table, FlatSymbolRefAttr symbol, Type input) {
  auto weight = table.lookupNearestSymbolFrom<WeightOp>(op, symbol);
  if (!isQuantized(input) || weight.getType().getGroups())
    return success();
  auto diagnostic = op->emitOpError() << "expects a weight in groups for a quantised row, found " << symbol << " of "
                                      << weight.getType();
  diagnostic.attachNote(weight.getLoc()) << "the weight is declared here";
  return diagnostic;
}

static LogicalResult verifySameLine(Operation *op, Type a, Type b) {
  if (lineOf(a) == lineOf(b))
    return success();
  return op->emitOpError() << "expects operand and result per the same line, found per " << stringifyLine(lineOf(a)) << " and per "
                           << stringifyLine(lineOf(b));
}

/// What reads the step's tokens, positions or slots has a line for each row.
static LogicalResult verifyPerRow(Operation *op, StringRef what, Type type) {
  if (lineOf(type) == Line::Row)
    return success();
  return op->emitOpError() << "expects " << what << " per row, found " << type;
}

/// Looks a weight up and compares its shape; a note points at the weight.
static LogicalResult verifyWeight(Operation *op, SymbolTableCollection &table, FlatSymbolRefAttr symbol, ArrayRef<int64_t> shape,
                                  StringRef role) {
  auto weight = table.lookupNearestSymbolFrom<WeightOp>(op, symbol);
  if (!weight)
    return op->emitOpError() << "names " << role << " " << symbol << ", expected an llm.weight of that name in the module";
  ArrayRef<int64_t> found = weight.getType().getShape();
  bool matches = found.size() == shape.size();
  for (size_t i = 0; matches && i < shape.size(); ++i)
    matches = shape[i] == ShapedType::kDynamic || shape[i] == found[i];
  if (matches)
    return success();
  auto diagnostic = op->emitOpError() << "expects " << role << " " << symbol << " of shape [";
  llvm::interleaveComma(shape, diagnostic, [&](int64_t d) {
    if (d == ShapedType::kDynamic)
      diagnostic << '?';
    else
      diagnostic << d;
  });
  diagnostic << "], found [";
  llvm::interleaveComma(found, diagnostic);
  diagnostic << "]";
  diagnostic.attachNote(weight.getLoc()) << "the weight is declared here";
  return failure();
}

//===--- Symbols -----------------------------------------------------------------------------------------------------===//

LogicalResult WeightOp::verify() {
  if (getSources().has_value() == getComputed().has_value())
    return emitOpError() << "expects either sources or a rule to compute it, found " << (getSources() ? "both" : "neither");
  if (getSources() && getSources()->empty())
    return emitOpError() << "expects at least one source tensor, found an empty list";
  if (getComputed() && !getType().getElementType().isF32())
    return emitOpError() << "expects a computed weight of f32, found " << getType();
  if (auto rope = getComputed()) {
    int64_t width = 2 * int64_t(rope->getFrequencies().size());
    if (getType().getShape().size() != 2 || getType().getColumns() != width)
      return emitOpError() << "expects " << width << " columns for " << width / 2 << " frequencies, found " << getType();
  }
  return success();
}

//===--- Rows --------------------------------------------------------------------------------------------------------===//

LogicalResult EmbedOp::verify() {
  return failure(failed(verifyAllLines(*this)) || failed(verifyPerRow(*this, "a result", getResult().getType())));
}
LogicalResult EmbedOp::verifySymbolUses(SymbolTableCollection &table) {
  return verifyWeight(*this, table, getTableAttr(), {ShapedType::kDynamic, widthOf(getResult().getType())}, "table");
}

LogicalResult GatherRowsOp::verify() {
  if (failed(verifyAllLines(*this)))
    return failure();
  if (lineOf(getInput().getType()) != Line::Row || lineOf(getResult().getType()) != Line::Output)
    return emitOpError() << "expects an operand per row and a result per output, found " << getInput().getType() << " and "
                         << getResult().getType();
  if (widthOf(getInput().getType()) != widthOf(getResult().getType()))
    return emitOpError() << "expects equal widths, found " << widthOf(getInput().getType()) << " and "
                         << widthOf(getResult().getType());
  return success();
}
LogicalResult GatherRowsOp::verifySymbolUses(SymbolTableCollection &) { return success(); }

LogicalResult RMSNormOp::verify() {
  if (failed(verifyAllLines(*this)))
    return failure();
  int64_t width = widthOf(getResult().getType()), groups = getGroups();
  if (groups <= 0 || width % groups)
    return emitOpError() << "expects the row (" << width << ") to be a multiple of groups (" << groups << ")";
  if (!(getEps().convertToFloat() > 0))
    return emitOpError() << "expects eps > 0, found " << getEpsAttr();
  return success();
}
LogicalResult RMSNormOp::verifySymbolUses(SymbolTableCollection &table) {
  return verifyWeight(*this, table, getWeightAttr(), {widthOf(getResult().getType()) / int64_t(getGroups())}, "weight");
}

LogicalResult QuantizeOp::verify() {
  if (failed(verifyLines(*this, "an operand", getInput().getType())) ||
      failed(verifyQuantized(*this, "a result", getResult().getType())) ||
      failed(verifySameLine(*this, getInput().getType(), getResult().getType())))
    return failure();
  if (widthOf(getInput().getType()) != widthOf(getResult().getType()))
    return emitOpError() << "expects equal widths, found " << widthOf(getInput().getType()) << " and "
                         << widthOf(getResult().getType());
  return success();
}
LogicalResult QuantizeOp::verifySymbolUses(SymbolTableCollection &) { return success(); }

LogicalResult LinearOp::verify() {
  if (failed(verifyProduct(*this, getInput().getType(), getResult().getType())))
    return failure();
  return verifySameLine(*this, getInput().getType(), getResult().getType());
}
LogicalResult LinearOp::verifySymbolUses(SymbolTableCollection &table) {
  int64_t rows = widthOf(getResult().getType()), columns = widthOf(getInput().getType());
  if (failed(verifyWeight(*this, table, getWeightAttr(), {rows, columns}, "weight")) ||
      failed(verifyFactors(*this, table, getWeightAttr(), getInput().getType())))
    return failure();
  return getBiasAttr() ? verifyWeight(*this, table, getBiasAttr(), {rows}, "bias") : success();
}

LogicalResult SplitOp::verify() {
  if (failed(verifyAllLines(*this)))
    return failure();
  int64_t sum = 0;
  for (Type part : getParts().getTypes()) {
    if (failed(verifySameLine(*this, getInput().getType(), part)))
      return failure();
    sum += widthOf(part);
  }
  if (sum != widthOf(getInput().getType()))
    return emitOpError() << "expects parts that add up to the row (" << widthOf(getInput().getType()) << "), found " << sum;
  return success();
}
LogicalResult SplitOp::verifySymbolUses(SymbolTableCollection &) { return success(); }

LogicalResult AddOp::verify() { return verifyAllLines(*this); }
LogicalResult AddOp::verifySymbolUses(SymbolTableCollection &) { return success(); }
LogicalResult ActivateOp::verify() { return verifyAllLines(*this); }
LogicalResult ActivateOp::verifySymbolUses(SymbolTableCollection &) { return success(); }

LogicalResult MLPOp::verify() {
  int named = bool(getGateBiasAttr()) + bool(getUpBiasAttr()) + bool(getDownBiasAttr());
  if (named != 0 && named != 3)
    return emitOpError() << "expects no bias or all three, found " << named;
  return verifyAllLines(*this);
}
LogicalResult MLPOp::verifySymbolUses(SymbolTableCollection &table) {
  int64_t width = widthOf(getResult().getType());
  if (failed(verifyWeight(*this, table, getGateAttr(), {ShapedType::kDynamic, width}, "gate")))
    return failure();
  int64_t hidden = table.lookupNearestSymbolFrom<WeightOp>(*this, getGateAttr()).getType().getRows();
  if (failed(verifyWeight(*this, table, getUpAttr(), {hidden, width}, "up")) ||
      failed(verifyWeight(*this, table, getDownAttr(), {width, hidden}, "down")))
    return failure();
  if (!getGateBiasAttr())
    return success();
  return failure(failed(verifyWeight(*this, table, getGateBiasAttr(), {hidden}, "gate bias")) ||
                 failed(verifyWeight(*this, table, getUpBiasAttr(), {hidden}, "up bias")) ||
                 failed(verifyWeight(*this, table, getDownBiasAttr(), {width}, "down bias")));
}

//===--- Attention ---------------------------------------------------------------------------------------------------===//

LogicalResult RopeOp::verify() {
  if (failed(verifyAllLines(*this)) || failed(verifyPerRow(*this, "an operand", getInput().getType())))
    return failure();
  int64_t width = widthOf(getResult().getType()), heads = getHeads();
  if (heads <= 0 || width % heads)
    return emitOpError() << "expects the row (" << width << ") to be a multiple of heads (" << heads << ")";
  if ((width / heads) % 2)
    return emitOpError() << "expects an even head, found width " << width / heads;
  return success();
}
LogicalResult RopeOp::verifySymbolUses(SymbolTableCollection &table) {
  return verifyWeight(*this, table, getTableAttr(), {ShapedType::kDynamic, widthOf(getResult().getType()) / int64_t(getHeads())},
                      "table");
}

LogicalResult KVAppendOp::verify() {
  if (failed(verifyAllLines(*this)) || failed(verifyPerRow(*this, "keys", getKey().getType())) ||
      failed(verifyPerRow(*this, "values", getValue().getType())))
    return failure();
  KVCacheType cache = getResult().getType();
  int64_t key = widthOf(getKey().getType()), value = widthOf(getValue().getType());
  if (key != cache.getHeads() * cache.getKey() || value != cache.getHeads() * cache.getValue())
    return emitOpError() << "expects key and value rows of " << cache.getHeads() * cache.getKey() << " and "
                         << cache.getHeads() * cache.getValue() << ", found " << key << " and " << value;
  return success();
}
LogicalResult KVAppendOp::verifySymbolUses(SymbolTableCollection &table) {
  auto cache = table.lookupNearestSymbolFrom<CacheOp>(*this, getCacheAttr());
  if (!cache)
    return emitOpError() << "names cache " << getCacheAttr() << ", expected an llm.cache of that name in the module";
  if (cache.getType() == getResult().getType())
    return success();
  auto diagnostic = emitOpError() << "expects a result of the cache's type " << cache.getType() << ", found " << getResult().getType();
  diagnostic.attachNote(cache.getLoc()) << "the cache is declared here";
  return diagnostic;
}

LogicalResult KVViewOp::verify() {
  if (getResult().getType().getWindow() < 0)
    return emitOpError() << "expects window >= 0, found " << getResult().getType().getWindow();
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyAllLines(*this)) || failed(verifyPerRow(*this, "queries", getQuery().getType())) ||
      failed(verifyPerRow(*this, "a result", getResult().getType())))
    return failure();
  KVCacheType cache = getView().getType().getCache();
  int64_t heads = getHeads();
  if (heads <= 0 || heads > widthOf(getQuery().getType()) || heads % cache.getHeads()) {
    auto diagnostic = emitOpError() << "expects query heads (" << heads << ") to be a multiple of key/value heads ("
                                    << cache.getHeads() << ")";
    diagnostic.attachNote(getView().getLoc()) << "key/value heads come from the view here";
    return diagnostic;
  }
  if (int64_t(getParts()) < 1)
    return emitOpError() << "expects parts >= 1, found " << int64_t(getParts());
  if (widthOf(getQuery().getType()) != heads * cache.getKey() ||
      (widthOf(getResult().getType()) != heads * cache.getValue() && !leavesParts()))
    return emitOpError() << "expects query and result rows of " << heads * cache.getKey() << " and " << heads * cache.getValue()
                         << ", found " << widthOf(getQuery().getType()) << " and " << widthOf(getResult().getType());
  if (!(getScale().convertToFloat() > 0))
    return emitOpError() << "expects scale > 0, found " << getScaleAttr();
  return success();
}
LogicalResult AttentionOp::verifySymbolUses(SymbolTableCollection &) { return success(); }

PartialRow AttentionOp::getPartialRow() {
  return {int64_t(getParts()), int64_t(getHeads()), int64_t(getView().getType().getCache().getValue())};
}

bool AttentionOp::leavesParts() {
  return getParts() > 1 && widthOf(getResult().getType()) == getPartialRow().width();
}

PartialRow AttentionMergeOp::getPartialRow() {
  int64_t heads = std::max<int64_t>(getHeads(), 1);
  return {int64_t(getParts()), heads, widthOf(getResult().getType()) / heads};
}

LogicalResult AttentionMergeOp::verify() {
  if (failed(verifyAllLines(*this)) || failed(verifyPerRow(*this, "partial results", getInput().getType())) ||
      failed(verifyPerRow(*this, "a result", getResult().getType())))
    return failure();
  if (int64_t(getHeads()) < 1 || widthOf(getResult().getType()) % int64_t(getHeads()))
    return emitOpError() << "expects a result row of whole heads, found " << int64_t(getHeads()) << " heads and a row of "
                         << widthOf(getResult().getType());
  if (int64_t(getParts()) < 2 || widthOf(getInput().getType()) != getPartialRow().width())
    return emitOpError() << "expects 2 parts or more and a row of " << getPartialRow().width() << " for "
                         << int64_t(getParts()) << ", found " << widthOf(getInput().getType());
  if (int64_t(getWindow()) < 0)
    return emitOpError() << "expects window >= 0, found " << int64_t(getWindow());
  return success();
}
LogicalResult AttentionMergeOp::verifySymbolUses(SymbolTableCollection &) { return success(); }

//===--- Outputs -----------------------------------------------------------------------------------------------------===//

LogicalResult LMHeadOp::verify() {
  if (failed(verifyProduct(*this, getInput().getType(), getResult().getType())))
    return failure();
  return verifySameLine(*this, getInput().getType(), getResult().getType());
}
LogicalResult LMHeadOp::verifySymbolUses(SymbolTableCollection &table) {
  if (failed(verifyWeight(*this, table, getWeightAttr(), {widthOf(getResult().getType()), widthOf(getInput().getType())},
                          "weight")))
    return failure();
  return verifyFactors(*this, table, getWeightAttr(), getInput().getType());
}

LogicalResult SpeculativeVerifyOp::verify() {
  if (failed(verifyLines(*this, "logits", getLogits().getType())))
    return failure();
  auto type = dyn_cast<RankedTensorType>(getResult().getType());
  if (lineOf(getLogits().getType()) != Line::Output || !type || type.getRank() != 2 || type.getDimSize(1) != 2 ||
      !type.getElementType().isInteger(32) || lineOf(type) != Line::Sequence)
    return emitOpError() << "expects logits per output and a result tensor<?x2xi32, #llm.per<sequence>>, found "
                         << getLogits().getType() << " and " << getResult().getType();
  return success();
}
LogicalResult SpeculativeVerifyOp::verifySymbolUses(SymbolTableCollection &) { return success(); }

//===--- Fused regions -----------------------------------------------------------------------------------------------===//

LogicalResult FusedOp::verify() {
  Block &body = getBody().front();
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  if (!yield)
    return emitOpError() << "expects llm.yield at its end";
  if (yield.getOperandTypes() != getResultTypes()) {
    auto diagnostic = emitOpError() << "expects results of the types that it yields";
    diagnostic.attachNote(yield.getLoc()) << "yielded here";
    return diagnostic;
  }
  return success();
}
