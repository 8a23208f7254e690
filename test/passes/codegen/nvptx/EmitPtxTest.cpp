// SPDX-License-Identifier: Apache-2.0
//
// What PTX promises beyond right results (test/e2e/optable has those): roundings, one warp,
// determinism, refusals.
#include "test/passes/codegen/nvptx/Ptx.h"
#include <gtest/gtest.h>

using llmc::nvptx::test::ptxOf;

namespace {

std::string kernel(const std::string &body) {
  return "tile.kernel @k(%step: !tile.step, %x: !tile.view<?x32xf32>, %y: !tile.view<?x32xf32>) {\n"
         "  %r = tile.program_id line\n  %c0 = arith.constant 0 : index\n"
         "  %a = tile.load %x[%r, %c0] : !tile.view<?x32xf32> -> tensor<32xf32>\n" +
         body +
         "  tile.store %b, %y[%r, %c0] : tensor<32xf32>, !tile.view<?x32xf32>\n  tile.return\n}\n";
}

std::string ptx(const std::string &body) {
  std::string errors, text = ptxOf(kernel(body), errors);
  EXPECT_EQ(errors, "");
  return text;
}

size_t count(const std::string &text, const std::string &word) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at)
    ++found;
  return found;
}

TEST(EmitPtx, kernels_are_one_warp_for_sm_80) {
  std::string text = ptx("  %b = arith.addf %a, %a : tensor<32xf32>\n");
  EXPECT_EQ(count(text, ".version 7.0"), 1u) << text;
  EXPECT_EQ(count(text, ".target sm_80"), 1u);
  EXPECT_EQ(count(text, ".visible .entry k("), 1u);
  EXPECT_EQ(count(text, ".reqntid 32"), 1u);
  EXPECT_EQ(count(text, "ld.global"), 1u);
  EXPECT_EQ(count(text, "st.global"), 1u);
}

TEST(EmitPtx, a_product_and_a_sum_stay_two_roundings) {
  std::string separate =
      ptx("  %s = arith.mulf %a, %a : tensor<32xf32>\n  %b = arith.addf %s, %a : tensor<32xf32>\n");
  EXPECT_EQ(count(separate, "fma"), 0u);
  EXPECT_EQ(count(separate, "mul.rn.f32"), 1u);
  EXPECT_EQ(count(separate, "add.rn.f32"), 1u);
  EXPECT_EQ(count(ptx("  %b = math.fma %a, %a, %a : tensor<32xf32>\n"), "fma.rn.f32"), 1u);
}

TEST(EmitPtx, division_and_square_root_are_rounded_to_nearest) {
  std::string text =
      ptx("  %s = math.sqrt %a : tensor<32xf32>\n  %b = arith.divf %s, %a : tensor<32xf32>\n");
  EXPECT_EQ(count(text, "sqrt.rn.f32"), 1u) << text;
  EXPECT_EQ(count(text, "div.rn.f32"), 1u) << text;
}

TEST(EmitPtx, maths_are_polynomials) {
  for (const char *function : {"exp", "tanh", "erf"}) {
    std::string text = ptx(std::string("  %b = math.") + function + " %a : tensor<32xf32>\n");
    EXPECT_GE(count(text, "fma.rn.f32"), 5u) << text;
    EXPECT_EQ(count(text, ".approx"), 0u) << text;
    EXPECT_EQ(count(text, ".extern"), 0u) << text;
  }
}

TEST(EmitPtx, a_reduction_is_five_butterflies) {
  std::string text = ptx("  %s = tile.reduce add %a : tensor<32xf32> -> f32\n"
                         "  %b = tile.broadcast %s : f32 -> tensor<32xf32>\n");
  for (const char *distance :
       {", 16, 31, -1;", ", 8, 31, -1;", ", 4, 31, -1;", ", 2, 31, -1;", ", 1, 31, -1;"})
    EXPECT_EQ(count(text, distance), 1u) << text;
  EXPECT_EQ(count(text, "shfl.sync"), 5u) << text;
}

TEST(EmitPtx, lanes_beyond_valid_do_not_load) {
  std::string text =
      ptx("  %m = tile.load %x[%c0, %c0] valid %r : !tile.view<?x32xf32> -> tensor<32xf32>\n"
          "  %b = arith.addf %a, %m : tensor<32xf32>\n");
  EXPECT_EQ(count(text, "ld.global"), 2u) << text;
  EXPECT_GE(count(text, "setp."), 1u) << text;
  EXPECT_GE(count(text, "@%p") + count(text, "@!%p"), 1u) << text;
}

TEST(EmitPtx, the_same_input_gives_the_same_text) {
  std::string body = "  %b = math.exp %a : tensor<32xf32>\n";
  EXPECT_EQ(ptx(body), ptx(body));
}

TEST(EmitPtx, modules_that_were_not_lowered_are_refused) {
  std::string errors;
  EXPECT_EQ(ptxOf(kernel("  %b = arith.addf %a, %a : tensor<32xf32>\n"), errors, /*lower=*/false),
            "");
  EXPECT_NE(errors.find("expects one gpu.module, found 0: run llmc-lower-tile-to-nvptx"),
            std::string::npos)
      << errors;
  errors.clear();
  EXPECT_EQ(ptxOf("gpu.module @m { llvm.func @f() { llvm.return } }", errors, /*lower=*/false), "");
  EXPECT_NE(errors.find("expects one #nvvm.target, found 0 targets"), std::string::npos) << errors;
}

TEST(EmitPtx, fatal_errors_of_llvm_come_back_as_errors) {
  std::string errors;
  EXPECT_EQ(ptxOf("gpu.module @m [#nvvm.target<chip = \"sm_80\", features = \"+ptx70\">] {\n  "
                  "llvm.func @f(%a: f64) -> f64 {\n"
                  "    %b = llvm.intr.sin(%a) : (f64) -> f64\n    llvm.return %b : f64\n  }\n}",
                  errors, /*lower=*/false),
            "");
  EXPECT_NE(errors.find("no PTX for sm_80: "), std::string::npos) << errors;
}

} // namespace
