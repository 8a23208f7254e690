// SPDX-License-Identifier: Apache-2.0
//
// The cost table: one entry for each region of each graph, with the textbook's numbers, and the same as the ops' own in any
// step.
#include "passes/cost/CostTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "passes/graph/Regions.h"
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

llm::StepShape step(int64_t rows, int64_t sequences, int64_t outputs, int64_t context) {
  return {rows, sequences, outputs, context};
}

TEST_F(CostTableTest, counts_a_decode_row) {
  ASSERT_TRUE(module);
  std::vector<cost::RegionTerms> table = regionTerms(*module);
  ASSERT_EQ(table.size(), 1u) << "functions that are no graphs have no rows";
  EXPECT_EQ(table[0].graph, "decode");
  EXPECT_EQ(table[0].name, "w");
  EXPECT_EQ(table[0].kind, "linear");
  EXPECT_EQ(table[0].arithmetic, cost::Arithmetic::F32);
  const llm::OpCost one = costOf(table[0].terms, step(1, 1, 1, 50));
  EXPECT_EQ(one.flops, 2.0 * 64 * 96);
  EXPECT_EQ(one.weightBytes, 4.0 * 64 * 96);
  EXPECT_EQ(one.activationBytes, 4.0 * (64 + 96));
  EXPECT_EQ(one.kvBytes, 0);
  const llm::OpCost many = costOf(table[0].terms, step(12, 3, 3, 50));
  EXPECT_EQ(many.flops, 12 * one.flops);
  EXPECT_EQ(many.weightBytes, one.weightBytes) << "weights are read once";
}

/// Attention over a cache, `view` being its view's type.
std::string attentionModule(const std::string &view) {
  const std::string cache = "!llm.kv_cache<heads = 2, key = 16, value = 8, element = f32, layout = head_major, chunk = 64>";
  return "llm.cache @kv : " + cache + R"(
    func.func @verify(%step: !llm.step, %q: tensor<?x64xf32>, %k: tensor<?x32xf32>, %v: tensor<?x16xf32>) -> tensor<?x32xf32> attributes {llm.graph = "verify"} {
      %c = llm.fused "append" {
        %0 = llm.kv_append @kv, %k, %v, %step : tensor<?x32xf32>, tensor<?x16xf32> -> )" + cache + R"(
        llm.yield %0 : )" + cache + R"(
      } : )" + cache + R"(
      %y = llm.fused "attention" {
        %1 = llm.kv_view %c, %step : )" + view + R"(
        %2 = llm.attention %q, %1 {heads = 4 : i64, scale = 0.25 : f32} : tensor<?x64xf32>, )" + view + R"( -> tensor<?x32xf32>
        llm.yield %2 : tensor<?x32xf32>
      } : tensor<?x32xf32>
      return %y : tensor<?x32xf32>
    }
  )";
}

TEST_F(CostTableTest, any_step_costs_what_its_ops_say) {
  const std::string cache = "<heads = 2, key = 16, value = 8, element = f32, layout = head_major, chunk = 64>";
  for (const std::string &view : {"!llm.kv_view<" + cache + ">", "!llm.kv_view<" + cache + ", window = 7>"}) {
    auto parsed = mlir::parseSourceString<mlir::ModuleOp>(attentionModule(view), &context);
    ASSERT_TRUE(parsed) << view;
    std::vector<cost::RegionTerms> table = regionTerms(*parsed);
    ASSERT_EQ(table.size(), 2u);
    for (const llm::StepShape &shape : {step(1, 1, 1, 1), step(1, 1, 1, 500), step(8, 2, 8, 6), step(8, 2, 8, 90), step(20, 4, 4, 9), step(256, 1, 1, 256)}) {
      size_t row = 0;
      for (mlir::FunctionOpInterface function : graph::graphsOf(*parsed))
        for (auto region : function.getFunctionBody().front().getOps<llm::FusedOp>()) {
          const llm::OpCost wanted = region.getCost(shape), got = costOf(table[row].terms, shape);
          EXPECT_TRUE(cost::operator==(got, wanted))
              << table[row].name << " of " << shape.rows << " rows, context " << shape.context << ": " << got.flops << " and "
              << got.kvBytes << ", expected " << wanted.flops << " and " << wanted.kvBytes;
          ++row;
        }
    }
  }
}

TEST(Machines, are_found_by_name) {
  for (const cost::Machine &machine : cost::machines()) {
    EXPECT_EQ(cost::findMachine(machine.name), &machine);
    EXPECT_GT(machine.ridge(cost::Arithmetic::BF16), machine.ridge(cost::Arithmetic::F32)) << machine.name;
  }
  EXPECT_EQ(cost::findMachine("abacus"), nullptr);
}

} // namespace
