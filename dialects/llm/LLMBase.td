// SPDX-License-Identifier: Apache-2.0
//
// The `llm` dialect, its attributes and its types.
#ifndef LLMC_DIALECTS_LLM_BASE
#define LLMC_DIALECTS_LLM_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def LLM_Dialect : Dialect {
  let name = "llm";
  let cppNamespace = "::llmc::llm";
  let summary = "what a model card would name";
  let description = [{
    Ops on tensors of `R` rows, one row for each new token of a step (`tensor<?xDxf32>`), rows of several sequences mixed
    freely. Tensors with one line for each wanted output carry the encoding `#llm.per<output>`, one for each sequence
    `#llm.per<sequence>`. Weights and caches are symbols; what varies from step to step is one value, `!llm.step`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

class LLM_Attr<string name, string mnemonic_, list<Trait> traits = []> : AttrDef<LLM_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}
class LLM_Type<string name, string mnemonic_> : TypeDef<LLM_Dialect, name> { let mnemonic = mnemonic_; }

//===--- Enumerations ------------------------------------------------------------------------------------------------===//

def LLM_Activation : I32EnumAttr<"Activation", "non-linearity of an MLP", [
    I32EnumAttrCase<"SiLU", 0, "silu">, I32EnumAttrCase<"GELUTanh", 1, "gelu_tanh">,
    I32EnumAttrCase<"GELUErf", 2, "gelu_erf">, I32EnumAttrCase<"ReLU", 3, "relu">]> {
  let cppNamespace = "::llmc::llm";
  let genSpecializedAttr = 0;
}
def LLM_ActivationAttr : EnumAttr<LLM_Dialect, LLM_Activation, "activation">;

def LLM_KVLayout : I32EnumAttr<"KVLayout", "order of a cache's chunk", [
    I32EnumAttrCase<"HeadMajor", 0, "head_major">, I32EnumAttrCase<"TokenMajor", 1, "token_major">]> {
  let cppNamespace = "::llmc::llm";
  let genSpecializedAttr = 0;
}

def LLM_Line : I32EnumAttr<"Line", "what one line of a tensor stands for", [
    I32EnumAttrCase<"Row", 0, "row">, I32EnumAttrCase<"Output", 1, "output">, I32EnumAttrCase<"Sequence", 2, "sequence">]> {
  let cppNamespace = "::llmc::llm";
  let genSpecializedAttr = 0;
}

//===--- Attributes --------------------------------------------------------------------------------------------------===//

def LLM_PerAttr : LLM_Attr<"Per", "per"> {
  let summary = "tensor encoding: one line for each output or sequence instead of each row";
  let parameters = (ins EnumParameter<LLM_Line>:$line);
  let assemblyFormat = "`<` $line `>`";
}

def LLM_LayoutAttr : LLM_Attr<"Layout", "layout"> {
  let summary = "where the elements of a packed weight lie";
  let description = [{
    `panelRows = 0`: row-major, as in the checkpoint. `panelRows = P`: panels of P rows, inside a panel one run of P
    elements for each column, so P outputs are computed in P lanes: element (n, k) lies at
    `((n / P) * K + k) * P + n % P`; the last panel is filled up with zeros.
    Groups: panels of blocks, one block for each 32 columns. A block holds 32-bit words [c][n], byte i of word c of row n
    being the code of column 4c + i (8 bits: c < 8; 4 bits: c < 4, that column in the low nibble and column 16 + 4c + i in
    the high one), then P scales, then P minimums where the format has them.
  }];
  let parameters = (ins "int64_t":$panelRows);
  let assemblyFormat = "`<` `panel_rows` `=` $panelRows `>`";
  let genVerifyDecl = 1;
}

def LLM_RopeTableAttr : LLM_Attr<"RopeTable", "rope_table"> {
  let summary = "a computed weight: row p = magnitude * [cos(p * f_0..), sin(p * f_0..)]";
  let description = [{ Angles are products in f32 as in Hugging Face transformers; cos and sin are exact to half an f32 ulp. }];
  let parameters = (ins "::mlir::DenseF32ArrayAttr":$frequencies, "::mlir::FloatAttr":$magnitude);
  let assemblyFormat = "`<` `frequencies` `=` custom<Floats>($frequencies) `,` `magnitude` `=` $magnitude `>`";
}

def LLM_ScheduleAttr : LLM_Attr<"Schedule", "schedule"> {
  let summary = "how one fused region becomes a block program: decided by the schedule stage, obeyed by the tile stage";
  let description = [{
    Two kinds of fields. Those that fix a reduction tree, equal in all graphs of an artefact (DESIGN section 8):
    `lanes` (lanes of a row-wise sum), `k_split` (parts of K in a dot product, summed left to right), `kv_chunk`.
    Those that do not change a bit of any result: `row_tile` (rows that share a loaded weight), `panels` (weight panels
    a program), `across` (rows of a panel that a tile multiplies at a time; 0: all), `k_tile` (columns a step), `chunk`
    (programs that a thread claims at once).
  }];
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "0">:$lanes, DefaultValuedParameter<"int64_t", "1">:$k_split,
    DefaultValuedParameter<"int64_t", "0">:$kv_chunk, DefaultValuedParameter<"int64_t", "1">:$row_tile,
    DefaultValuedParameter<"int64_t", "1">:$panels, DefaultValuedParameter<"int64_t", "0">:$across,
    DefaultValuedParameter<"int64_t", "0">:$k_tile,
    DefaultValuedParameter<"int64_t", "1">:$chunk);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===--- Types -------------------------------------------------------------------------------------------------------===//

def LLM_GroupType : LLM_Type<"Group", "group"> {
  let summary = "integer codes in groups of 32 along a row, with a scale (and perhaps a minimum) for each group";
  let description = [{
    Of a weight: value = scale * (code - bias) + minimum, code unsigned, bias 0 with a minimum and 2^(bits - 1) without
    (dialects/model: GroupFormat); scale and minimum are IEEE halves. Of a row of activations (`bits` = 8, no minimum):
    value = scale * code, code signed, scale f32. Refuses: other bits than 4 and 8.
  }];
  let parameters = (ins "int64_t":$bits, DefaultValuedParameter<"bool", "false">:$minimum);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kGroup = 32;
    int64_t getBias() const { return getMinimum() ? 0 : int64_t(1) << (getBits() - 1); }
    /// Bytes of a block: one group of each of `rows` rows of a packed weight.
    int64_t getBlockBytes(int64_t rows) const { return rows * (kGroup * getBits() / 8 + (getMinimum() ? 4 : 2)); }
  }];
}

def LLM_StepType : LLM_Type<"Step", "step"> {
  let summary = "the step descriptor: tokens, positions, slots, pages, wanted outputs (abi.h: llmc_step)";
}

def LLM_WeightType : LLM_Type<"Weight", "weight"> {
  let summary = "a weight's shape [rows, columns] or [n], stored element type and packed layout";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        DefaultValuedParameter<"::llmc::llm::LayoutAttr", "::llmc::llm::LayoutAttr::get($_ctxt, 0)">:$layout);
  let assemblyFormat = "`<` custom<Shape>($shape, $elementType) (`,` $layout^)? `>`";
  let genVerifyDecl = 1;
  let builders = [TypeBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType), [{
    return $_get($_ctxt, shape, elementType, LayoutAttr::get($_ctxt, 0)); }]>];
  let extraClassDeclaration = [{
    int64_t getRows() const { return getShape().size() == 2 ? getShape()[0] : 1; }
    int64_t getColumns() const { return getShape().back(); }
    /// The format of a weight in groups; null for float formats.
    ::llmc::llm::GroupType getGroups() const { return ::llvm::dyn_cast<::llmc::llm::GroupType>(getElementType()); }
    /// Bytes when packed, panels filled up; of groups that are not in panels yet, what they will have.
    uint64_t getBytes() const;
  }];
}

def LLM_KVCacheType : LLM_Type<"KVCache", "kv_cache"> {
  let summary = "keys and values of one layer, in chunks of `chunk` tokens on pages";
  let description = [{
    Elements are f32, or what `llm.kv_append` rounds to: bf16, or i8, codes with one scale (f32) for the keys of each head of a
    token and one for its values. The scales of a chunk lie behind its codes, keys and values each.
  }];
  let parameters = (ins "int64_t":$heads, "int64_t":$key, "int64_t":$value, "::mlir::Type":$element,
                        EnumParameter<LLM_KVLayout>:$layout, "int64_t":$chunk);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether keys and values are codes of 8 bits with scales.
    bool hasCodes() const { return getElement().isInteger(8); }
    /// Of one token, all heads.
    uint64_t getTokenBytes() const { return bytesOf(getKey()) + bytesOf(getValue()); }
    uint64_t getKeyBytes() const { return bytesOf(getKey()) * getChunk(); }
    uint64_t getValueBytes() const { return bytesOf(getValue()) * getChunk(); }
    uint64_t bytesOf(int64_t width) const {
      return uint64_t(getHeads()) * (width * getElement().getIntOrFloatBitWidth() / 8 + (hasCodes() ? 4 : 0));
    }
  }];
}

def LLM_KVViewType : LLM_Type<"KVView", "kv_view"> {
  let summary = "what the rows of a step see of a cache: for each row the logical positions p - window < j <= p";
  let parameters = (ins "::llmc::llm::KVCacheType":$cache, DefaultValuedParameter<"int64_t", "0">:$window);
  let assemblyFormat = "`<` $cache (`,` `window` `=` $window^)? `>`";
}

#endif
