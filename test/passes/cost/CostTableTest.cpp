// SPDX-License-Identifier: Apache-2.0
//
// The cost table: one entry for each region of each graph, with the textbook's numbers for the planned step.
#include "passes/cost/CostTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace {

using namespace llmc;

constexpr const char *kModule = R"(
  llm.weight @w : !llm.weight<96x64xf32> from ["w"]
  func.func @decode(%step: !llm.step, %x: tensor<?x64xf32>) -> tensor<?x96xf32> attributes {llm.graph = "decode"} {
    %y = llm.fused "w" {
      %0 = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x96xf32>
      llm.yield %0 : tensor<?x96xf32>
    } : tensor<?x96xf32>
    return %y : tensor<?x96xf32>
  }
  func.func @helper(%x: tensor<?x64xf32>) -> tensor<?x96xf32> {
    %y = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x96xf32>
    return %y : tensor<?x96xf32>
  }
)";

class CostTableTest : public ::testing::Test {
protected:
  CostTableTest() {
    context.loadDialect<llm::LLMDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(kModule, &context);
  }
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(CostTableTest, counts_a_decode_row) {
  ASSERT_TRUE(module);
  std::vector<RegionCost> table = costTable(*module, 100);
  ASSERT_EQ(table.size(), 1u) << "functions that are no graphs have no rows";
  EXPECT_EQ(table[0].graph, "decode");
  EXPECT_EQ(table[0].name, "w");
  EXPECT_EQ(table[0].kind, "linear");
  EXPECT_EQ(table[0].shape.context, 50);
  EXPECT_EQ(table[0].cost.flops, 2.0 * 64 * 96);
  EXPECT_EQ(table[0].cost.weightBytes, 4.0 * 64 * 96);
  EXPECT_EQ(table[0].cost.activationBytes, 4.0 * (64 + 96));
  EXPECT_EQ(table[0].cost.kvBytes, 0);
}

TEST_F(CostTableTest, plans_each_graph_for_its_step) {
  EXPECT_EQ(plannedShape("decode", 4096).rows, 1);
  EXPECT_EQ(plannedShape("verify", 4096).outputs, 4);
  EXPECT_EQ(plannedShape("prefill", 4096).context, 2048);
  EXPECT_EQ(plannedShape("prefill", 64).context, 256) << "a step's own rows are always context";
}

} // namespace
