// SPDX-License-Identifier: Apache-2.0
//
// Modules as the graph stage leaves them, with fused regions, split rows and merged weights, and
// single regions run on values from outside, as `llmc compare` does.
#include "test/dialects/llm/reference/TestModel.h"

#include <cmath>

namespace llmc::reference {
namespace {

using test::logitsOf;
using test::ParsedModule;

constexpr const char *plainText = R"(
llm.weight @embed : !llm.weight<5x4xf32> from ["embed"]
llm.weight @norm : !llm.weight<4xf32> from ["norm"]
llm.weight @q : !llm.weight<4x4xf32> from ["q"]
llm.weight @k : !llm.weight<2x4xf32> from ["k"]
llm.weight @v : !llm.weight<2x4xf32> from ["v"]
llm.weight @qb : !llm.weight<4xf32> from ["qb"]
llm.weight @kb : !llm.weight<2xf32> from ["kb"]
llm.weight @vb : !llm.weight<2xf32> from ["vb"]
llm.weight @rope : !llm.weight<16x2xf32> computed <frequencies = [0.5], magnitude = 1.0 : f32>
!cache = !llm.kv_cache<heads = 1, key = 2, value = 2, element = f32, layout = head_major, chunk = 64>
llm.cache @kv : !cache
func.func @prefill(%step: !llm.step) -> tensor<?x5xf32, #llm.per<output>> attributes {llm.graph = "prefill"} {
  %x = llm.embed %step, @embed : tensor<?x4xf32>
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x4xf32>
  %q = llm.linear %n, @q bias @qb : tensor<?x4xf32> -> tensor<?x4xf32>
  %k = llm.linear %n, @k bias @kb : tensor<?x4xf32> -> tensor<?x2xf32>
  %v = llm.linear %n, @v bias @vb : tensor<?x4xf32> -> tensor<?x2xf32>
  %qr = llm.rope %q, %step, @rope {heads = 2 : i64} : tensor<?x4xf32>
  %kr = llm.rope %k, %step, @rope {heads = 1 : i64} : tensor<?x2xf32>
  %c = llm.kv_append @kv, %kr, %v, %step : tensor<?x2xf32>, tensor<?x2xf32> -> !cache
  %view = llm.kv_view %c, %step : !llm.kv_view<!cache>
  %a = llm.attention %qr, %view {heads = 2 : i64, scale = 0.7 : f32} : tensor<?x4xf32>, !llm.kv_view<!cache> -> tensor<?x4xf32>
  %s = llm.add %x, %a : tensor<?x4xf32>
  %o = llm.gather_rows %s, %step : tensor<?x4xf32> -> tensor<?x4xf32, #llm.per<output>>
  %l = llm.lm_head %o, @embed : tensor<?x4xf32, #llm.per<output>> -> tensor<?x5xf32, #llm.per<output>>
  return %l : tensor<?x5xf32, #llm.per<output>>
}
)";

constexpr const char *fusedText = R"(
llm.weight @embed : !llm.weight<5x4xf32, <panel_rows = 32>> from ["embed"]
llm.weight @norm : !llm.weight<4xf32> from ["norm"]
llm.weight @qkv : !llm.weight<8x4xf32, <panel_rows = 32>> from ["q", "k", "v"]
llm.weight @qkvb : !llm.weight<8xf32> from ["qb", "kb", "vb"]
llm.weight @rope : !llm.weight<16x2xf32> computed <frequencies = [0.5], magnitude = 1.0 : f32>
!cache = !llm.kv_cache<heads = 1, key = 2, value = 2, element = f32, layout = token_major, chunk = 64>
llm.cache @kv : !cache
func.func @prefill(%step: !llm.step) -> tensor<?x5xf32, #llm.per<output>> attributes {llm.graph = "prefill"} {
  %x = llm.fused "embed" {
    %e = llm.embed %step, @embed : tensor<?x4xf32>
    llm.yield %e : tensor<?x4xf32>
  } : tensor<?x4xf32>
  %qr, %c = llm.fused "qkv" schedule <lanes = 16, k_split = 2> {
    %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x4xf32>
    %qkv = llm.linear %n, @qkv bias @qkvb : tensor<?x4xf32> -> tensor<?x8xf32>
    %q, %k, %v = llm.split %qkv : tensor<?x8xf32> -> tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x2xf32>
    %r = llm.rope %q, %step, @rope {heads = 2 : i64} : tensor<?x4xf32>
    %kr = llm.rope %k, %step, @rope {heads = 1 : i64} : tensor<?x2xf32>
    %w = llm.kv_append @kv, %kr, %v, %step : tensor<?x2xf32>, tensor<?x2xf32> -> !cache
    llm.yield %r, %w : tensor<?x4xf32>, !cache
  } : tensor<?x4xf32>, !cache
  %s = llm.fused "attention" {
    %view = llm.kv_view %c, %step : !llm.kv_view<!cache>
    %a = llm.attention %qr, %view {heads = 2 : i64, scale = 0.7 : f32} : tensor<?x4xf32>, !llm.kv_view<!cache> -> tensor<?x4xf32>
    %z = llm.add %x, %a : tensor<?x4xf32>
    llm.yield %z : tensor<?x4xf32>
  } : tensor<?x4xf32>
  %l = llm.fused "lm_head" {
    %o = llm.gather_rows %s, %step : tensor<?x4xf32> -> tensor<?x4xf32, #llm.per<output>>
    %y = llm.lm_head %o, @embed : tensor<?x4xf32, #llm.per<output>> -> tensor<?x5xf32, #llm.per<output>>
    llm.yield %y : tensor<?x5xf32, #llm.per<output>>
  } : tensor<?x5xf32, #llm.per<output>>
  return %l : tensor<?x5xf32, #llm.per<output>>
}
)";

test::GivenWeights someWeights() {
  test::GivenWeights weights;
  int32_t counter = 0;
  for (auto [name, shape] :
       std::vector<std::pair<std::string, std::vector<int64_t>>>{{"embed", {5, 4}},
                                                                 {"norm", {4}},
                                                                 {"q", {4, 4}},
                                                                 {"k", {2, 4}},
                                                                 {"v", {2, 4}},
                                                                 {"qb", {4}},
                                                                 {"kb", {2}},
                                                                 {"vb", {2}}}) {
    std::vector<float> values(size_t(shape.size() == 2 ? shape[0] * shape[1] : shape[0]));
    for (float &value : values)
      value = float((counter = (counter * 37 + 11) % 101) - 50) / 40.0f;
    weights.add(name, shape, values);
  }
  return weights;
}

const Step step = StepBuilder().add(3, {1, 4, 0}, 0, Wanted::All).take();

TEST(ReferenceRegions, fusedModuleGivesTheBitsOfThePlainOne) {
  test::GivenWeights weights = someWeights();
  ParsedModule plain(plainText, weights), fused(fusedText, weights);
  ASSERT_TRUE(plain.module && fused.module);
  Tensor expected = logitsOf(plain.interpreter, step);
  ASSERT_EQ(expected.lines, 3);
  EXPECT_EQ(logitsOf(fused.interpreter, step).values, expected.values);
}

llm::FusedOp findRegion(ParsedModule &parsed, llvm::StringRef name) {
  llm::FusedOp found;
  parsed.module->walk([&](llm::FusedOp op) {
    if (op.getName() == name)
      found = op;
  });
  return found;
}

// The region on rows from outside; what it appended is there in the result and in the caches given.
TEST(ReferenceRegions, regionOnGivenValuesShowsWhatItAppends) {
  test::GivenWeights weights = someWeights();
  ParsedModule fused(fusedText, weights);
  ASSERT_TRUE(fused.module);
  llm::FusedOp region = findRegion(fused, "qkv");
  Environment environment;
  environment[findRegion(fused, "embed").getResult(0)] =
      Tensor(3, 4, {1, 0, 0, 1, 2, 1, 0, 0, 0, 0, 3, 1});
  Caches caches;
  Status status = fused.interpreter.evaluate(region, environment, step, caches);
  ASSERT_TRUE(status) << status.error().str();
  EXPECT_EQ(environment[region.getResult(0)].values.size(), 12u);
  const Tensor &written = environment[region.getResult(1)];
  ASSERT_EQ(written.lines, 3);
  ASSERT_EQ(written.width, 4);
  const CachedSequence *slots = caches.find("kv", 3);
  ASSERT_TRUE(slots);
  ASSERT_EQ(slots->size(), 3u);
  EXPECT_EQ(slots->at(1).key, (std::vector<float>{written.line(1)[0], written.line(1)[1]}));
  EXPECT_EQ(slots->at(1).value, (std::vector<float>{written.line(1)[2], written.line(1)[3]}));
  EXPECT_EQ(fused.interpreter.caches().find("kv", 3), nullptr);
}

// A cache of bf16 holds each number rounded to the nearest, an even one of two, after the rotation.
TEST(ReferenceRegions, appendRoundsToTheCachesElements) {
  test::GivenWeights weights = someWeights();
  std::string text = fusedText;
  text.replace(text.find("element = f32"), 13, "element = bf16");
  ParsedModule exact(fusedText, weights), rounded(text.c_str(), weights);
  ASSERT_TRUE(exact.module && rounded.module);
  auto appended = [&](ParsedModule &parsed) {
    Environment environment;
    environment[findRegion(parsed, "embed").getResult(0)] =
        Tensor(3, 4, {1, 0, 0, 1, 2, 1, 0, 0, 0, 0, 3, 1});
    Caches caches;
    llm::FusedOp region = findRegion(parsed, "qkv");
    EXPECT_TRUE(parsed.interpreter.evaluate(region, environment, step, caches));
    std::vector<float> values = environment[region.getResult(1)].values;
    const CachedSequence *slots = caches.find("kv", 3);
    EXPECT_TRUE(slots && slots->at(2).key[1] == values[9]);
    return values;
  };
  std::vector<float> all = appended(exact), stored = appended(rounded);
  ASSERT_EQ(all.size(), stored.size());
  size_t changed = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    int exponent;
    std::frexp(all[i], &exponent); // eight bits of a bf16's mantissa
    double unit = std::ldexp(1.0, exponent - 8);
    EXPECT_EQ(stored[i], float(std::nearbyint(all[i] / unit) * unit));
    changed += stored[i] != all[i];
  }
  EXPECT_GT(changed, all.size() / 2);
}

// Keys and values given from outside, as compare reads them from the compiled side's pages.
TEST(ReferenceRegions, attentionOnGivenCaches) {
  test::GivenWeights weights = someWeights();
  ParsedModule fused(fusedText, weights);
  ASSERT_TRUE(fused.module);
  llm::FusedOp region = findRegion(fused, "attention");
  Step one = StepBuilder().add(3, {1}, 1, Wanted::All).take();
  Environment environment;
  environment[findRegion(fused, "embed").getResult(0)] = Tensor(1, 4, {100, 100, 100, 100});
  environment[findRegion(fused, "qkv").getResult(0)] = Tensor(1, 4);
  Caches caches;
  caches.write("kv", 3, 0, {{1, 1}, {10, 30}});
  caches.write("kv", 3, 1, {{2, 2}, {20, 50}});
  Status status = fused.interpreter.evaluate(region, environment, one, caches);
  ASSERT_TRUE(status) << status.error().str();
  EXPECT_EQ(environment[region.getResult(0)].values, (std::vector<float>{115, 140, 115, 140}));
}

} // namespace
} // namespace llmc::reference
