// SPDX-License-Identifier: Apache-2.0
//
// Norms, and the error of the maths functions.
#include "test/passes/codegen/cpu/KernelHarness.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace llmc::cpu::test;

TEST(Math, rms_norm_of_rows_that_are_no_multiple_of_the_lanes) {
  for (int width : {1, 7, 8, 100, 577}) {
    std::string w = std::to_string(width), rows = "!tile.view<?x" + w + "xf32>",
                line = "!tile.view<" + w + "xf32>";
    CompiledKernels kernels("tile.kernel @k(%step: !tile.step, %x: " + rows + ", %w: " + line +
                            ", %y: " + rows + R"() {
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  %width = arith.constant )" +
                            w + R"( : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %lanes = scf.for %i = %c0 to %width step %c16 iter_args(%sum = %zero) -> (tensor<16xf32>) {
    %left = arith.subi %width, %i : index
    %a = tile.load %x[%r, %i] valid %left : )" +
                            rows + R"( -> tensor<16xf32>
    %next = math.fma %a, %a, %sum : tensor<16xf32>
    scf.yield %next : tensor<16xf32>
  }
  %sum = tile.reduce add %lanes : tensor<16xf32> -> f32
  %n = arith.constant )" + w +
                            R"(.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %mean = arith.divf %sum, %n : f32
  %shifted = arith.addf %mean, %eps : f32
  %scale = math.rsqrt %shifted : f32
  %scales = tile.broadcast %scale : f32 -> tensor<16xf32>
  scf.for %i = %c0 to %width step %c16 {
    %left = arith.subi %width, %i : index
    %a = tile.load %x[%r, %i] valid %left : )" +
                            rows + R"( -> tensor<16xf32>
    %g = tile.load %w[%i] valid %left : )" +
                            line + R"( -> tensor<16xf32>
    %b = arith.mulf %a, %scales : tensor<16xf32>
    %c = arith.mulf %b, %g : tensor<16xf32>
    tile.store %c, %y[%r, %i] valid %left : tensor<16xf32>, )" +
                            rows + R"(
  }
  tile.return
})");
    std::vector<float> x = randomFloats(3 * width, 1), g = randomFloats(width, 2),
                       y(3 * width + 16, -77.0f), expected(3 * width + 16, -77.0f);
    kernels.run("k", {x.data(), g.data(), y.data()}, 0, 3);
    for (int r = 0; r < 3; ++r) {
      float lanes[16] = {};
      for (int i = 0; i < width; ++i)
        lanes[i % 16] = std::fma(x[r * width + i], x[r * width + i], lanes[i % 16]);
      for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; ++i)
          lanes[i] += lanes[i + half];
      float scale = 1.0f / std::sqrt(lanes[0] / float(width) + 1.0e-5f);
      for (int i = 0; i < width; ++i)
        expected[r * width + i] = x[r * width + i] * scale * g[i];
    }
    ASSERT_EQ(differences(y, expected), 0u) << "width " << width;
  }
}

/// Largest error of `function` in ulp over [low, high], against libm in double.
static double largestError(const std::string &function, double (*exact)(double), float low,
                           float high) {
  CompiledKernels kernels(R"(
tile.kernel @k(%step: !tile.step, %x: !tile.view<?x32xf32>, %y: !tile.view<?x32xf32>) {
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%r, %c0] : !tile.view<?x32xf32> -> tensor<32xf32>
  %b = math.)" + function +
                          R"( %a : tensor<32xf32>
  tile.store %b, %y[%r, %c0] : tensor<32xf32>, !tile.view<?x32xf32>
  tile.return
})");
  const int count = 1 << 21;
  std::vector<float> x(count), y(count);
  for (int i = 0; i < count; ++i)
    x[i] = i < count / 2
               ? low + (high - low) * float(i) / float(count / 2)
               : std::copysign(std::exp2(-30.0f * float(i - count / 2) / float(count / 2)) * high,
                               i % 2 ? 1.0f : low);
  kernels.run("k", {x.data(), y.data()}, 0, count / 32);
  double worst = 0;
  for (int i = 0; i < count; ++i)
    if (x[i] >= low && x[i] <= high)
      worst = std::max(worst, ulps(y[i], exact(double(x[i]))));
  printf("%s on [%g, %g]: %.3f ulp\n", function.c_str(), low, high, worst);
  return worst;
}

TEST(Math, errors_are_within_what_the_readme_states) {
  EXPECT_LE(largestError("exp", std::exp, -87.0f, 88.0f), 1.1);
  EXPECT_LE(largestError("tanh", std::tanh, -12.0f, 12.0f), 5.0);
  EXPECT_LE(largestError("erf", std::erf, -6.0f, 6.0f), 8.0);
  EXPECT_LE(largestError("sqrt", std::sqrt, 0.0f, 1.0e6f), 0.5);
}

TEST(Math, special_values) {
  CompiledKernels kernels(R"(
tile.kernel @k(%step: !tile.step, %x: !tile.view<8xf32>, %e: !tile.view<8xf32>, %t: !tile.view<8xf32>, %r: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  %b = math.exp %a : tensor<8xf32>
  %c = math.tanh %a : tensor<8xf32>
  %d = math.erf %a : tensor<8xf32>
  tile.store %b, %e[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.store %c, %t[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.store %d, %r[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
})");
  std::vector<float> x = {-INFINITY, INFINITY, NAN, 0.0f, -1.0e30f, -1000.0f, 200.0f, -0.0f}, e(8),
                     t(8), r(8);
  kernels.run("k", {x.data(), e.data(), t.data(), r.data()}, 0, 1);
  for (int i = 0; i < 8; ++i) {
    if (i == 2) {
      EXPECT_TRUE(std::isnan(e[i]) && std::isnan(t[i]) && std::isnan(r[i]));
      continue;
    }
    EXPECT_EQ(e[i], std::exp(x[i])) << x[i];
    EXPECT_EQ(t[i], std::tanh(x[i])) << x[i];
    EXPECT_EQ(r[i], std::erf(x[i])) << x[i];
  }
}
