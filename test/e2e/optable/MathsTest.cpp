// SPDX-License-Identifier: Apache-2.0
//
// Each maths op as PTX gives the CPU's bits, on numbers where instructions could differ: ties,
// subnormals, infinities, zeros of both signs. What the functions are is judged in
// test/passes/codegen/cpu.
#include "test/e2e/optable/BlockPrograms.h"
#include <cmath>
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

/// y = op(x), 32 at a time; `others` are the op's further operands: %o, the first 32.
std::string kernelOf(const std::string &op, const std::string &element, const std::string &others) {
  std::string text = R"(
tile.kernel @maths(%step: !tile.step, %x: !tile.view<?x32xE>, %y: !tile.view<?x32xE>) {
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%r, %c0] : !tile.view<?x32xE> -> tensor<32xE>
  %o = tile.load %x[%c0, %c0] : !tile.view<?x32xE> -> tensor<32xE>
  %b = OP : tensor<32xE>
  tile.store %b, %y[%r, %c0] : tensor<32xE>, !tile.view<?x32xE>
  tile.return
}
)";
  const std::pair<std::string, std::string> words[] = {{"xE", "x" + element},
                                                       {"OP", op + " %a" + others}};
  for (const auto &[word, value] : words)
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += value.size())
      text.replace(at, word.size(), value);
  return text;
}

std::vector<float> numbers() {
  std::vector<float> found = {
      0.0f,      -0.0f,      0x1p-149f,  -0x1p-149f,  0x1p-126f, 0x1.fffffep127f, INFINITY,
      -INFINITY, 8388607.5f, 8388608.0f, -8388609.0f, 0x1p24f,   2147483520.0f,   -2147483648.0f};
  for (int half = -40; half <= 40; ++half) // ties
    found.push_back(float(half) / 2), found.push_back(std::nextafter(float(half) / 2, 100.0f));
  for (float random : cpu::test::randomFloats(512, 7))
    found.push_back(std::ldexp(random, int(found.size() % 60) - 30));
  found.resize((found.size() + 31) / 32 * 32, 1.0f);
  return found;
}

struct Maths {
  const char *op, *element = "f32", *others = "";
};

class MathsTest : public testing::TestWithParam<Maths> {};

TEST_P(MathsTest, cpu_and_ptx_give_the_same_bits) {
  BlockPrograms programs(kernelOf(GetParam().op, GetParam().element, GetParam().others));
  std::vector<uint32_t> x = asBits(numbers());
  Buffers buffers = {x, std::vector<uint32_t>(x.size(), 0x12345678)};
  auto count = uint32_t(x.size() / 32);
  std::string error;
  std::vector<uint32_t>
      cpu = programs.runOnCpu("maths", buffers, count, count).back(),
      ptx = BlockPrograms::runPtx(programs.ptx(), "maths", buffers, count, error, count).back();
  ASSERT_EQ(error, "");
  for (size_t i = 0; i < x.size(); ++i) { // sqrt of a negative is a NaN, of which there are many
    bool bothNaN = GetParam().element == std::string("f32") &&
                   std::isnan(asFloats({cpu[i]}).front()) && std::isnan(asFloats({ptx[i]}).front());
    ASSERT_TRUE(bothNaN || cpu[i] == ptx[i])
        << asFloats({x[i]}).front() << ": " << cpu[i] << " and " << ptx[i];
  }
}

INSTANTIATE_TEST_SUITE_P(ops, MathsTest,
                         testing::Values(Maths{"math.absf"}, Maths{"math.absi", "i32"},
                                         Maths{"math.floor"}, Maths{"math.ceil"},
                                         Maths{"math.roundeven"}, Maths{"math.trunc"},
                                         Maths{"math.copysign", "f32", ", %o"}, Maths{"math.sqrt"},
                                         Maths{"math.rsqrt"}, Maths{"math.exp"}, Maths{"math.tanh"},
                                         Maths{"math.erf"}, Maths{"math.fma", "f32", ", %o, %a"}),
                         [](const testing::TestParamInfo<Maths> &info) {
                           return std::string(info.param.op).substr(std::string("math.").size());
                         });

} // namespace
} // namespace llmc::test
