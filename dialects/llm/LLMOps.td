// SPDX-License-Identifier: Apache-2.0
//
// Ops of the `llm` dialect. Letters: R rows of the step, O outputs wanted, S sequences, D hidden, F MLP width, V vocabulary,
// H query heads, G key/value heads, W width of a head. Every example below is parsed by test/dialects/llm/ops.mlir.
#ifndef LLMC_DIALECTS_LLM_OPS
#define LLMC_DIALECTS_LLM_OPS

include "dialects/llm/LLMBase.td"
include "dialects/llm/LLMInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"

class LLM_Op<string mnemonic, list<Trait> traits = []> : Op<LLM_Dialect, mnemonic, traits>;

/// An op of the model itself: pure, with a cost and a verifier.
class LLM_ModelOp<string mnemonic, list<Trait> traits = []>
    : LLM_Op<mnemonic, !listconcat(traits, [Pure, DeclareOpInterfaceMethods<LLM_CostModelInterface>,
                                            DeclareOpInterfaceMethods<SymbolUserOpInterface>])> {
  let hasVerifier = 1;
}

//===--- Symbols -----------------------------------------------------------------------------------------------------===//

def LLM_WeightOp : LLM_Op<"weight", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "a weight by name, its data outside the module";
  let description = [{
    `sources` are the tensors of the checkpoint, stacked by rows. `computed` says how the data come about where no
    checkpoint holds them. Refuses: both or neither; sources without a name.

    ```mlir
    llm.weight @layers.0.qkv : !llm.weight<160x64xf32> from ["layers.0.q", "layers.0.k", "layers.0.v"]
    llm.weight @rope : !llm.weight<128x4xf32> computed <frequencies = [1.0, 0.01], magnitude = 1.0 : f32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<LLM_WeightType>:$type,
                       OptionalAttr<StrArrayAttr>:$sources, OptionalAttr<LLM_RopeTableAttr>:$computed);
  let assemblyFormat = "$sym_name `:` $type (`from` $sources^)? (`computed` $computed^)? attr-dict";
  let hasVerifier = 1;
}

def LLM_CacheOp : LLM_Op<"cache", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "the key/value cache of one layer, or of several that share it";
  let description = [{
    ```mlir
    llm.cache @layers.0.kv : !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<LLM_KVCacheType>:$type);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
}

//===--- Rows --------------------------------------------------------------------------------------------------------===//

def LLM_EmbedOp : LLM_ModelOp<"embed"> {
  let summary = "rows of the embedding table";
  let description = [{
    `y[r, :] = table[token[r], :]`. Refuses: a result width other than the table's columns; a result that is not per row.

    ```mlir
    %x = llm.embed %step, @embed : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins LLM_StepType:$step, FlatSymbolRefAttr:$table);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$step `,` $table attr-dict `:` type($result)";
}

def LLM_GatherRowsOp : LLM_ModelOp<"gather_rows"> {
  let summary = "the rows whose logits are wanted";
  let description = [{
    `y[o, :] = x[output_row[o], :]`. Refuses: widths that differ; a result that is not per output.

    ```mlir
    %o = llm.gather_rows %x, %step : tensor<?x64xf32> -> tensor<?x64xf32, #llm.per<output>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, LLM_StepType:$step);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $step attr-dict `:` type($input) `->` type($result)";
}

def LLM_RMSNormOp : LLM_ModelOp<"rms_norm", [AllTypesMatch<["input", "result"]>]> {
  let summary = "root-mean-square norm of a row, or of each head of a row";
  let description = [{
    `y = w * (x / sqrt(mean(x^2) + eps))` over each of `groups` equal parts of the row (groups = H: the q/k norm of Qwen3,
    one weight of width W for all heads). All in f32 (RMS-A of the architectures sheet).
    Refuses: a row that `groups` does not divide; a weight of another width; eps <= 0.

    ```mlir
    %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, FlatSymbolRefAttr:$weight, F32Attr:$eps, DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $weight attr-dict `:` type($result)";
}

def LLM_QuantizeOp : LLM_ModelOp<"quantize"> {
  let summary = "a row as 8-bit integers, with one scale for each group of 32 columns";
  let description = [{
    In each group, all in f32: `scale = max(max |x| / 127, 2^-126)` (1 / scale is finite), `code = round_to_even(x * (1 / scale))`;
    the result stands for `scale * code`. A rounding of its own, so that the reference rounds alike and what follows can be
    exact: products of codes are integers. Refuses: a row that is no multiple of 32; another type than `!llm.group<bits = 8>`.

    ```mlir
    %q8 = llm.quantize %x : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 8>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def LLM_LinearOp : LLM_ModelOp<"linear"> {
  let summary = "x times the transposed weight, plus a bias";
  let description = [{
    `y[r, n] = sum_k x[r, k] * w[n, k] (+ b[n])`, w stored [N, K]. A quantised row needs a weight in groups: with codes c of the
    row and d of the weight, each group adds `scale_w * scale_x * sum c (d - bias) + minimum_w * scale_x * sum c`, integer sums
    exact, groups in order. Refuses: K or N that do not match the weight's columns or rows; a bias of another width; a
    quantised row for a weight of floats.

    ```mlir
    %q = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x160xf32>
    %b = llm.linear %x, @w bias @b : tensor<?x64xf32> -> tensor<?x160xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, FlatSymbolRefAttr:$weight, OptionalAttr<FlatSymbolRefAttr>:$bias);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $weight (`bias` $bias^)? attr-dict `:` type($input) `->` type($result)";
}

def LLM_SplitOp : LLM_ModelOp<"split"> {
  let summary = "consecutive parts of a row";
  let description = [{
    `y_i[r, :] = x[r, offset_i : offset_i + width_i]`, widths by the result types. No data move: the consumer reads at an
    offset. Refuses: widths that do not add up to the row.

    ```mlir
    %a, %b = llm.split %x : tensor<?x64xf32> -> tensor<?x48xf32>, tensor<?x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs Variadic<AnyRankedTensor>:$parts);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($parts)";
}

def LLM_AddOp : LLM_ModelOp<"add", [AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let summary = "element-wise sum, the residual connection";
  let description = [{
    ```mlir
    %s = llm.add %x, %n : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def LLM_ActivateOp : LLM_ModelOp<"activate", [AllTypesMatch<["gate", "up", "result"]>]> {
  let summary = "activation of the gate times the up projection";
  let description = [{
    `y = act(gate) * up`. silu(x) = x / (1 + e^-x); gelu_tanh(x) = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)));
    gelu_erf(x) = x/2 (1 + erf(x / sqrt 2)).

    ```mlir
    %h = llm.activate silu %g, %u : tensor<?x96xf32>
    ```
  }];
  let arguments = (ins LLM_ActivationAttr:$activation, AnyRankedTensor:$gate, AnyRankedTensor:$up);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "custom<ActivationWord>($activation) $gate `,` $up attr-dict `:` type($result)";
}

def LLM_MLPOp : LLM_ModelOp<"mlp", [AllTypesMatch<["input", "result"]>]> {
  let summary = "gated MLP: down(act(gate(x)) * up(x))";
  let description = [{
    Whole as imported; the graph stage splits it into two linears with an `llm.activate` between them, since the hidden row
    must be complete before the second. Biases: all three or none named. Refuses: weights whose shapes do not chain D -> F -> D.

    ```mlir
    %m = llm.mlp silu %x, @gate, @up, @down : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins LLM_ActivationAttr:$activation, AnyRankedTensor:$input, FlatSymbolRefAttr:$gate, FlatSymbolRefAttr:$up,
                       FlatSymbolRefAttr:$down, OptionalAttr<FlatSymbolRefAttr>:$gate_bias,
                       OptionalAttr<FlatSymbolRefAttr>:$up_bias, OptionalAttr<FlatSymbolRefAttr>:$down_bias);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ custom<ActivationWord>($activation) $input `,` $gate `,` $up `,` $down
    (`bias` $gate_bias^ `,` $up_bias `,` $down_bias)? attr-dict `:` type($result) }];
}

//===--- Attention ---------------------------------------------------------------------------------------------------===//

def LLM_RopeOp : LLM_ModelOp<"rope", [AllTypesMatch<["input", "result"]>]> {
  let summary = "rotary position embedding of each head";
  let description = [{
    With c, s = the halves of `table[position[r], :]`: `y_i = x_i c_i - x_{i+W/2} s_i`, `y_{i+W/2} = x_{i+W/2} c_i + x_i s_i`
    in each of `heads` heads. Pairs are (i, i + W/2); loaders permute weights stored for the pairs (2i, 2i + 1).
    Refuses: a row that `heads` does not divide; an odd head; a table whose width is not the head's.

    ```mlir
    %r = llm.rope %q, %step, @rope {heads = 4 : i64} : tensor<?x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, LLM_StepType:$step, FlatSymbolRefAttr:$table, I64Attr:$heads);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $step `,` $table attr-dict `:` type($result)";
}

def LLM_KVAppendOp : LLM_Op<"kv_append", [DeclareOpInterfaceMethods<LLM_CostModelInterface>,
                                          DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "writes the step's keys and values to its slots";
  let description = [{
    The result stands for the cache after the write. A cache of bf16 is given numbers rounded to nearest even; one of i8 each head
    as `llm.quantize` rounds a group, keys by themselves and values by themselves. Refuses: key or value rows that are not heads *
    width of the cache.

    ```mlir
    %c = llm.kv_append @layers.0.kv, %k, %v, %step : tensor<?x8xf32>, tensor<?x8xf32> -> !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$cache, AnyRankedTensor:$key, AnyRankedTensor:$value, LLM_StepType:$step);
  let results = (outs LLM_KVCacheType:$result);
  let assemblyFormat = "$cache `,` $key `,` $value `,` $step attr-dict `:` type($key) `,` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def LLM_KVViewOp : LLM_Op<"kv_view", [Pure, TypesMatchWith<"operand is the cache that the view is of", "result", "cache",
                                                          "::llvm::cast<::llmc::llm::KVViewType>($_self).getCache()">]> {
  let summary = "the part of a cache that each row sees";
  let description = [{
    Row r at position p sees logical positions j with j <= p and, where `window` > 0, p - j < window (the row itself
    included in the window). The result's type names the operand's. Refuses: a negative window.

    ```mlir
    %view = llm.kv_view %c, %step : !llm.kv_view<<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>, window = 16>
    ```
  }];
  let arguments = (ins LLM_KVCacheType:$cache, LLM_StepType:$step);
  let results = (outs LLM_KVViewType:$result);
  let assemblyFormat = "$cache `,` $step attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def LLM_AttentionOp : LLM_ModelOp<"attention"> {
  let summary = "softmax attention of each query head over the keys that its row sees";
  let description = [{
    `y[r, h, :] = sum_j softmax_j(scale * q[r, h, :] . k[j, g, :]) v[j, g, :]`, g = h / (H / G): grouped queries. Softmax in
    f32, reduced in chunks of logical positions (DESIGN section 8). Refuses: H not a multiple of G; a query row that is
    not H * key width; scale <= 0.

    `parts` above 1: the chunks that a row sees fall into so many parts (AttentionParts.h), each reduced by itself, and
    these are merged in order. A result as wide as a row of partial results (PartialRow) holds them unmerged, for
    `llm.attention_merge`.

    ```mlir
    %a = llm.attention %q, %view {heads = 2 : i64, scale = 0.35 : f32} : tensor<?x16xf32>, !llm.kv_view<<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>, window = 16> -> tensor<?x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, LLM_KVViewType:$view, I64Attr:$heads, F32Attr:$scale,
                       DefaultValuedAttr<I64Attr, "1">:$parts);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$query `,` $view attr-dict `:` type($query) `,` type($view) `->` type($result)";
  let extraClassDeclaration = [{
    /// Of its parts, as its result would hold them unmerged.
    PartialRow getPartialRow();
    bool leavesParts();
  }];
}

def LLM_AttentionMergeOp : LLM_ModelOp<"attention_merge"> {
  let summary = "what attention leaves of the parts of each row's keys, merged in order";
  let description = [{
    From partial results (maximum, sum, output) of each head, as `llm.attention` leaves them, the same row as without parts:
    `y = output / sum` of their left fold. `window` is that of the view: how many parts a row has depends on it. Refuses:
    fewer than 2 parts; a row that is not as wide as so many parts.

    ```mlir
    %y = llm.attention_merge %p {heads = 2 : i64, parts = 4 : i64, window = 0 : i64} : tensor<?x80xf32> -> tensor<?x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$heads, I64Attr:$parts, I64Attr:$window);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let extraClassDeclaration = [{ PartialRow getPartialRow(); }];
}

//===--- Outputs -----------------------------------------------------------------------------------------------------===//

def LLM_LMHeadOp : LLM_ModelOp<"lm_head"> {
  let summary = "logits of the wanted rows";
  let description = [{
    `y[o, v] = sum_k x[o, k] * w[v, k]`; w may be the embedding table (tied head). Refuses: shapes that do not match.

    ```mlir
    %l = llm.lm_head %o, @embed : tensor<?x64xf32, #llm.per<output>> -> tensor<?x100xf32, #llm.per<output>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, FlatSymbolRefAttr:$weight);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $weight attr-dict `:` type($input) `->` type($result)";
}

def LLM_SpeculativeVerifyOp : LLM_ModelOp<"speculative_verify"> {
  let summary = "how many drafted tokens greedy decoding would have chosen too, and the token after them";
  let description = [{
    The outputs of a sequence are a chain: its last certain token, then its drafts. With g_i = arg-max of logits i (lowest
    index on ties) and t_i = the token of output row i: accepted = the largest n with g_i = t_{i+1} for all i < n;
    next = g_n. Result per sequence: (accepted, next). Refuses: a result that is not ?x2xi32 per sequence.

    ```mlir
    %v = llm.speculative_verify %l, %step : tensor<?x100xf32, #llm.per<output>> -> tensor<?x2xi32, #llm.per<sequence>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$logits, LLM_StepType:$step);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$logits `,` $step attr-dict `:` type($logits) `->` type($result)";
}

//===--- Fused regions -----------------------------------------------------------------------------------------------===//

def LLM_FusedOp : LLM_Op<"fused", [SingleBlock, DeclareOpInterfaceMethods<LLM_CostModelInterface>]> {
  let summary = "ops that become one kernel";
  let description = [{
    Values used inside come from outside by name (not isolated). What `llm.yield` names reaches memory; nothing else does.
    `schedule` is written by the schedule stage.

    ```mlir
    %s = llm.fused "layers.0.o" {
      %y = llm.linear %x, @o : tensor<?x64xf32> -> tensor<?x64xf32>
      %z = llm.add %y, %x : tensor<?x64xf32>
      llm.yield %z : tensor<?x64xf32>
    } : tensor<?x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<LLM_ScheduleAttr>:$schedule);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name (`schedule` $schedule^)? $body attr-dict (`:` type($results)^)?";
  let hasVerifier = 1;
}

def LLM_YieldOp : LLM_Op<"yield", [Pure, Terminator, HasParent<"FusedOp">]> {
  let summary = "what leaves a fused region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
