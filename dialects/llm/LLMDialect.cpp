// SPDX-License-Identifier: Apache-2.0
//
// Registration, types and attributes of the `llm` dialect.
#include "dialects/llm/LLMDialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace llmc::llm;

/// `576x576xf32`: a static shape and an element type.
static ParseResult parseShape(AsmParser &parser, SmallVector<int64_t> &shape, Type &elementType) {
  return failure(parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(elementType));
}

static void printShape(AsmPrinter &printer, ArrayRef<int64_t> shape, Type elementType) {
  for (int64_t dim : shape)
    printer << dim << 'x';
  printer << elementType;
}

/// `[1.0, 0.15848932]`: floats that read back as the same bits. The upstream array of floats prints six digits, so a table
/// computed from printed IR would differ.
static ParseResult parseFloats(AsmParser &parser, DenseF32ArrayAttr &floats) {
  SmallVector<float> values;
  auto parseOne = [&]() -> ParseResult {
    llvm::APFloat value(0.0f);
    if (parser.parseFloat(llvm::APFloat::IEEEsingle(), value))
      return failure();
    values.push_back(value.convertToFloat());
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  floats = DenseF32ArrayAttr::get(parser.getContext(), values);
  return success();
}

static void printFloats(AsmPrinter &printer, DenseF32ArrayAttr floats) {
  printer << '[';
  llvm::interleaveComma(floats.asArrayRef(), printer.getStream(), [&](float value) { printer.printFloat(llvm::APFloat(value)); });
  printer << ']';
}

#include "LLMDialect.cpp.inc"
#include "LLMEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "LLMAttributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "LLMTypes.cpp.inc"

void LLMDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "LLMAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "LLMTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "LLMOps.cpp.inc"
      >();
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t panelRows) {
  if (panelRows >= 0 && panelRows <= 256 && (panelRows & (panelRows - 1)) == 0)
    return success();
  return emitError() << "panel rows (" << panelRows << ") expected to be 0 or a power of two up to 256";
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t lanes, int64_t kSplit,
                                   int64_t kvChunk, int64_t rowTile, int64_t panels, int64_t across, int64_t kTile,
                                   int64_t chunk) {
  auto outside = [&](StringRef field, int64_t value, int64_t least, int64_t most) -> LogicalResult {
    if (value >= least && value <= most)
      return success();
    return emitError() << "schedule field " << field << " is " << value << ", expected " << least << " to " << most;
  };
  return failure(failed(outside("lanes", lanes, 0, 1024)) || failed(outside("k_split", kSplit, 1, 64)) ||
                 failed(outside("kv_chunk", kvChunk, kvChunk == 0 ? 0 : 64, 64)) || failed(outside("row_tile", rowTile, 1, 16)) ||
                 failed(outside("panels", panels, 1, 64)) || failed(outside("across", across, 0, 256)) ||
                 failed(outside("k_tile", kTile, 0, 4096)) ||
                 failed(outside("chunk", chunk, 1, 1 << 20)));
}

LogicalResult WeightType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type elementType,
                                 LayoutAttr layout) {
  if (shape.empty() || shape.size() > 2)
    return emitError() << "a weight has 1 or 2 dimensions, found " << shape.size();
  for (int64_t dim : shape)
    if (dim <= 0 || dim > (int64_t(1) << 31))
      return emitError() << "a weight's dimensions are 1 to 2^31, found " << dim;
  if (!isa<GroupType, Float32Type, Float16Type, BFloat16Type>(elementType))
    return emitError() << "element type " << elementType << " has no kernels, expected f32, f16, bf16 or !llm.group";
  if (shape.size() == 1 && !elementType.isF32())
    return emitError() << "a weight of 1 dimension is f32, found " << elementType;
  if (layout.getPanelRows() && shape.size() != 2)
    return emitError() << "panels need 2 dimensions, found " << shape.size();
  if (isa<GroupType>(elementType) && shape.back() % GroupType::kGroup)
    return emitError() << "groups need a multiple of " << GroupType::kGroup << " columns, found " << shape.back();
  return success();
}

LogicalResult GroupType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t bits, bool) {
  if (bits == 4 || bits == 8)
    return success();
  return emitError() << "a group has codes of 4 or 8 bits, found " << bits;
}

uint64_t WeightType::getBytes() const {
  uint64_t rows = getRows(), panel = getLayout().getPanelRows();
  if (panel)
    rows = (rows + panel - 1) / panel * panel;
  if (GroupType groups = getGroups())
    return rows * uint64_t(getColumns() / GroupType::kGroup * groups.getBlockBytes(1));
  return rows * uint64_t(getColumns()) * (getElementType().getIntOrFloatBitWidth() / 8);
}

LogicalResult KVCacheType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t heads, int64_t key, int64_t value,
                                  Type element, KVLayout layout, int64_t chunk) {
  constexpr int64_t most = int64_t(1) << 24; // keeps every product far inside 64 bits
  if (heads <= 0 || key <= 0 || value <= 0 || heads > most || key > most || value > most)
    return emitError() << "heads (" << heads << "), key (" << key << ") and value (" << value << ") expected to be 1 to 2^24";
  if (!element.isF32() && !element.isBF16() && !element.isInteger(8))
    return emitError() << "cache element " << element << " has no kernels, expected f32, bf16 or i8";
  if (chunk != 64)
    return emitError() << "chunk is " << chunk << ", expected 64: keys are reduced in chunks of 64 positions";
  return success();
}

Line llmc::llm::lineOf(Type tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor);
  auto per = type ? dyn_cast_or_null<PerAttr>(type.getEncoding()) : PerAttr();
  return per ? per.getLine() : Line::Row;
}

RankedTensorType llmc::llm::lineTensor(MLIRContext *context, int64_t width, Line line) {
  Attribute encoding = line == Line::Row ? Attribute() : PerAttr::get(context, line);
  return RankedTensorType::get({ShapedType::kDynamic, width}, Float32Type::get(context), encoding);
}

RankedTensorType llmc::llm::quantizedTensor(MLIRContext *context, int64_t width, Line line) {
  RankedTensorType floats = lineTensor(context, width, line);
  return RankedTensorType::get(floats.getShape(), GroupType::get(context, 8, false), floats.getEncoding());
}

int64_t llmc::llm::widthOf(Type tensor) { return cast<RankedTensorType>(tensor).getDimSize(1); }

WeightOp llmc::llm::lookupWeight(Operation *user, FlatSymbolRefAttr symbol) {
  return SymbolTable::lookupNearestSymbolFrom<WeightOp>(user, symbol);
}

CacheOp llmc::llm::lookupCache(Operation *user, FlatSymbolRefAttr symbol) {
  return SymbolTable::lookupNearestSymbolFrom<CacheOp>(user, symbol);
}
