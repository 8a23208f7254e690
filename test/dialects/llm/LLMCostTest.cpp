// SPDX-License-Identifier: Apache-2.0
//
// FLOPs and bytes of ops against counts made by hand.
#include "test/dialects/llm/reference/TestModel.h"

namespace llmc {
namespace {

constexpr const char *text = R"(
llm.weight @w : !llm.weight<6x4xf32> from ["w"]
llm.weight @b : !llm.weight<6xf32> from ["b"]
llm.weight @gate : !llm.weight<8x4xf32> from ["gate"]
llm.weight @down : !llm.weight<4x8xf32> from ["down"]
!cache = !llm.kv_cache<heads = 1, key = 2, value = 2, element = f32, layout = head_major, chunk = 64>
!narrow = !llm.kv_view<!cache, window = 3>
!half = !llm.kv_cache<heads = 1, key = 2, value = 2, element = bf16, layout = head_major, chunk = 64>
llm.cache @half : !half
!codes = !llm.kv_cache<heads = 1, key = 2, value = 2, element = i8, layout = head_major, chunk = 64>
llm.cache @codes : !codes
func.func @ops(%x: tensor<?x4xf32>, %view: !llm.kv_view<!cache>, %window: !narrow, %k: tensor<?x2xf32>, %step: !llm.step) {
  %c = llm.kv_append @half, %k, %k, %step : tensor<?x2xf32>, tensor<?x2xf32> -> !half
  %d = llm.kv_append @codes, %k, %k, %step : tensor<?x2xf32>, tensor<?x2xf32> -> !codes
  %y = llm.linear %x, @w bias @b : tensor<?x4xf32> -> tensor<?x6xf32>
  %m = llm.mlp silu %x, @gate, @gate, @down : tensor<?x4xf32>
  %a = llm.attention %x, %view {heads = 2 : i64, scale = 1.0 : f32} : tensor<?x4xf32>, !llm.kv_view<!cache> -> tensor<?x4xf32>
  %aw = llm.attention %x, %window {heads = 2 : i64, scale = 1.0 : f32} : tensor<?x4xf32>, !narrow -> tensor<?x4xf32>
  %f = llm.fused "f" {
    %s = llm.add %x, %x : tensor<?x4xf32>
    %t = llm.add %s, %x : tensor<?x4xf32>
    llm.yield %t : tensor<?x4xf32>
  } : tensor<?x4xf32>
  return
}
)";

class LLMCost : public testing::Test {
protected:
  LLMCost() : parsed(text, weights) {}
  template <typename Op> llm::OpCost costOf(const llm::StepShape &shape) {
    return llvm::cast<llm::CostModelInterface>(parsed.find<Op>().getOperation()).getCost(shape);
  }
  template <typename Op> llm::OpCost costOfLast(const llm::StepShape &shape) {
    Op last;
    parsed.module->walk([&](Op op) { last = op; });
    return llvm::cast<llm::CostModelInterface>(last.getOperation()).getCost(shape);
  }

  test::GivenWeights weights;
  test::ParsedModule parsed;
};

// 3 rows: 2 * 3 * 4 * 6 FLOPs; 24 + 6 weights; rows of 4 in and 6 out.
TEST_F(LLMCost, linearReadsItsWeightsOnce) {
  llm::OpCost cost = costOf<llm::LinearOp>({3, 1, 1, 3});
  EXPECT_EQ(cost.flops, 144);
  EXPECT_EQ(cost.weightBytes, 4 * 30);
  EXPECT_EQ(cost.activationBytes, 4 * 3 * 10);
  EXPECT_EQ(cost.kvBytes, 0);
}

// Three products of 4 x 8 and 8 FLOPs an activation.
TEST_F(LLMCost, mlp) {
  llm::OpCost cost = costOf<llm::MLPOp>({1, 1, 1, 1});
  EXPECT_EQ(cost.flops, 2 * 3 * 32 + 8 * 8);
  EXPECT_EQ(cost.weightBytes, 4 * 3 * 32);
}

// 2 new rows at a context of 5 see 4 and 5 keys: 9 pairs of 2 heads, 2 * (2 + 2) FLOPs and 5 for
// the softmax.
TEST_F(LLMCost, attentionCountsWhatTheMaskShows) {
  llm::OpCost cost = costOf<llm::AttentionOp>({2, 1, 1, 5});
  EXPECT_EQ(cost.flops, 9 * 2 * (2 * 4 + 5));
  EXPECT_EQ(cost.kvBytes, 4 * 5 * 4);
}

// Rows of f32 are read, half as many bytes are written.
TEST_F(LLMCost, appendWritesTheCachesElements) {
  llm::OpCost cost = costOf<llm::KVAppendOp>({3, 1, 1, 3});
  EXPECT_EQ(cost.activationBytes, 4 * 3 * 4);
  EXPECT_EQ(cost.kvBytes, 2 * 3 * 4);
}

// 2 + 2 codes of a token, and two scales.
TEST_F(LLMCost, appendWritesScalesOfCodes) {
  EXPECT_EQ(costOfLast<llm::KVAppendOp>({3, 1, 1, 3}).kvBytes, 3 * (4 + 2 * 4));
}

TEST_F(LLMCost, attentionWindowBoundsKeys) {
  llm::OpCost cost = costOfLast<llm::AttentionOp>({2, 1, 1, 5});
  EXPECT_EQ(cost.flops, 6 * 2 * (2 * 4 + 5));
}

// %s stays inside: neither its write nor its read; %x is read three times by the ops alone.
TEST_F(LLMCost, fusionSavesTheValuesThatStayInside) {
  llm::OpCost cost = costOf<llm::FusedOp>({1, 1, 1, 1});
  EXPECT_EQ(cost.flops, 8);
  EXPECT_EQ(cost.activationBytes, 4 * 4 * 6 - 2 * 4 * 4);
}

} // namespace
} // namespace llmc
