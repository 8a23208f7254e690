// SPDX-License-Identifier: Apache-2.0
//
// Registration and types of the `tile` dialect.
#include "dialects/tile/TileDialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace llmc::tile;

/// `?x576xf32`: a shape that may be dynamic, and an element type.
static ParseResult parseViewShape(AsmParser &parser, SmallVector<int64_t> &shape, Type &elementType) {
  return failure(parser.parseDimensionList(shape, /*allowDynamic=*/true) || parser.parseType(elementType));
}

static void printViewShape(AsmPrinter &printer, ArrayRef<int64_t> shape, Type elementType) {
  for (int64_t dim : shape) {
    if (ShapedType::isDynamic(dim))
      printer << "?x";
    else
      printer << dim << 'x';
  }
  printer << elementType;
}

#include "TileDialect.cpp.inc"
#include "TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "TileAttributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "TileTypes.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "TileAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "TileOps.cpp.inc"
      >();
}

LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type elementType,
                               ArrayRef<int64_t> strides) {
  if (shape.empty())
    return emitError() << "a view has at least 1 dimension, found none";
  if (llvm::any_of(shape.drop_front(), ShapedType::isDynamic))
    return emitError() << "only the outermost dimension of a view may be dynamic";
  if (!elementType.isF32() && !elementType.isBF16() && !elementType.isF16() && !elementType.isInteger(32) &&
      !elementType.isInteger(8))
    return emitError() << "view element expected f32, bf16, f16, i32 or i8, found " << elementType;
  if (!strides.empty() && strides.size() != shape.size())
    return emitError() << "expected " << shape.size() << " strides, found " << strides.size();
  return success();
}

int64_t ViewType::getStride(int64_t dimension) const {
  if (!getStrides().empty())
    return getStrides()[dimension];
  int64_t stride = 1;
  for (int64_t d : getShape().drop_front(dimension + 1))
    stride *= d;
  return stride;
}

int64_t ViewType::getLineBytes() const {
  int64_t elements = hasLines() ? 1 : getShape().front();
  for (int64_t d : getShape().drop_front(1))
    elements *= d;
  return elements * getElementBytes();
}

LogicalResult KVType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t heads, int64_t key, int64_t value,
                             bool tokenMajor, int64_t block, Type element) {
  if (heads <= 0 || key <= 0 || value <= 0)
    return emitError() << "heads (" << heads << "), key (" << key << ") and value (" << value << ") expected to be positive";
  if (!element.isF32() && !element.isBF16() && !element.isInteger(8))
    return emitError() << "cache element expected f32, bf16 or i8, found " << element;
  int64_t scales = element.isInteger(8) ? 2 * 4 : 0;
  int64_t least = heads * ((key + value) * (element.getIntOrFloatBitWidth() / 8) + scales) * kChunk;
  if (block < least)
    return emitError() << "a chunk block of " << block << " bytes does not hold this cache, expected at least " << least;
  return success();
}

std::pair<int64_t, int64_t> KVType::getStrides(KVPart part) const {
  int64_t width = getWidth(part == KVPart::Key);
  if (getTokenMajor())
    return {getHeads() * width, 1};
  return part == KVPart::Key ? std::pair<int64_t, int64_t>(1, kChunk) : std::pair<int64_t, int64_t>(width, 1);
}
