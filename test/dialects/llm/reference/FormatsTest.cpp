// SPDX-License-Identifier: Apache-2.0
//
// Weights that are kept in another format than they are stored in, and rows in groups: the numbers
// that they stand for, and nothing else, go into the sums.
#include "dialects/llm/reference/Math.h"
#include "dialects/model/Quantize.h"
#include "test/dialects/llm/reference/TestModel.h"

#include <cmath>

namespace llmc::reference {
namespace {

using test::GivenWeights;
using test::ParsedModule;

std::vector<float> waves(size_t count, float scale) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = scale * std::sin(float(i) * 1.3f + 0.2f);
  return values;
}

const Step kOneRow = StepBuilder().add(0, {0}, 0, Wanted::All).take();

Tensor hundredths() {
  Tensor x(1, 64);
  for (size_t i = 0; i < 64; ++i)
    x.values[i] = 0.01f * float(i + 1);
  return x;
}

/// What a linear of weights of this element gives for the row of hundredths, in floats or in
/// groups.
std::vector<float> linearOf(const std::string &element, const GivenWeights &weights,
                            const std::string &row = "f32") {
  const std::string text = "llm.weight @w : !llm.weight<3x64x" + element + "> from [\"w\"]\n" + R"(
func.func @f(%x: tensor<?x64xf32>) -> tensor<?x3xf32> {
  %q = llm.quantize %x : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 8>>
  %y = llm.linear )" + (row == "f32" ? "%x" : "%q") +
                           ", @w : tensor<?x64x" + row +
                           "> -> tensor<?x3xf32>\n  return %y : tensor<?x3xf32>\n}\n";
  ParsedModule module(text, weights);
  if (!module.module)
    return {};
  Environment environment = {{module.find<mlir::func::FuncOp>().getArgument(0), hundredths()}};
  Caches caches;
  for (mlir::Operation *op : {module.find<llm::QuantizeOp>().getOperation(),
                              module.find<llm::LinearOp>().getOperation()}) {
    Status status = module.interpreter.evaluate(op, environment, kOneRow, caches);
    EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().str());
  }
  return environment.lookup(module.find<llm::LinearOp>().getResult()).values;
}

/// Products of the values that codes of one row stand for, summed exactly.
std::vector<float> productsOf(const std::vector<float> &weights, const Tensor &x) {
  std::vector<float> sums;
  for (size_t row = 0; row < 3; ++row) {
    double sum = 0;
    for (size_t i = 0; i < 64; ++i)
      sum += double(weights[row * 64 + i]) * double(x.values[i]);
    sums.push_back(float(sum));
  }
  return sums;
}

TEST(ReferenceFormats, weightsAreTheValuesOfTheirFormat) {
  GivenWeights stored;
  stored.add("w", {3, 64}, waves(192, 0.7f));
  const std::pair<const char *, model::Format> formats[] = {
      {"f32", {}},
      {"bf16", {model::ElementType::BF16, std::nullopt}},
      {"f16", {model::ElementType::F16, std::nullopt}},
      {"!llm.group<bits = 8>", {model::ElementType::F32, model::GroupFormat{8, false}}},
      {"!llm.group<bits = 4>", {model::ElementType::F32, model::GroupFormat{4, false}}},
      {"!llm.group<bits = 4, minimum = true>",
       {model::ElementType::F32, model::GroupFormat{4, true}}},
      {"!llm.group<bits = 8, minimum = true>",
       {model::ElementType::F32, model::GroupFormat{8, true}}}};
  std::vector<std::vector<float>> seen;
  for (const auto &[element, format] : formats) {
    std::vector<float> values(192);
    ASSERT_TRUE(model::readRowsAs(stored, "w", format, 0, 3, values.data()).ok());
    seen.push_back(linearOf(element, stored));
    EXPECT_EQ(seen.back(), productsOf(values, hundredths())) << element;
    for (size_t i = 0; i + 1 < seen.size(); ++i)
      EXPECT_NE(seen.back(), seen[i]) << element; // each format rounds in its own way
  }
}

// Multiples of a power of two, from -7 to 7, are what 4 bits hold.
TEST(ReferenceFormats, groupsOfWholeNumbersAreExact) {
  std::vector<float> values(192);
  for (size_t i = 0; i < 192; ++i)
    values[i] = 0.5f * (float(i % 15) - 7);
  GivenWeights stored;
  stored.add("w", {3, 64}, values);
  EXPECT_EQ(linearOf("!llm.group<bits = 4>", stored), productsOf(values, hundredths()));
}

TEST(ReferenceFormats, rowsInGroupsAreTheirCodesTimesTheirScale) {
  GivenWeights stored;
  stored.add("w", {3, 64}, waves(192, 0.7f));
  std::vector<float> values(192);
  ASSERT_TRUE(model::readRowsAs(stored, "w",
                                {model::ElementType::F32, model::GroupFormat{8, false}}, 0, 3,
                                values.data())
                  .ok());
  EXPECT_EQ(linearOf("!llm.group<bits = 8>", stored, "!llm.group<bits = 8>"),
            productsOf(values, quantize(hundredths())));
}

TEST(ReferenceFormats, numbersWithoutACodeAreTold) {
  GivenWeights stored;
  std::vector<float> values = waves(192, 1);
  values[100] = INFINITY;
  stored.add("w", {3, 64}, values);
  ParsedModule module(
      "llm.weight @w : !llm.weight<3x64x!llm.group<bits = 8>> from [\"w\"]\n"
      "func.func @f(%x: tensor<?x64xf32>) {\n"
      "  %y = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x3xf32>\n  return\n}\n",
      stored);
  Environment environment = {{module.find<mlir::func::FuncOp>().getArgument(0), hundredths()}};
  Caches caches;
  Status status = module.interpreter.evaluate(module.find<llm::LinearOp>().getOperation(),
                                              environment, kOneRow, caches);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().str().find("row 1: error: found an infinite value"), std::string::npos)
      << status.error().str();
}

} // namespace
} // namespace llmc::reference
