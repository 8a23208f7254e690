// SPDX-License-Identifier: Apache-2.0
//
// Verifiers and custom syntax of the `tile` ops.
#include "dialects/tile/TileDialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace llmc::tile;

/// Bare words of the enumerations: `rows` instead of `#tile.extent<rows>`.
template <typename AttrT, typename EnumT>
static ParseResult parseWord(OpAsmParser &parser, AttrT &attr, std::optional<EnumT> (*symbolize)(StringRef), StringRef what) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<EnumT> value = symbolize(word);
  if (!value)
    return parser.emitError(loc) << "unknown " << what << " '" << word << "'";
  attr = AttrT::get(parser.getContext(), *value);
  return success();
}

#define LLMC_TILE_WORD(Name, Enum, symbolizer, text)                                                                             \
  static ParseResult parse##Name(OpAsmParser &parser, Enum##Attr &attr) {                                                        \
    return parseWord<Enum##Attr, Enum>(parser, attr, symbolizer, text);                                                          \
  }                                                                                                                              \
  static void print##Name(OpAsmPrinter &printer, Operation *, Enum##Attr attr) { printer << stringify##Enum(attr.getValue()); }

LLMC_TILE_WORD(ExtentWord, Extent, symbolizeExtent, "extent")
LLMC_TILE_WORD(AxisWord, Axis, symbolizeAxis, "grid axis")
LLMC_TILE_WORD(FieldWord, Field, symbolizeField, "step field")
LLMC_TILE_WORD(ReductionWord, Reduction, symbolizeReduction, "reduction")
LLMC_TILE_WORD(KVPartWord, KVPart, symbolizeKVPart, "cache part")
LLMC_TILE_WORD(ResultKindWord, ResultKind, symbolizeResultKind, "result kind")

#define GET_OP_CLASSES
#include "TileOps.cpp.inc"

//===--- Kernels -----------------------------------------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  Region *body = state.addRegion();
  Block *entry = new Block;
  body->push_back(entry);
  for (Type input : type.getInputs())
    entry->addArgument(input, state.location);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results, function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(inputs, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name),
                                                  buildType, getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

LogicalResult KernelOp::verify() {
  ArrayRef<Type> inputs = getArgumentTypes();
  if (inputs.empty() || !isa<StepType>(inputs.front()))
    return emitOpError() << "expects !tile.step as its first parameter";
  if (!getResultTypes().empty())
    return emitOpError() << "expects no results, found " << getResultTypes().size();
  for (auto [i, type] : llvm::enumerate(inputs.drop_front()))
    if (!isa<ViewType, KVType>(type))
      return emitOpError() << "expects parameter " << i + 1 << " to be a view or a cache, found " << type;
  return success();
}

bool KernelOp::writes(unsigned index) {
  SmallVector<Value> places{getBody().getArgument(index)};
  while (!places.empty())
    for (Operation *user : places.pop_back_val().getUsers()) {
      if (isa<StoreOp>(user))
        return true;
      if (isa<KVChunkOp, ReinterpretOp>(user))
        places.push_back(user->getResult(0));
    }
  return false;
}

//===--- Memory ------------------------------------------------------------------------------------------------------===//

/// What load and store have in common: indices, rank, element type, and a tile that fits or is masked.
static LogicalResult verifyAccess(Operation *op, ViewType view, Type value, size_t indices, bool masked) {
  if (int64_t(indices) != view.getRank())
    return op->emitOpError() << "expects " << view.getRank() << " indices, found " << indices;
  auto tile = dyn_cast<RankedTensorType>(value);
  Type element = tile ? tile.getElementType() : value;
  if (element != view.getElementType())
    return op->emitOpError() << "expects elements of type " << view.getElementType() << ", found " << element;
  if (!tile)
    return success();
  int64_t rank = tile.getRank();
  if (rank < 1 || rank > 2 || rank > view.getRank())
    return op->emitOpError() << "expects a tile of rank 1 or 2 within a view of rank " << view.getRank() << ", found rank " << rank;
  if (masked && rank == 2)
    return op->emitOpError() << "expects rank 1 with valid, found rank 2";
  if (!isa<StoreOp>(op) && view.getStride(view.getRank() - 1) != 1)
    return op->emitOpError() << "expects the last dimension to be contiguous, found stride " << view.getStride(view.getRank() - 1);
  int64_t width = tile.getDimSize(rank - 1), available = view.getShape().back();
  if (!masked && !ShapedType::isDynamic(available) && width > available)
    return op->emitOpError() << "expects a tile no wider than the view (" << available << ") or a valid count, found " << width;
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyAccess(*this, getView().getType(), getResult().getType(), getIndices().size(), bool(getValid()));
}

LogicalResult StoreOp::verify() {
  if (auto tile = dyn_cast<RankedTensorType>(getValue().getType()); tile && tile.getRank() != 1)
    return emitOpError() << "expects a tile of rank 1, found rank " << tile.getRank();
  return verifyAccess(*this, getView().getType(), getValue().getType(), getIndices().size(), bool(getValid()));
}

LogicalResult PrefetchOp::verify() {
  if (int64_t(getIndices().size()) == getView().getType().getRank())
    return success();
  return emitOpError() << "expects " << getView().getType().getRank() << " indices, found " << getIndices().size();
}

LogicalResult ReinterpretOp::verify() {
  ViewType from = getView().getType(), to = getResult().getType();
  if (!from.getStrides().empty() || !to.getStrides().empty())
    return emitOpError() << "expects views without strides, found " << from << " and " << to;
  if (from.getShape().drop_back() == to.getShape().drop_back() && from.getLineBytes() == to.getLineBytes())
    return success();
  return emitOpError() << "expects views that differ in element and last dimension alone, and are equally large, found " << from
                       << " of " << from.getLineBytes() << " bytes and " << to << " of " << to.getLineBytes();
}

LogicalResult ScratchOp::verify() {
  ViewType view = getResult().getType();
  if (view.getStrides().empty() && !llvm::any_of(view.getShape(), ShapedType::isDynamic))
    return success();
  return emitOpError() << "expects known dimensions and no strides, found " << view;
}

static LogicalResult verifyScales(KVChunkOp op, KVType kv, ViewType view) {
  if (!kv.hasCodes())
    return op.emitOpError() << "expects a cache of i8, which has scales, found elements of type " << kv.getElement();
  auto scales = ViewType::get(op.getContext(), {KVType::kChunk}, Float32Type::get(op.getContext()));
  if (view == scales)
    return success();
  return op.emitOpError() << "expects a result of type " << scales << ", found " << view;
}

LogicalResult KVChunkOp::verify() {
  KVType kv = getKv().getType();
  ViewType view = getResult().getType();
  if (isScale(getPart()))
    return verifyScales(*this, kv, view);
  if (view.getElementType() != kv.getElement())
    return emitOpError() << "expects elements of type " << kv.getElement() << ", found " << view.getElementType();
  int64_t width = kv.getWidth(getPart() == KVPart::Key);
  auto [token, element] = kv.getStrides(getPart());
  auto is = [&](int64_t lines, int64_t columns, int64_t lineStride, int64_t columnStride) {
    return view.getRank() == 2 && view.getShape()[0] == lines && view.getShape()[1] == columns && view.getStride(0) == lineStride &&
           view.getStride(1) == columnStride;
  };
  if (is(KVType::kChunk, width, token, element) || is(width, KVType::kChunk, element, token))
    return success();
  return emitOpError() << "expects a result of " << KVType::kChunk << " x " << width << " with strides [" << token << ", " << element
                       << "], or its transpose, found " << view;
}

//===--- Tiles -------------------------------------------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  auto tile = cast<RankedTensorType>(getResult().getType());
  if (tile.getRank() == 1 && tile.getElementType() == getValue().getType())
    return success();
  return emitOpError() << "expects a rank 1 tile of " << getValue().getType() << ", found " << tile;
}

LogicalResult ReduceOp::verify() {
  auto tile = cast<RankedTensorType>(getInput().getType());
  if (tile.getRank() != 1 || !llvm::isPowerOf2_64(uint64_t(tile.getDimSize(0))))
    return emitOpError() << "expects a rank 1 tile whose width is a power of two, found " << tile;
  if (tile.getElementType() != getResult().getType())
    return emitOpError() << "expects a result of type " << tile.getElementType() << ", found " << getResult().getType();
  return success();
}

ParseResult DotOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> rows, accumulators, valid;
  OpAsmParser::UnresolvedOperand matrix;
  StringRef by;
  Type rowType, matrixType, accumulatorType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(rows, OpAsmParser::Delimiter::Paren) || parser.parseKeyword(&by) || parser.parseOperand(matrix))
    return failure();
  if (by != "by" && by != "by_transposed")
    return parser.emitError(loc) << "expected 'by' or 'by_transposed', found '" << by << "'";
  if (parser.parseKeyword("into") || parser.parseOperandList(accumulators, OpAsmParser::Delimiter::Paren))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("valid")) &&
      (parser.parseOperandList(valid, OpAsmParser::Delimiter::OptionalParen) ||
       (valid.empty() && parser.parseOperand(valid.emplace_back()))))
    return failure();
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(rowType) || parser.parseComma() ||
      parser.parseType(matrixType) || parser.parseComma() || parser.parseType(accumulatorType))
    return failure();
  if (by == "by_transposed")
    result.addAttribute(getTransposedAttrName(result.name), parser.getBuilder().getUnitAttr());
  SmallVector<Type> rowTypes(rows.size(), rowType), accumulatorTypes(accumulators.size(), accumulatorType);
  result.addAttribute(getOperandSegmentSizesAttrName(result.name),
                      parser.getBuilder().getDenseI32ArrayAttr(
                          {int32_t(rows.size()), 1, int32_t(accumulators.size()), int32_t(valid.size())}));
  result.addTypes(accumulatorTypes);
  return failure(parser.resolveOperands(rows, rowTypes, loc, result.operands) ||
                 parser.resolveOperand(matrix, matrixType, result.operands) ||
                 parser.resolveOperands(accumulators, accumulatorTypes, loc, result.operands) ||
                 parser.resolveOperands(valid, parser.getBuilder().getIndexType(), result.operands));
}

void DotOp::print(OpAsmPrinter &printer) {
  printer << " (" << getRows() << (getTransposed() ? ") by_transposed " : ") by ") << getMatrix() << " into (" << getAccumulators()
          << ')';
  if (getValid().size() == 1)
    printer << " valid " << getValid();
  else if (!getValid().empty())
    printer << " valid (" << getValid() << ')';
  SmallVector<StringRef> elided{getTransposedAttrName(), getOperandSegmentSizesAttrName()};
  if (getLanes() == 1)
    elided.push_back(getLanesAttrName());
  printer.printOptionalAttrDict((*this)->getAttrs(), elided);
  printer << " : " << getRows().front().getType() << ", " << getMatrix().getType() << ", " << getAccumulators().front().getType();
}

LogicalResult DotOp::verify() {
  if (getRows().empty() || getRows().size() != getAccumulators().size() || getRows().size() != getResults().size())
    return emitOpError() << "expects as many accumulators and results as rows (" << getRows().size() << "), found "
                         << getAccumulators().size() << " and " << getResults().size();
  auto matrix = cast<RankedTensorType>(getMatrix().getType());
  if (matrix.getRank() != 2)
    return emitOpError() << "expects a rank 2 tile, found " << matrix;
  if (!getMatrix().getDefiningOp<LoadOp>())
    return emitOpError() << "expects its matrix straight from tile.load";
  int64_t k = matrix.getDimSize(getTransposed() ? 1 : 0), n = matrix.getDimSize(getTransposed() ? 0 : 1);
  for (auto [row, accumulator, result] : llvm::zip(getRows(), getAccumulators(), getResults())) {
    auto rowType = cast<RankedTensorType>(row.getType()), accumulatorType = cast<RankedTensorType>(accumulator.getType());
    if (rowType.getRank() != 1 || rowType.getDimSize(0) != k)
      return emitOpError() << "expects rows of " << k << " elements, found " << rowType;
    if (accumulatorType.getRank() != 1 || accumulatorType.getDimSize(0) != n || result.getType() != accumulatorType)
      return emitOpError() << "expects accumulators and results of " << n << " elements, found " << accumulatorType << " and "
                           << result.getType();
  }
  int64_t lanes = getLanes();
  if (lanes <= 0 || (lanes & (lanes - 1)) || k % lanes || (!getTransposed() && lanes != 1))
    return emitOpError() << "expects lanes to be a power of two that divides " << k << " (and 1 unless transposed), found " << lanes;
  if (getTransposed() && !getValid().empty())
    return emitOpError() << "expects no valid count when transposed";
  if (getValid().size() > 1 && getValid().size() != getRows().size())
    return emitOpError() << "expects one valid count, or one for each of " << getRows().size() << " rows, found " << getValid().size();
  return success();
}

ParseResult Dot4Op::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> rows, accumulators;
  OpAsmParser::UnresolvedOperand weights;
  Type type;
  if (parser.parseOperandList(rows, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("by") || parser.parseOperand(weights) ||
      parser.parseKeyword("into") || parser.parseOperandList(accumulators, OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type))
    return failure();
  result.addAttribute(getOperandSegmentSizesAttrName(result.name),
                      parser.getBuilder().getDenseI32ArrayAttr({int32_t(rows.size()), 1, int32_t(accumulators.size())}));
  result.addTypes(SmallVector<Type>(accumulators.size(), type));
  return failure(parser.resolveOperands(rows, type, result.operands) || parser.resolveOperand(weights, type, result.operands) ||
                 parser.resolveOperands(accumulators, type, result.operands));
}

void Dot4Op::print(OpAsmPrinter &printer) {
  printer << " (" << getRows() << ") by " << getWeights() << " into (" << getAccumulators() << ')';
  SmallVector<StringRef> elided{getOperandSegmentSizesAttrName()};
  if (getBits() == 8)
    elided.push_back(getBitsAttrName());
  printer.printOptionalAttrDict((*this)->getAttrs(), elided);
  printer << " : " << getWeights().getType();
}

LogicalResult Dot4Op::verify() {
  auto type = cast<RankedTensorType>(getWeights().getType());
  if (type.getRank() != 1 || !type.getElementType().isInteger(32))
    return emitOpError() << "expects tiles of i32 of rank 1, found " << type;
  if (getRows().empty() || getRows().size() != getAccumulators().size() || getRows().size() != getResults().size())
    return emitOpError() << "expects as many accumulators and results as rows (" << getRows().size() << "), found "
                         << getAccumulators().size() << " and " << getResults().size();
  for (Type other : llvm::concat<const Type>(SmallVector<Type>(getOperandTypes()), SmallVector<Type>(getResultTypes())))
    if (other != type)
      return emitOpError() << "expects all tiles to be " << type << ", found " << other;
  if (getBits() < 1 || getBits() > 8)
    return emitOpError() << "expects bits from 1 to 8, found " << getBits();
  if (getSignedWeights() && getBits() != 8)
    return emitOpError() << "expects 8 bits of signed weights, found " << getBits();
  return success();
}

//===--- Graphs ------------------------------------------------------------------------------------------------------===//

LogicalResult SliceOp::verify() {
  if (getArena() != Extent::Rows && getArena() != Extent::Outputs)
    return emitOpError() << "expects the arena of rows or outputs, found " << stringifyExtent(getArena());
  if (getOffset() < 0 || getOffset() % 64 || !getResult().getType().hasLines())
    return emitOpError() << "expects an offset that is a multiple of 64 and one line each, found " << getOffset() << " and "
                         << getResult().getType();
  return success();
}

/// Whether a graph's value can be passed for a kernel's parameter.
static bool fits(Type value, Type parameter) {
  if (value == parameter)
    return true;
  auto tensor = dyn_cast<RankedTensorType>(value);
  auto view = dyn_cast<ViewType>(parameter);
  return tensor && view && tensor.getShape() == view.getShape() && tensor.getElementType() == view.getElementType();
}

/// Whether a target has moved the kernel into a module of its own, inside the graph's.
static bool isInModuleOfTarget(LaunchOp launch) {
  for (Operation &op : *launch->getParentOfType<ModuleOp>().getBody())
    if (op.hasTrait<OpTrait::SymbolTable>() &&
        isa_and_nonnull<FunctionOpInterface>(SymbolTable::lookupSymbolIn(&op, launch.getKernelAttr())))
      return true;
  return false;
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &table) {
  Operation *symbol = table.lookupNearestSymbolFrom(*this, getKernelAttr());
  auto kernel = dyn_cast_or_null<KernelOp>(symbol);
  if (!kernel && (isa_and_nonnull<FunctionOpInterface>(symbol) || (!symbol && isInModuleOfTarget(*this))))
    return success(); // lowered by a target, after this was checked
  if (!kernel)
    return emitOpError() << "names kernel " << getKernelAttr() << ", expected a tile.kernel of that name";
  ArrayRef<Type> parameters = kernel.getArgumentTypes().drop_front();
  SmallVector<Type> given(getOperands_().getTypes());
  given.append(getResultTypes().begin(), getResultTypes().end());
  auto mismatch = [&]() -> InFlightDiagnostic {
    InFlightDiagnostic diagnostic = emitOpError();
    diagnostic.attachNote(kernel.getLoc()) << "the kernel is here";
    return diagnostic;
  };
  if (given.size() != parameters.size())
    return mismatch() << "expects " << parameters.size() << " operands and results, found " << given.size();
  for (auto [i, pair] : llvm::enumerate(llvm::zip(given, parameters)))
    if (!fits(std::get<0>(pair), std::get<1>(pair)))
      return mismatch() << "expects operand or result " << i << " to fit " << std::get<1>(pair) << ", found " << std::get<0>(pair);
  if (getInner() <= 0 || getChunk() <= 0)
    return emitOpError() << "expects a positive grid and chunk, found " << getInner() << " and " << getChunk();
  return success();
}
