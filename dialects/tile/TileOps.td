// SPDX-License-Identifier: Apache-2.0
//
// Ops of the `tile` dialect. Every example below is parsed by test/dialects/tile/ops.mlir.
#ifndef LLMC_DIALECTS_TILE_OPS
#define LLMC_DIALECTS_TILE_OPS

include "dialects/tile/TileBase.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

def Tile_Element : AnyTypeOf<[F32, I32, Index]>;
def Tile_Tile : StaticShapeTensorOf<[AnyType]>;
def Tile_Tile1 : StaticShapeTensorOf<[F32, I32]>;
def Tile_StoredTile : StaticShapeTensorOf<[F32, BF16, F16, I32, I8]>;
def Tile_Stored : AnyTypeOf<[F32, BF16, F16, I32, I8, Tile_StoredTile]>;

//===--- Kernels -----------------------------------------------------------------------------------------------------===//

def Tile_KernelOp : Tile_Op<"kernel", [FunctionOpInterface, IsolatedFromAbove, HasParent<"::mlir::ModuleOp">]> {
  let summary = "a block program";
  let description = [{
    Parameters: the step, then views and caches, those that are written last. Refuses: another first parameter; parameters
    of other types; results.

    ```mlir
    tile.kernel @twice(%step: !tile.step, %x: !tile.view<?x8xf32>, %y: !tile.view<?x8xf32>) {
      %r = tile.program_id line
      %c0 = arith.constant 0 : index
      %a = tile.load %x[%r, %c0] : !tile.view<?x8xf32> -> tensor<8xf32>
      %b = arith.addf %a, %a : tensor<8xf32>
      tile.store %b, %y[%r, %c0] : tensor<8xf32>, !tile.view<?x8xf32>
      tile.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// Whether the kernel stores to the view or cache that is parameter `index`.
    bool writes(unsigned index);
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "end of a program";
  let assemblyFormat = "attr-dict";
}

def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure]> {
  let summary = "this program's place in the grid";
  let arguments = (ins Tile_AxisAttr:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "custom<AxisWord>($axis) attr-dict";
}

def Tile_ExtentOp : Tile_Op<"extent", [Pure]> {
  let summary = "how many rows, outputs or sequences the step has";
  let description = [{
    ```mlir
    %n = tile.extent rows %step
    ```
  }];
  let arguments = (ins Tile_ExtentAttr:$extent, Tile_StepType:$step);
  let results = (outs Index:$result);
  let assemblyFormat = "custom<ExtentWord>($extent) $step attr-dict";
}

def Tile_StepReadOp : Tile_Op<"step_read", [Pure]> {
  let summary = "one element of an array of the step descriptor";
  let description = [{
    ```mlir
    %p = tile.step_read positions %step[%r]
    ```
  }];
  let arguments = (ins Tile_FieldAttr:$field, Tile_StepType:$step, Index:$index);
  let results = (outs Index:$result);
  let assemblyFormat = "custom<FieldWord>($field) $step `[` $index `]` attr-dict";
}

//===--- Memory ------------------------------------------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments]> {
  let summary = "a tile, or one element, of a view";
  let description = [{
    The tile lies along the last dimensions of the view, its first element at the indices. With `valid`, only the first so
    many elements (rank 1) are read and the rest are zero. Tiles of bf16 and f16 are for `arith.extf` (exact), `arith.truncf`
    (to nearest even) and `tile.dot`. Refuses: a tile wider than the view's last dimension without `valid`; a rank above 2
    or above the view's; `valid` on rank 2.

    ```mlir
    %a = tile.load %x[%r, %c0] : !tile.view<?x8xf32> -> tensor<8xf32>
    %b = tile.load %x[%r, %c0] valid %n : !tile.view<?x8xf32> -> tensor<16xf32>
    %s = tile.load %x[%r, %c0] : !tile.view<?x8xf32> -> f32
    %h = tile.load %half[%r, %c0] : !tile.view<?x8xbf16> -> tensor<8xbf16>
    ```
  }];
  let arguments = (ins Arg<Tile_ViewType, "", [MemRead]>:$view, Variadic<Index>:$indices, Optional<Index>:$valid);
  let results = (outs Tile_Stored:$result);
  let assemblyFormat = "$view `[` $indices `]` (`valid` $valid^)? attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [AttrSizedOperandSegments]> {
  let summary = "writes a tile, or one element, to a view";
  let description = [{
    With `valid`, only the first so many elements are written. The last dimension may have a stride, as where a column of keys
    is written. Else it refuses as `tile.load` does, and rank 2.

    ```mlir
    tile.store %a, %y[%r, %c0] valid %n : tensor<8xf32>, !tile.view<?x8xf32>
    tile.store %a, %column[%c0, %c0] : tensor<8xf32>, !tile.view<64x8xf32, strides = [1, 64]>
    ```
  }];
  let arguments = (ins Tile_Stored:$value, Arg<Tile_ViewType, "", [MemWrite]>:$view, Variadic<Index>:$indices,
                       Optional<Index>:$valid);
  let assemblyFormat = "$value `,` $view `[` $indices `]` (`valid` $valid^)? attr-dict `:` type($value) `,` type($view)";
  let hasVerifier = 1;
}

def Tile_PrefetchOp : Tile_Op<"prefetch"> {
  let summary = "a line of memory that is read soon, if not by this program then by the next";
  let description = [{
    The line of the element at the indices; these may lie beyond the view, and nothing is read there. Changes no value. A CPU takes it into the
    cache next to the first; targets that hide latency otherwise leave it out. Refuses: indices that are not as many as the view's
    dimensions.

    ```mlir
    tile.prefetch %x[%r, %c0] : !tile.view<?x8xf32>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$indices);
  let assemblyFormat = "$view `[` $indices `]` attr-dict `:` type($view)";
  let hasVerifier = 1;
}

def Tile_ReinterpretOp : Tile_Op<"reinterpret", [Pure]> {
  let summary = "the same memory as elements of another type";
  let description = [{
    For memory that holds several kinds of elements, as packed weights do: codes in words, scales in halves. Refuses: strides;
    shapes that differ but for the last dimension; lines of another size.

    ```mlir
    %h = tile.reinterpret %w : !tile.view<4x9x32xi32> -> !tile.view<4x9x64xf16>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = "$view attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ScratchOp : Tile_Op<"scratch"> {
  let summary = "memory of this program alone, gone when it ends";
  let description = [{
    Its elements are undefined until they are stored. A CPU takes it from the stack of the thread, so targets bound its size. Refuses:
    strides; dimensions that are not known.

    ```mlir
    %s = tile.scratch : !tile.view<18x288xi32>
    ```
  }];
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_KVChunkOp : Tile_Op<"kv_chunk", [Pure]> {
  let summary = "one head's keys or values of one chunk: 64 x width, or their 64 scales";
  let description = [{
    Follows the page table of sequence `sequence` to its `chunk`-th chunk of slots. Refuses: a result that is neither
    64 x width with the strides of the cache's layout nor the transpose of it; scales of a cache that has no codes, or others than 64
    f32.

    ```mlir
    %k = tile.kv_chunk key %kv, %step[%s, %c, %h] : !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 4096> -> !tile.view<8x64xf32>
    %column = tile.kv_chunk key %kv, %step[%s, %c, %h] : !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 4096> -> !tile.view<64x8xf32, strides = [1, 64]>
    %scales = tile.kv_chunk key_scale %codes, %step[%s, %c, %h] : !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 1536, element = i8> -> !tile.view<64xf32>
    ```
  }];
  let arguments = (ins Tile_KVPartAttr:$part, Tile_KVType:$kv, Tile_StepType:$step, Index:$sequence, Index:$chunk, Index:$head);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = [{ custom<KVPartWord>($part) $kv `,` $step `[` $sequence `,` $chunk `,` $head `]` attr-dict
                          `:` type($kv) `->` type($result) }];
  let hasVerifier = 1;
}

//===--- Tiles -------------------------------------------------------------------------------------------------------===//

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "a tile of one element";
  let description = [{
    ```mlir
    %t = tile.broadcast %s : f32 -> tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[F32, I32, I1]>:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "0, 1, 2, ...";
  let description = [{
    ```mlir
    %i = tile.iota : tensor<64xi32>
    ```
  }];
  let results = (outs StaticShapeTensorOf<[I32]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "a tile becomes one element, always by the same tree";
  let description = [{
    The tree halves: element i joins element i + n/2, until one is left. A NaN survives `max` and `min`, to which -0 is below +0;
    `greater` leaves both open, for one instruction where `max` takes five. Refuses: a width that is no power of two; rank 2.

    ```mlir
    %m = tile.reduce max %a : tensor<8xf32> -> f32
    %g = tile.reduce greater %a : tensor<8xf32> -> f32
    ```
  }];
  let arguments = (ins Tile_ReductionAttr:$reduction, Tile_Tile1:$input);
  let results = (outs AnyTypeOf<[F32, I32]>:$result);
  let assemblyFormat = "custom<ReductionWord>($reduction) $input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_DotOp : Tile_Op<"dot", [Pure, AttrSizedOperandSegments]> {
  let summary = "rows times a matrix tile, added to accumulators";
  let description = [{
    `by` a K x N tile: `acc_m[n] = fma(a_m[k], b[k, n], acc_m[n])` for k = 0, 1, ... in this order; with `valid`, k stays
    below it and the rest of b is not read. One count holds for all rows; else each row has its own, and no other row's b
    touches its sums. `by_transposed` an N x K tile: `acc_m[n] + tree(lane sums over k)`, where lane l of
    `lanes` sums k = l, l + lanes, ... in order and the tree is that of `tile.reduce`; lanes divides K.
    All rows share one loaded b. b may be stored as bf16, f16 or i8 (signed): each element is then extended to f32, exactly. A leaf:
    each target expands it. Refuses: shapes that do not match; b not from `tile.load`; rows and accumulators other than f32.

    ```mlir
    %r = tile.dot (%a) by %b into (%acc) : tensor<8xf32>, tensor<8x32xf32>, tensor<32xf32>
    %s = tile.dot (%q) by_transposed %k into (%z) {lanes = 8 : i64} : tensor<8xf32>, tensor<64x8xf32>, tensor<64xf32>
    %h = tile.dot (%a) by %half into (%acc) : tensor<8xf32>, tensor<8x32xbf16>, tensor<32xf32>
    %e:2 = tile.dot (%a, %one) by %b into (%acc, %acc) valid (%c0, %n) : tensor<8xf32>, tensor<8x32xf32>, tensor<32xf32>
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile1>:$rows, Tile_StoredTile:$matrix, Variadic<Tile_Tile1>:$accumulators, Variadic<Index>:$valid,
                       UnitAttr:$transposed, DefaultValuedAttr<I64Attr, "1">:$lanes);
  let results = (outs Variadic<Tile_Tile1>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tile_Dot4Op : Tile_Op<"dot4", [Pure, AttrSizedOperandSegments]> {
  let summary = "four products of bytes in each 32-bit element, added to it";
  let description = [{
    `acc_m[i] + sum over b of signed(row_m[i].byte[b]) * unsigned(weights[i].byte[b])`, exact (it wraps at 32 bits). The one step that
    packed integer weights need from a machine: `vpdpbusd`, `dp4a`. All rows share the weights. `bits`: each byte of the weights
    is below 2^bits; some machines are faster below 8. With `signed_weights` those are signed too, and no byte of a row is -128: what
    machines with `vpmaddubsw` alone are faster with. Refuses: bits outside 1 to 8; signed weights of fewer than 8; tiles that are not
    all of one i32 type of rank 1.

    ```mlir
    %d = tile.dot4 (%row) by %weights into (%acc) {bits = 4 : i64} : tensor<32xi32>
    %e = tile.dot4 (%row) by %weights into (%acc) {signed_weights} : tensor<32xi32>
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile1>:$rows, Tile_Tile1:$weights, Variadic<Tile_Tile1>:$accumulators,
                       DefaultValuedAttr<I64Attr, "8">:$bits, UnitAttr:$signed_weights);
  let results = (outs Variadic<Tile_Tile1>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

//===--- Graphs ------------------------------------------------------------------------------------------------------===//

def Tile_WeightOp : Tile_Op<"weight", [Pure]> {
  let summary = "a packed weight as a view";
  let description = [{
    ```mlir
    %w = tile.weight @w : !tile.view<3x8x32xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = "$weight attr-dict `:` type($result)";
}

def Tile_CacheOp : Tile_Op<"cache", [Pure]> {
  let summary = "a key/value cache";
  let arguments = (ins FlatSymbolRefAttr:$cache);
  let results = (outs Tile_KVType:$result);
  let assemblyFormat = "$cache attr-dict `:` type($result)";
}

def Tile_SliceOp : Tile_Op<"slice", [Pure]> {
  let summary = "a place in the session's arena";
  let description = [{
    `offset` bytes for each row (or output) that the arena was sized for; one line each. Written by the memory stage.

    ```mlir
    %x = tile.slice rows offset 256 : !tile.view<?x8xf32>
    ```
  }];
  let arguments = (ins Tile_ExtentAttr:$arena, I64Attr:$offset);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = "custom<ExtentWord>($arena) `offset` $offset attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_LaunchOp : Tile_Op<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one command: a kernel over a grid";
  let description = [{
    Programs: extent of the step times `inner`; a thread claims `chunk` of them at once. Operands: the kernel's parameters after the
    step; tensor results stand for its last parameters until the memory stage gives them places. `dependency` (memory stage):
    the last command that must be complete before; -1: none. Refuses: a kernel that is not there, operands of other types.

    ```mlir
    %y = tile.launch @twice "layers.0.twice" grid(rows, 1) chunk 1 (%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, StrAttr:$name, Tile_ExtentAttr:$extent, I64Attr:$inner, I64Attr:$chunk,
                       Variadic<AnyType>:$operands_, OptionalAttr<I64Attr>:$dependency);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{ $kernel $name `grid` `(` custom<ExtentWord>($extent) `,` $inner `)` `chunk` $chunk
    (`after` $dependency^)? `(` $operands_ `)` attr-dict `:` functional-type($operands_, $results) }];
}

def Tile_ResultOp : Tile_Op<"result"> {
  let summary = "what a graph gives its caller, once it has a place";
  let description = [{
    ```mlir
    tile.result logits %x : !tile.view<?x8xf32>
    ```
  }];
  let arguments = (ins Tile_ResultKindAttr:$kind, Tile_ViewType:$view);
  let assemblyFormat = "custom<ResultKindWord>($kind) $view attr-dict `:` type($view)";
}

def Tile_PackedOp : Tile_Op<"packed", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "a weight with its place and packing, after the memory stage";
  let description = [{
    Row-major where `panel_rows` is 0, else panels (llm.layout) of `element`, a float or `!llm.group`. `sources` stacked by
    rows, or `computed`.

    ```mlir
    tile.packed @w 64 x 8 of f32 panel_rows 32 offset 0 bytes 2048 {sources = ["layers.0.q"]}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$rows, I64Attr:$columns, TypeAttr:$element, I64Attr:$panel_rows, I64Attr:$offset,
                       I64Attr:$bytes, OptionalAttr<StrArrayAttr>:$sources, OptionalAttr<AnyAttr>:$computed);
  let assemblyFormat = "$sym_name $rows `x` $columns `of` $element `panel_rows` $panel_rows `offset` $offset `bytes` $bytes attr-dict";
}

def Tile_PlacedCacheOp : Tile_Op<"placed_cache", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "a cache with its place inside a chunk block, after the memory stage";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Tile_KVType>:$type, I64Attr:$offset);
  let assemblyFormat = "$sym_name `:` $type `offset` $offset attr-dict";
}

#endif
