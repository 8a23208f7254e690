// SPDX-License-Identifier: Apache-2.0
// What the parser takes and what it refuses, with the words it uses.
#include "test/tools/ptx-interpreter/Support.h"

#include "tools/ptx-interpreter/Parser.h"

#include <random>

namespace llmc::ptx::test {
namespace {

std::string parseError(const std::string &text) {
  std::string error;
  parseModule(text, "test.ptx", error);
  return error;
}
const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n";

TEST(Parser, HeadersParametersAndAttributes) {
  std::string error;
  auto module = parseModule(
      head +
          "// comment\n/* and\n another */ .extern .func helper(.param .b32 a);\n"
          ".visible .entry first(.param .u64 .ptr .global .align 4 a, .param .align 8 .b8 b[12],\n"
          "  .param .f32 c, .param .b8 d) .maxntid 128, 2, 1 .minnctapersm 2 { ret; }\n"
          ".entry second() .reqntid 32 { .loc 1 2 3\n .pragma \"nounroll\"; ret; }\n",
      "test.ptx", error);
  ASSERT_TRUE(module) << error;
  ASSERT_EQ(module->kernels.size(), 2u);
  const Kernel &first = module->kernels[0];
  ASSERT_EQ(first.parameters.size(), 4u);
  EXPECT_EQ(first.parameters[1].offset, 8u);
  EXPECT_EQ(first.parameters[1].size, 12u);
  EXPECT_EQ(first.parameters[2].offset, 20u);
  EXPECT_EQ(first.parameterBytes, 25u);
  EXPECT_EQ(first.maximumThreads, 256u);
  EXPECT_EQ(module->kernels[1].requiredThreads[0], 32u);
}

TEST(Parser, UnsupportedFormsNameFormLineAndKernel) {
  EXPECT_EQ(bodyError("mov.u32 %r0, 1;\ntex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%d0];"),
            "test.ptx:11: error: in kernel 'k': unsupported form 'tex.2d.v4.f32.f32'");
  // A known opcode with one unknown modifier is unsupported too.
  EXPECT_EQ(bodyError("add.cc.u32 %r0, %r1, %r2;"),
            "test.ptx:10: error: in kernel 'k': unsupported form 'add.cc.u32'");
  EXPECT_NE(bodyError("ld.acquire.gpu.global.u32 %r0, [%d0];"), "");
  EXPECT_NE(bodyError("add.rz.f64 %d0, %d1, %d2;"), "");
  EXPECT_NE(bodyError("mul.s32 %r0, %r1, %r2;"), "") << "neither lo nor hi nor wide";
  EXPECT_NE(bodyError("setp.s32 %p0, %r1, %r2;"), "") << "no comparison";
  EXPECT_NE(bodyError("shfl.sync.b32 %r0, %r1, 1, 31, -1;"), "") << "no mode";
  EXPECT_NE(bodyError("atom.global.add.u32 %r0, [%d0], 1;"), "");
  EXPECT_NE(bodyError("call.uni (%r0), helper, (%r1);").find("device functions are not modelled"),
            std::string::npos);
  EXPECT_NE(bodyError("{ .param .b32 p; call.uni helper, (p); }").find("'call'"),
            std::string::npos);
  EXPECT_NE(parseError(head + ".func helper() { ret; }").find("'.func'"), std::string::npos);
}

TEST(Parser, OperandsThatDoNotFit) {
  EXPECT_NE(bodyError("add.u32 %r0, %r1;").find("has 2 operands, expected 3"), std::string::npos);
  EXPECT_NE(bodyError("add.u32 5, %r1, %r2;").find("operand 1"), std::string::npos);
  EXPECT_NE(bodyError("add.u32 %r0, %p1, %r2;").find("operand 2"), std::string::npos);
  EXPECT_NE(bodyError("ld.global.u32 %r0, %d0;").find("operand 2"), std::string::npos);
  EXPECT_NE(bodyError("ld.global.v2.u32 {%r0, %r1, %r2}, [%d0];").find("operand 1"),
            std::string::npos);
  EXPECT_NE(bodyError("ld.global.u64 %r0, [%d0];").find("32 bits, expected at least 64"),
            std::string::npos);
  EXPECT_NE(bodyError("setp.eq.u32 %p0, %r0, %r1, %p1;").find("fourth"), std::string::npos);
  EXPECT_NE(bodyError("setp.eq.and.u32 %p0, %r0, %r1;").find("fourth"), std::string::npos);
  EXPECT_NE(bodyError("mov.b32 {%h0, %h1, %h2}, %r0;"), "");
  EXPECT_NE(bodyError("bra;"), "");
  EXPECT_NE(bodyError("ret %r0;"), "");
}

TEST(Parser, UnknownNames) {
  EXPECT_NE(bodyError("mov.u32 %r0, %r99;").find("unknown operand '%r99'"), std::string::npos);
  EXPECT_NE(bodyError("mov.u32 %r0, %clock;").find("'%clock'"), std::string::npos);
  EXPECT_NE(bodyError("ld.global.u32 %r0, [nowhere];").find("'nowhere'"), std::string::npos);
  EXPECT_NE(bodyError("bra NOWHERE;").find("label 'NOWHERE'"), std::string::npos);
  EXPECT_NE(bodyError("{ INNER: mov.u32 %r0, 1; } bra INNER;").find("label 'INNER'"),
            std::string::npos);
  EXPECT_NE(bodyError("@%r0 bra X; X:").find("expected a predicate register"), std::string::npos);
  EXPECT_NE(bodyError("X: mov.u32 %r0, 1;\nX: mov.u32 %r0, 1;").find("defined twice"),
            std::string::npos);
}

TEST(Parser, SizesAreBounded) {
  EXPECT_NE(bodyError(".reg .b32 %x<4000000000>;"), "");
  EXPECT_NE(bodyError(".reg .b32 %x<65536>;").find("more than 65536 registers"), std::string::npos);
  EXPECT_NE(bodyError(".shared .align 4 .b8 box[1000000];").find("expected at most 232448"),
            std::string::npos);
  EXPECT_NE(bodyError(".local .align 4 .b8 box[1000000];"), "");
  EXPECT_NE(bodyError(".shared .b32 box[65536][65536][65536];"), "");
  EXPECT_NE(bodyError(".shared .align 3 .b8 box[4];").find("power of two"), std::string::npos);
  EXPECT_NE(parseError(head + ".entry k(.param .b8 a[100000]) { ret; }"), "");
  EXPECT_NE(bodyError(std::string(1000, '{')).find("nested deeper"), std::string::npos);
  EXPECT_NE(parseError(head + ".global .b8 a[2] = {1, 2, 3};").find("more initial values"),
            std::string::npos);
}

TEST(Parser, TextsThatEndTooEarlyOrAreNoText) {
  std::string whole =
      kernelText("ld.param.u64 %d0, [data]; @%p0 st.global.v2.u32 [%d0+4], {%r0, %r1};");
  for (size_t length = 0; length + 2 < whole.size(); ++length) {
    std::string error = parseError(whole.substr(0, length));
    if (length > whole.find("(.param"))
      EXPECT_NE(error, "") << length;
  }
  EXPECT_NE(parseError("\x01\x02").find("\\x01"), std::string::npos);
  EXPECT_NE(parseError("/* never closed").find("never closed"), std::string::npos);
  EXPECT_NE(parseError(std::string("\0\0", 2)), "");
}

TEST(Parser, DamagedTextsNeverCrash) {
  std::mt19937 random(3);
  std::string whole = readFile(std::string(KERNEL_FOLDER) + "/tiles.ptx");
  for (int trial = 0; trial < 300; ++trial) {
    std::string text = whole;
    for (int change = 0; change < 4; ++change) {
      size_t at = random() % text.size();
      if (random() % 2)
        text[at] = "{}[]();,.%@!<>:\n-+0a"[random() % 20];
      else
        text.erase(at, random() % 20);
    }
    std::string error;
    bool accepted = parseModule(text, "test.ptx", error).has_value();
    ASSERT_EQ(accepted, error.empty());
  }
}

} // namespace
} // namespace llmc::ptx::test
