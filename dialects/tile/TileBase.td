// SPDX-License-Identifier: Apache-2.0
//
// The `tile` dialect, its enumerations and types.
#ifndef LLMC_DIALECTS_TILE_BASE
#define LLMC_DIALECTS_TILE_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::llmc::tile";
  let summary = "block programs";
  let description = [{
    A kernel is a program run once for each point of its grid: `extent` (one line each: rows, outputs, sequences, or just one)
    times `inner`. Values are builtin tensors of static shape (tiles); `arith`, `math` and `scf.for` work on them unchanged.
    A rank-2 tile is never computed: it comes from `tile.load` and is used by `tile.dot`, which each target expands.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Tile_Type<string name, string mnemonic_> : TypeDef<Tile_Dialect, name> { let mnemonic = mnemonic_; }
class Tile_Enum<string name, string mnemonic, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::llmc::tile";
  let genSpecializedAttr = 0;
}

def Tile_Extent : Tile_Enum<"Extent", "extent", "what the first grid dimension counts", [
  I32EnumAttrCase<"One", 0, "one">, I32EnumAttrCase<"Rows", 1, "rows">, I32EnumAttrCase<"Outputs", 2, "outputs">,
  I32EnumAttrCase<"Sequences", 3, "sequences">]>;
def Tile_ExtentAttr : EnumAttr<Tile_Dialect, Tile_Extent, "extent">;

def Tile_Axis : Tile_Enum<"Axis", "axis", "a grid dimension", [
  I32EnumAttrCase<"Line", 0, "line">, I32EnumAttrCase<"Inner", 1, "inner">]>;
def Tile_AxisAttr : EnumAttr<Tile_Dialect, Tile_Axis, "axis">;

def Tile_Field : Tile_Enum<"Field", "field", "an array of the step descriptor (abi.h: llmc_step)", [
  I32EnumAttrCase<"Tokens", 0, "tokens">, I32EnumAttrCase<"Positions", 1, "positions">, I32EnumAttrCase<"Slots", 2, "slots">,
  I32EnumAttrCase<"RowSequence", 3, "row_sequence">, I32EnumAttrCase<"OutputRows", 4, "output_rows">,
  I32EnumAttrCase<"SequenceRow", 5, "sequence_row">, I32EnumAttrCase<"SequenceBase", 6, "sequence_base">]>;
def Tile_FieldAttr : EnumAttr<Tile_Dialect, Tile_Field, "field">;

def Tile_Reduction : Tile_Enum<"Reduction", "reduction", "how a tile becomes one element", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Min", 2, "min">,
  I32EnumAttrCase<"Greater", 3, "greater">]>;
def Tile_ReductionAttr : EnumAttr<Tile_Dialect, Tile_Reduction, "reduction">;

def Tile_KVPart : Tile_Enum<"KVPart", "kv_part", "half of a cache, or the scales of its codes", [
  I32EnumAttrCase<"Key", 0, "key">, I32EnumAttrCase<"Value", 1, "value">, I32EnumAttrCase<"KeyScale", 2, "key_scale">,
  I32EnumAttrCase<"ValueScale", 3, "value_scale">]>;
def Tile_KVPartAttr : EnumAttr<Tile_Dialect, Tile_KVPart, "kv_part">;

def Tile_ResultKind : Tile_Enum<"ResultKind", "result_kind", "what a graph gives its caller", [
  I32EnumAttrCase<"Logits", 0, "logits">, I32EnumAttrCase<"Accepted", 1, "accepted">]>;
def Tile_ResultKindAttr : EnumAttr<Tile_Dialect, Tile_ResultKind, "result_kind">;

//===--- Types -------------------------------------------------------------------------------------------------------===//

def Tile_StepType : Tile_Type<"Step", "step"> { let summary = "the step descriptor (abi.h: llmc_step)"; }

def Tile_ViewType : Tile_Type<"View", "view"> {
  let summary = "memory: `?x576xf32` has one line for each row, output or sequence";
  let description = [{
    Static but for the outermost dimension. Strides in elements; row-major where none are given. Elements are f32, i32, or
    bf16, f16 and i8, in which numbers are stored and never computed.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, OptionalArrayRefParameter<"int64_t">:$strides);
  let assemblyFormat = "`<` custom<ViewShape>($shape, $elementType) (`,` `strides` `=` `[` $strides^ `]`)? `>`";
  let genVerifyDecl = 1;
  let builders = [TypeBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType), [{
    return $_get($_ctxt, shape, elementType, ::llvm::ArrayRef<int64_t>()); }]>];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    bool hasLines() const { return ::mlir::ShapedType::isDynamic(getShape().front()); }
    int64_t getStride(int64_t dimension) const;
    int64_t getElementBytes() const { return getElementType().getIntOrFloatBitWidth() / 8; }
    /// Bytes of one line, or of the whole where no dimension is dynamic.
    int64_t getLineBytes() const;
  }];
}

def Tile_KVType : Tile_Type<"KV", "kv"> {
  let summary = "a paged cache: chunks of 64 tokens, keys first, then values; `block` bytes from chunk to chunk of a page";
  let description = [{
    Elements are f32 (not printed), bf16, rounded to nearest even by whoever stores them, or i8, codes. Token-major: [token][head][width].
    Else head-major: values [head][token][width], and keys as columns, [head][width][token], so that scores have keys in lanes.
    Behind the codes of keys lie their scales in f32, [head][token] in either layout, and so behind those of values.
  }];
  let parameters = (ins "int64_t":$heads, "int64_t":$key, "int64_t":$value, "bool":$tokenMajor, "int64_t":$block,
                        DefaultValuedParameter<"::mlir::Type", "::mlir::Float32Type::get($_ctxt)">:$element);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kChunk = 64;
    int64_t getKeyBytes() const { return getElementsBytes(/*isKey=*/true) + getScalesBytes(); }
    int64_t getValueBytes() const { return getElementsBytes(/*isKey=*/false) + getScalesBytes(); }
    /// Of a chunk's keys or values without their scales.
    int64_t getElementsBytes(bool isKey) const { return getHeads() * getWidth(isKey) * kChunk * getElement().getIntOrFloatBitWidth() / 8; }
    int64_t getScalesBytes() const { return hasCodes() ? getHeads() * kChunk * 4 : 0; }
    bool hasCodes() const { return getElement().isInteger(8); }
    int64_t getWidth(bool isKey) const { return isKey ? getKey() : getValue(); }
    /// Elements from one token of a head to the next, and from one element of a token to the next.
    std::pair<int64_t, int64_t> getStrides(KVPart part) const;
  }];
}

#endif
