// SPDX-License-Identifier: Apache-2.0
//
// Rows of the op table whose weights are kept in groups or in 16-bit floats, and whose rows are
// rounded where groups multiply them. Letters as in OpTable.cpp, and formats: $E of linears, $Y of
// `down`, $T of the embedding, $H of the head.
#include "test/e2e/optable/OpTable.h"
#include <algorithm>

namespace llmc::test {
namespace {

constexpr const char *kInt4 = "!llm.group<bits = 4>";
constexpr const char *kInt4Minimum = "!llm.group<bits = 4, minimum = true>";
constexpr const char *kInt8 = "!llm.group<bits = 8>";
constexpr const char *kInt8Minimum = "!llm.group<bits = 8, minimum = true>";

constexpr const char *kHead = R"(
!cache = !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>
module attributes {llm.chunk_bytes = 0 : i64, // where no cache says otherwise
                   llm.limits = {hidden = $D : i64, vocabulary = $V : i64, layers = 1 : i64, max_positions = 64 : i64,
                                 max_sequences = 4 : i64, eos = array<i32: 0>}} {
llm.weight @embed : !llm.weight<$Vx$Dx$T> from ["embed"]
llm.weight @norm : !llm.weight<$Dxf32> from ["norm"]
llm.weight @final_norm : !llm.weight<$Dxf32> from ["final_norm"]
$L
$S
func.func @graph(%step: !llm.step) -> tensor<?x$Vxf32, #llm.per<output>> attributes {llm.graph = "$G"} {
  %x = llm.embed %step, @embed : tensor<?x$Dxf32>
)";

constexpr const char *kTail = R"(
  %o = llm.gather_rows %y, %step : tensor<?x$Dxf32> -> tensor<?x$Dxf32, #llm.per<output>>
  %f = llm.rms_norm %o, @final_norm {eps = 1.0e-05 : f32} : tensor<?x$Dxf32, #llm.per<output>>
  %l = llm.lm_head %f, @lm_head : tensor<?x$Dxf32, #llm.per<output>> -> tensor<?x$Vxf32, #llm.per<output>>
  return %l : tensor<?x$Vxf32, #llm.per<output>>
}
}
)";

/// Ops of a case and the weights that they name.
struct Body {
  const char *ops, *symbols;
};

/// Norm and rounding, linear with bias, residual sum.
constexpr Body kLinear = {R"(
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x$Dxf32>
  %p = llm.linear %n, @o bias @o_bias : tensor<?x$Dxf32> -> tensor<?x$Dxf32>
  %y = llm.add %x, %p : tensor<?x$Dxf32>
)",
                          R"(
llm.weight @o : !llm.weight<$Dx$Dx$E> from ["o"]
llm.weight @o_bias : !llm.weight<$Dxf32> from ["o_bias"]
)"};

/// Gate and up of one rounded row, with their activation; down.
constexpr Body kMLP = {R"(
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x$Dxf32>
  %g = llm.linear %n, @gate bias @gate_bias : tensor<?x$Dxf32> -> tensor<?x$Fxf32>
  %u = llm.linear %n, @up bias @up_bias : tensor<?x$Dxf32> -> tensor<?x$Fxf32>
  %h = llm.activate $A %g, %u : tensor<?x$Fxf32>
  %y = llm.linear %h, @down : tensor<?x$Fxf32> -> tensor<?x$Dxf32>
)",
                       R"(
llm.weight @gate : !llm.weight<$Fx$Dx$E> from ["gate"]
llm.weight @up : !llm.weight<$Fx$Dx$E> from ["up"]
llm.weight @gate_bias : !llm.weight<$Fxf32> from ["gate_bias"]
llm.weight @up_bias : !llm.weight<$Fxf32> from ["up_bias"]
llm.weight @down : !llm.weight<$Dx$Fx$Y> from ["down"]
)"};

/// Stacked q, k and v, 48 outputs; 4 query heads on one of width 8.
constexpr Body kAttention = {R"(
  %q = llm.linear %x, @q : tensor<?x$Dxf32> -> tensor<?x32xf32>
  %k = llm.linear %x, @k : tensor<?x$Dxf32> -> tensor<?x8xf32>
  %v = llm.linear %x, @v : tensor<?x$Dxf32> -> tensor<?x8xf32>
  %qr = llm.rope %q, %step, @rope {heads = 4 : i64} : tensor<?x32xf32>
  %kr = llm.rope %k, %step, @rope {heads = 1 : i64} : tensor<?x8xf32>
  %c = llm.kv_append @kv, %kr, %v, %step : tensor<?x8xf32>, tensor<?x8xf32> -> !cache
  %view = llm.kv_view %c, %step : !llm.kv_view<!cache>
  %a = llm.attention %qr, %view {heads = 4 : i64, scale = 0.7 : f32} : tensor<?x32xf32>, !llm.kv_view<!cache> -> tensor<?x32xf32>
  %y = llm.linear %a, @attention_o : tensor<?x32xf32> -> tensor<?x$Dxf32>
)",
                             R"(
llm.weight @q : !llm.weight<32x$Dx$E> from ["q"]
llm.weight @k : !llm.weight<8x$Dx$E> from ["k"]
llm.weight @v : !llm.weight<8x$Dx$E> from ["v"]
llm.weight @attention_o : !llm.weight<$Dx32x$E> from ["attention_o"]
llm.weight @rope : !llm.weight<128x8xf32> computed <frequencies = [1.0, 0.25, 0.0625, 0.01], magnitude = 1.0 : f32>
llm.cache @kv : !cache
)"};

/// Activated products and sums whose readers are linears of groups.
constexpr Body kElements = {R"(
  %a = llm.activate $A %x, %x : tensor<?x$Dxf32>
  %p = llm.linear %a, @o : tensor<?x$Dxf32> -> tensor<?x$Dxf32>
  %s = llm.add %x, %p : tensor<?x$Dxf32>
  %y = llm.linear %s, @o2 : tensor<?x$Dxf32> -> tensor<?x$Dxf32>
)",
                            R"(
llm.weight @o : !llm.weight<$Dx$Dx$E> from ["o"]
llm.weight @o2 : !llm.weight<$Dx$Dx$E> from ["o2"]
)"};

/// The embedding's rows as they are: of -1 and 1, codes are -127 and 127.
constexpr Body kPlainLinear = {R"(
  %y = llm.linear %x, @o : tensor<?x$Dxf32> -> tensor<?x$Dxf32>
)",
                               R"(
llm.weight @o : !llm.weight<$Dx$Dx$E> from ["o"]
)"};

struct Settings {
  std::string name;
  Body body = kLinear;
  std::string formats[3]; ///< of linears, embedding, head
  int64_t d = 64, f = 96, v = 33, rows = 5;
  std::string activation = "silu", graph = "prefill", fuseNorm = "cost", schedule = "";
  bool tied = false;
};

OpCase makeCase(const Settings &settings) {
  std::string text = std::string(kHead) + settings.body.ops + kTail;
  auto number = [](int64_t value) { return std::to_string(value); };
  // A width of 70 is no multiple of a group: what reads it keeps floats.
  const std::string down = settings.f % 32 ? "f32" : settings.formats[0];
  const std::pair<std::string, std::string> words[] = {
      {"$S", settings.body.symbols}, // first: it has letters of its own
      {"$L",
       settings.tied ? "" : R"(llm.weight @lm_head : !llm.weight<$Vx$Dx$H> from ["lm_head"])"},
      {", @lm_head", settings.tied ? ", @embed" : ", @lm_head"},
      {"$D", number(settings.d)},
      {"$F", number(settings.f)},
      {"$V", number(settings.v)},
      {"$A", settings.activation},
      {"$G", settings.graph},
      {"$E", settings.formats[0]},
      {"$Y", down},
      {"$T", settings.formats[1]},
      {"$H", settings.formats[2]}};
  for (const auto &[word, value] : words)
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += value.size())
      text.replace(at, word.size(), value);
  OpCase row;
  row.name = settings.name;
  row.module = text;
  row.graph = settings.graph;
  row.fuseNorm = settings.fuseNorm;
  // A level's own lanes would sum norms in another order: the rest of its schedule changes no bit.
  row.schedule = "lanes=32" + (settings.schedule.empty() ? "" : "," + settings.schedule);
  row.rows = settings.rows;
  row.outputs = (settings.rows + 1) / 2;
  row.vocabulary = settings.v;
  return row;
}

struct Named {
  const char *name, *format;
};
constexpr const char *kPacked = "linear:k_tile=16"; // no panel is unpacked, as PTX wants it

constexpr Named kFormats[] = {{"int4", kInt4},  {"int4_minimum", kInt4Minimum},
                              {"int8", kInt8},  {"int8_minimum", kInt8Minimum},
                              {"bf16", "bf16"}, {"f16", "f16"}};

bool inGroups(const Named &format) { return format.format[0] == '!'; }

} // namespace

std::vector<OpCase> quantizedTable() {
  std::vector<OpCase> table;
  auto add = [&](const std::string &kind, const Named &named, Settings settings, bool onPtx) {
    settings.name = kind + "_" + named.name;
    std::fill_n(settings.formats, 3, named.format);
    if (onPtx) // no panel is unpacked there
      settings.schedule += (settings.schedule.empty() ? "" : ",") + std::string(kPacked);
    table.push_back(makeCase(settings));
    table.back().onPtx = onPtx;
  };
  for (const Named &named : kFormats) {
    add("linear", named, {"", kLinear, {}, 96, 0, 33, 5, "silu", "prefill", "never"}, true);
    add("mlp", named, {"", kMLP, {}, 64, 160, 130, 5, "gelu_erf"}, false);
    add("mlp_odd_width", named, {"", kMLP, {}, 32, 70, 5, 3, "silu", "decode"}, true);
  }
  // What does not depend on the format in another way each time: some of them.
  const auto &[int4, int4Minimum, int8, int8Minimum, bf16, f16] = kFormats;
  for (const Named &named : {int4, int8Minimum, bf16})
    add("gemv_split", named,
        {"", kLinear, {}, 160, 0, 70, 1, "silu", "decode", "always", "linear:k_split=3"}, false);
  for (const Named &named : {int4Minimum, int8, f16}) {
    Settings attention = {"", kAttention, {}, 64, 0, 33, 7};
    attention.schedule = "attention:row_tile=1"; // blocks of rows need scratch, which PTX lacks
    add("attention", named, attention, true);
    Settings tied = {"", kLinear, {}, 64, 0, 65, 4, "silu", "verify"};
    tied.tied = true;
    add("tied", named, tied, true);
  }
  for (const Named &named : {int4, int8Minimum}) // sums and products, rounded for their readers
    add("elements", named, {"", kElements, {}, 288, 0, 31, 2}, false);
  // Many rows: panels unpacked in parts of two groups, of 3 and of 5; two blocks of 64 rows, tiles of 4, and what is left.
  for (const Named &named : {int4, int4Minimum})
    add("unpacked", named, {"", kMLP, {}, 96, 160, 40, 71, "silu", "prefill", "never", "linear:row_tile=4,linear:k_tile=64"}, false);
  // A part of a panel's rows at a time, as levels with few registers want it.
  for (const Named &named : {int4Minimum, int8, int8Minimum})
    add("parts_of_panels", named, {"", kMLP, {}, 96, 160, 40, 17, "silu", "prefill", "never", "linear:row_tile=3,linear:across=16,linear:k_tile=64"}, false);
  // As a GGUF file mixes them, and the embedding in floats beside a head in groups.
  table.push_back(makeCase({"mixed_minimum", kMLP, {kInt4Minimum, kInt8, kInt8}, 64, 96, 50, 6, "silu", "prefill", "cost", kPacked}));
  table.push_back(makeCase({"mixed_floats", kMLP, {kInt4, "bf16", kInt4}, 64, 96, 50, 6, "silu", "prefill", "cost", kPacked}));
  return table;
}

std::vector<OpCase> rowCounts(int64_t most) {
  std::vector<OpCase> table;
  for (int64_t rows = 1; rows <= most; ++rows) {
    Settings settings = {
        "rows_" + std::to_string(rows), kMLP, {kInt4Minimum, kInt8, kInt8}, 32, 64, 40, rows};
    settings.schedule = "linear:row_tile=4,linear:panels=2";
    if (rows == most)
      settings.schedule += std::string(",") + kPacked;
    table.push_back(makeCase(settings));
    table.back().onPtx = rows == most; // slow there, and rows are programs, not a loop's end
  }
  return table;
}

std::vector<OpCase> extremesTable() {
  std::vector<OpCase> table;
  for (const Named &named : kFormats) {
    if (!inGroups(named))
      continue;
    const auto &[name, format] = named;
    for (bool onPtx : {true, false}) {
      Settings settings = {std::string(onPtx ? "extremes_" : "extremes_of_many_rows_") + name, kPlainLinear, {format, "f32", format}, 576, 0, 40, 12};
      settings.schedule = onPtx ? kPacked : "";
      table.push_back(makeCase(settings));
      table.back().weights = CaseWeights::Extremes;
      table.back().onPtx = onPtx;
    }
  }
  return table;
}

} // namespace llmc::test
