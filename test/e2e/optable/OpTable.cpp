// SPDX-License-Identifier: Apache-2.0
//
// The rows of the op table. A module is a small graph around the ops of its row; every launch of it
// is judged.
#include "test/e2e/optable/OpTable.h"

namespace llmc::test {
namespace {

/// Letters as in LLMOps.td: D hidden, F width of the MLP, V vocabulary.
struct Shape {
  int64_t d, f, v;
};

std::string number(int64_t value) { return std::to_string(value); }

/// `text` with $S, $D, $F, $V, $A and $G replaced.
std::string fill(std::string text, Shape shape, const std::string &symbols,
                 const std::string &activation, const std::string &graph) {
  const std::pair<std::string, std::string> words[] = {
      {"$S", symbols}, // first: it has letters of its own
      {"$D", number(shape.d)},
      {"$F", number(shape.f)},
      {"$V", number(shape.v)},
      {"$A", activation},
      {"$G", graph}};
  for (const auto &[word, value] : words)
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += value.size())
      text.replace(at, word.size(), value);
  return text;
}

constexpr const char *kHead = R"(
!cache = !llm.kv_cache<heads = 1, key = 6, value = 6, element = f32, layout = head_major, chunk = 64>
module attributes {llm.chunk_bytes = 0 : i64, // where no cache says otherwise
                   llm.limits = {hidden = $D : i64, vocabulary = $V : i64, layers = 1 : i64, max_positions = 64 : i64,
                                 max_sequences = 4 : i64, eos = array<i32: 0>}} {
llm.weight @embed : !llm.weight<$Vx$Dxf32> from ["embed"]
llm.weight @norm : !llm.weight<$Dxf32> from ["norm"]
llm.weight @final_norm : !llm.weight<$Dxf32> from ["final_norm"]
llm.weight @lm_head : !llm.weight<$Vx$Dxf32> from ["lm_head"]
llm.weight @o : !llm.weight<$Dx$Dxf32> from ["o"]
llm.weight @o_bias : !llm.weight<$Dxf32> from ["o_bias"]
llm.weight @gate : !llm.weight<$Fx$Dxf32> from ["gate"]
llm.weight @up : !llm.weight<$Fx$Dxf32> from ["up"]
llm.weight @gate_bias : !llm.weight<$Fxf32> from ["gate_bias"]
llm.weight @up_bias : !llm.weight<$Fxf32> from ["up_bias"]
llm.weight @down : !llm.weight<$Dx$Fxf32> from ["down"]
$S
func.func @graph(%step: !llm.step) -> tensor<?x$Vxf32, #llm.per<output>> attributes {llm.graph = "$G"} {
  %x = llm.embed %step, @embed : tensor<?x$Dxf32>
)";

/// Wanted rows, normalised, to logits.
constexpr const char *kTail = R"(
  %o = llm.gather_rows %y, %step : tensor<?x$Dxf32> -> tensor<?x$Dxf32, #llm.per<output>>
  %f = llm.rms_norm %o, @final_norm {eps = 1.0e-05 : f32} : tensor<?x$Dxf32, #llm.per<output>>
  %l = llm.lm_head %f, @lm_head : tensor<?x$Dxf32, #llm.per<output>> -> tensor<?x$Vxf32, #llm.per<output>>
  return %l : tensor<?x$Vxf32, #llm.per<output>>
}
}
)";

/// Norm, linear with bias, residual sum.
constexpr const char *kLinear = R"(
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x$Dxf32>
  %p = llm.linear %n, @o bias @o_bias : tensor<?x$Dxf32> -> tensor<?x$Dxf32>
  %y = llm.add %x, %p : tensor<?x$Dxf32>
)";

/// Norm, gate and up with their activation, down.
constexpr const char *kMLP = R"(
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x$Dxf32>
  %g = llm.linear %n, @gate bias @gate_bias : tensor<?x$Dxf32> -> tensor<?x$Fxf32>
  %u = llm.linear %n, @up bias @up_bias : tensor<?x$Dxf32> -> tensor<?x$Fxf32>
  %h = llm.activate $A %g, %u : tensor<?x$Fxf32>
  %y = llm.linear %h, @down : tensor<?x$Fxf32> -> tensor<?x$Dxf32>
)";

/// Element-wise commands of their own.
constexpr const char *kElements = R"(
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x$Dxf32>
  %a = llm.activate $A %n, %x : tensor<?x$Dxf32>
  %y = llm.add %a, %n : tensor<?x$Dxf32>
)";

/// Rotation, cache and attention: 3 query heads on one of width 6.
constexpr const char *kAttentionSymbols = R"(
llm.weight @q : !llm.weight<18x$Dxf32> from ["q"]
llm.weight @k : !llm.weight<6x$Dxf32> from ["k"]
llm.weight @v : !llm.weight<6x$Dxf32> from ["v"]
llm.weight @attention_o : !llm.weight<$Dx18xf32> from ["attention_o"]
llm.weight @rope : !llm.weight<128x6xf32> computed <frequencies = [1.0, 0.25, 0.0625], magnitude = 1.0 : f32>
llm.cache @kv : !cache
)";
constexpr const char *kAttention = R"(
  %q = llm.linear %x, @q : tensor<?x$Dxf32> -> tensor<?x18xf32>
  %k = llm.linear %x, @k : tensor<?x$Dxf32> -> tensor<?x6xf32>
  %v = llm.linear %x, @v : tensor<?x$Dxf32> -> tensor<?x6xf32>
  %qr = llm.rope %q, %step, @rope {heads = 3 : i64} : tensor<?x18xf32>
  %kr = llm.rope %k, %step, @rope {heads = 1 : i64} : tensor<?x6xf32>
  %c = llm.kv_append @kv, %kr, %v, %step : tensor<?x6xf32>, tensor<?x6xf32> -> !cache
  %view = llm.kv_view %c, %step : !llm.kv_view<!cache>
  %a = llm.attention %qr, %view {heads = 3 : i64, scale = 0.7 : f32} : tensor<?x18xf32>, !llm.kv_view<!cache> -> tensor<?x18xf32>
  %y = llm.linear %a, @attention_o : tensor<?x18xf32> -> tensor<?x$Dxf32>
)";

/// What differs from one group of rows of the table to the next.
struct Group {
  std::string name;
  const char *body;
  std::string activation = "silu";
  std::string graph = "prefill";
  std::string fuseNorm = "never";
  std::string schedule = "";
  int64_t rows =
      5; // so that rows and outputs (3) are both more than one row tile and no multiple of it
  const char *symbols = "";
  std::string kv = "auto";
};

OpCase makeCase(const Group &group, Shape shape) {
  OpCase row;
  row.name = group.name + "_" + number(shape.d) + "_" + number(shape.f) + "_" + number(shape.v);
  row.module = fill(std::string(kHead) + group.body + kTail, shape, group.symbols, group.activation,
                    group.graph);
  row.graph = group.graph;
  row.fuseNorm = group.fuseNorm;
  row.schedule = group.schedule;
  row.kv = group.kv;
  row.rows = group.rows;
  row.outputs = (group.rows + 1) / 2;
  row.vocabulary = shape.v;
  return row;
}

} // namespace

std::vector<OpCase> opTable() {
  const Shape shapes[] = {{64, 96, 64}, {33, 70, 130}, {130, 33, 70}, {70, 1, 33}, {1, 130, 5}};
  std::vector<Group> groups = {
      {"linear", kLinear},
      {"linear_of_norm", kLinear, "silu", "prefill", "always"},
      {"gemv", kLinear, "silu", "decode", "always", "", 1},
      {"gemv_split", kLinear, "silu", "decode", "never", "linear:k_split=3,linear:k_tile=5", 1},
      {"linear_tiles", kLinear, "silu", "prefill", "always",
       "linear:k_tile=40,linear:row_tile=2,linear:panels=2", 5},
      {"mlp_silu", kMLP},
      {"mlp_of_norm", kMLP, "gelu_tanh", "decode", "always", "", 2},
      {"mlp_gelu_erf", kMLP, "gelu_erf"},
      {"mlp_relu", kMLP, "relu"},
      {"elements_silu", kElements},
      {"elements_gelu_tanh", kElements, "gelu_tanh"},
      {"elements_gelu_erf", kElements, "gelu_erf"},
      {"elements_relu", kElements, "relu"},
      {"elements_8_lanes", kElements, "silu", "prefill", "never", "lanes=8"},
      {"elements_128_lanes", kElements, "silu", "prefill", "never", "lanes=128"},
  };
  std::vector<OpCase> table;
  for (const Group &group : groups)
    for (Shape shape : shapes)
      table.push_back(makeCase(group, shape));
  // One chunk of keys, and two. Blocks of rows need scratch, which PTX lacks.
  for (int64_t rows : {5, 70})
    for (std::string kv : {"f32", "bf16", "int8"})
      for (int tile : {1, 4}) {
        Group attention = {"attention_" + number(rows) + "_" + kv + (tile > 1 ? "_blocks" : ""),
                           kAttention};
        attention.symbols = kAttentionSymbols;
        attention.schedule = "attention:row_tile=" + number(tile);
        attention.rows = rows;
        attention.kv = kv;
        table.push_back(makeCase(attention, {33, 1, 64}));
        table.back().onPtx = tile == 1;
      }
  return table;
}

} // namespace llmc::test
