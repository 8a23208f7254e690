// SPDX-License-Identifier: Apache-2.0
// Kernels that other producers made (nvcc, clang; see kernels/generate.sh) against the CPU's
// results, and the same kernels with one line broken, which has to show as a finding or as wrong
// numbers.
#include "test/tools/ptx-interpreter/Support.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace llmc::ptx::test {
namespace {

using Floats = std::vector<float>;

/// A machine with one module; buffers go in by value and come back after the launch.
class Bench {
public:
  explicit Bench(const std::string &text) {
    module = machine.load(text, "kernel.ptx", error);
    EXPECT_TRUE(module) << error;
  }
  template <typename Element> uint64_t input(const std::vector<Element> &values) {
    uint64_t address = machine.memory().allocate(values.size() * sizeof(Element));
    EXPECT_TRUE(machine.memory().write(address, values.data(), values.size() * sizeof(Element)));
    return address;
  }
  uint64_t output(size_t bytes) { return machine.memory().allocate(bytes); }
  template <typename Element> std::vector<Element> fetch(uint64_t address, size_t count) {
    std::vector<Element> values(count);
    EXPECT_TRUE(machine.memory().read(address, values.data(), count * sizeof(Element)));
    return values;
  }
  LaunchResult run(const std::string &name, uint32_t blocks, uint32_t threads,
                   const std::vector<uint64_t> &values) {
    const Kernel *kernel = module ? module->module.find(name) : nullptr;
    std::vector<uint8_t> parameters;
    if (!kernel || !packParameters(*kernel, values, parameters, error)) {
      ADD_FAILURE() << name << ": " << error;
      return {};
    }
    return machine.launch(*module, *kernel, {{blocks, 1, 1}, {threads, 1, 1}, 0}, parameters);
  }

private:
  Machine machine;
  LoadedModule *module = nullptr;
  std::string error;
};

Floats randomFloats(size_t count, unsigned seed, float low = -2, float high = 2) {
  std::mt19937 random(seed);
  Floats values(count);
  for (float &value : values)
    value = low + (high - low) * float(random()) / 4294967296.0f;
  return values;
}

std::string kernelFile(const std::string &name) {
  return readFile(std::string(KERNEL_FOLDER) + "/" + name);
}

/// Replaces the n-th occurrence (from 0).
std::string broken(std::string text, const std::string &from, const std::string &to,
                   int which = 0) {
  size_t at = text.find(from);
  for (; which > 0 && at != std::string::npos; --which)
    at = text.find(from, at + 1);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// Largest error relative to 1 + |expected|; infinite where a NaN or a missing value is.
double largestError(const Floats &found, const std::vector<double> &expected) {
  double worst = found.size() == expected.size() ? 0 : INFINITY;
  for (size_t index = 0; index < std::min(found.size(), expected.size()); ++index) {
    double error = std::fabs(found[index] - expected[index]) / (1 + std::fabs(expected[index]));
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  }
  return worst;
}

struct Outcome {
  LaunchResult result;
  double error;
  bool good() const { return result.clean() && error < 2e-6; }
};

Outcome softmax(const std::string &text) {
  constexpr uint32_t rows = 5, columns = 203;
  Floats values = randomFloats(rows * columns, 1, -6, 6);
  std::vector<double> expected;
  for (uint32_t row = 0; row < rows; ++row) {
    const float *first = &values[row * columns];
    double largest = *std::max_element(first, first + columns), sum = 0;
    for (uint32_t column = 0; column < columns; ++column)
      sum += std::exp(first[column] - largest);
    for (uint32_t column = 0; column < columns; ++column)
      expected.push_back(std::exp(first[column] - largest) / sum);
  }
  Bench bench(text);
  uint64_t output = bench.output(values.size() * 4);
  LaunchResult result = bench.run("softmax", rows, 64, {bench.input(values), output, columns});
  return {result, largestError(bench.fetch<float>(output, values.size()), expected)};
}

TEST(CompiledKernels, SoftmaxByNvcc) {
  Outcome outcome = softmax(kernelFile("softmax.ptx"));
  EXPECT_TRUE(outcome.result.clean()) << outcome.result.error;
  EXPECT_LT(outcome.error, 2e-6);
}

TEST(CompiledKernels, SoftmaxWithoutAnyOneBarrierIsCaught) {
  std::string text = kernelFile("softmax.ptx");
  int barriers = 0;
  for (size_t at = text.find("bar.sync"); at != std::string::npos;
       at = text.find("bar.sync", at + 1))
    ++barriers;
  ASSERT_GT(barriers, 5);
  int caught = 0;
  for (int which = 0; which < barriers; ++which)
    caught += !softmax(broken(text, "bar.sync \t0;", "", which)).good();
  // Barriers of the last reduction steps stand between lanes of one warp, which this model runs in
  // step.
  EXPECT_GE(caught, 5) << "of " << barriers;
  EXPECT_FALSE(softmax(broken(text, "bar.sync \t0;", "", 0)).good());
}

TEST(CompiledKernels, SoftmaxWithBrokenLinesIsCaught) {
  std::string text = kernelFile("softmax.ptx");
  EXPECT_FALSE(softmax(broken(text, "setp.lt.s32 \t%p25", "setp.le.s32 \t%p25")).good())
      << "writes into the next block's row";
  EXPECT_FALSE(softmax(broken(text, "setp.lt.s32", "setp.le.s32")).good()) << "one column too many";
  EXPECT_FALSE(softmax(broken(text, "div.rn.f32", "mul.rn.f32")).good());
  EXPECT_FALSE(softmax(broken(text, "st.shared.f32", "// st.shared.f32")).good())
      << "uninitialised shared memory";
  EXPECT_FALSE(softmax(broken(text, "ex2.approx.ftz.f32", "lg2.approx.ftz.f32")).good());
}

Outcome dot(const std::string &text) {
  constexpr uint32_t warps = 4, quads = 75;
  Floats left = randomFloats(warps * quads * 4, 2), right = randomFloats(warps * quads * 4, 3);
  std::vector<double> expected(warps);
  for (size_t index = 0; index < left.size(); ++index)
    expected[index / (quads * 4)] += double(left[index]) * right[index];
  Bench bench(text);
  uint64_t output = bench.output(warps * 4);
  LaunchResult result =
      bench.run("dot", 2, 64, {bench.input(left), bench.input(right), output, quads});
  return {result, largestError(bench.fetch<float>(output, warps), expected)};
}

TEST(CompiledKernels, DotByNvccAndBroken) {
  std::string text = kernelFile("dot.ptx");
  Outcome outcome = dot(text);
  EXPECT_TRUE(outcome.result.clean()) << outcome.result.error;
  EXPECT_LT(outcome.error, 2e-6);
  EXPECT_FALSE(dot(broken(text, "fma.rn.f32", "sub.f32 %f1, %f1, %f1; //")).good());
  EXPECT_FALSE(dot(broken(text, "mad.lo.s32", "mad.hi.s32")).good());
  EXPECT_FALSE(dot(broken(text, "mov.u32 \t%r29, 8;", "mov.u32 \t%r29, 4;")).good())
      << "wrong shuffle distance";
}

TEST(CompiledKernels, GeluByNvcc) {
  Floats values = randomFloats(1000, 4, -5, 5);
  std::vector<double> expected;
  for (float value : values)
    expected.push_back(0.5 * value * (1 + std::erf(value * double(0.70710678f))));
  Bench bench(kernelFile("gelu.ptx"));
  uint64_t output = bench.output(4000);
  LaunchResult result = bench.run("gelu", 8, 128, {bench.input(values), output, 1000});
  EXPECT_TRUE(result.clean()) << result.error;
  EXPECT_LT(largestError(bench.fetch<float>(output, 1000), expected), 2e-6);
}

TEST(CompiledKernels, NarrowingByNvccMatchesTheRoundingRules) {
  Floats values = randomFloats(257, 5, -100, 100);
  Bench bench(kernelFile("gelu.ptx"));
  uint64_t brain = bench.output(257 * 2), half = bench.output(257 * 2);
  LaunchResult result = bench.run("narrow", 3, 96, {bench.input(values), brain, half, 257});
  EXPECT_TRUE(result.clean()) << result.error;
  std::vector<uint16_t> brains = bench.fetch<uint16_t>(brain, 257),
                        halves = bench.fetch<uint16_t>(half, 257);
  for (size_t index = 0; index < values.size(); ++index) {
    uint32_t bits = uint32_t(floatCell(values[index]));
    ASSERT_EQ(brains[index], (bits + 0x7fff + (bits >> 16 & 1)) >> 16) << values[index];
    _Float16 expected = static_cast<_Float16>(values[index]);
    ASSERT_EQ(halves[index], bitCast<uint16_t>(expected)) << values[index];
  }
}

TEST(CompiledKernels, PowersByNvcc) {
  Floats bases = randomFloats(300, 6, 0.1f, 30), exponents = randomFloats(300, 7, -2, 2);
  std::vector<double> expected;
  for (size_t index = 0; index < bases.size(); ++index) {
    double base = bases[index];
    expected.push_back(std::pow(base, exponents[index]) + std::tanh(base) +
                       1 / std::sqrt(base + 1) + std::log(base) + std::sin(base));
  }
  Bench bench(kernelFile("gelu.ptx"));
  uint64_t whole = bench.output(1200), output = bench.output(1200);
  LaunchResult result =
      bench.run("powers", 3, 128, {bench.input(bases), bench.input(exponents), whole, output, 300});
  EXPECT_TRUE(result.clean()) << result.error;
  Floats values = bench.fetch<float>(output, 300);
  EXPECT_LT(largestError(values, expected), 1e-5);
  std::vector<int32_t> integers = bench.fetch<int32_t>(whole, 300);
  for (int index = 0; index < 300; ++index)
    ASSERT_EQ(integers[index], int(std::nearbyint(values[index])) / (index % 7 + 1) + index % 5);
}

Outcome rmsNorm(const std::string &text) {
  constexpr uint32_t rows = 3, columns = 333;
  Floats values = randomFloats(rows * columns, 8), weights = randomFloats(columns, 9);
  std::vector<double> expected;
  for (uint32_t row = 0; row < rows; ++row) {
    double squares = 0;
    for (uint32_t column = 0; column < columns; ++column)
      squares += std::pow(double(values[row * columns + column]), 2);
    for (uint32_t column = 0; column < columns; ++column)
      expected.push_back(values[row * columns + column] / std::sqrt(squares / columns + 1e-5) *
                         weights[column]);
  }
  Bench bench(text);
  uint64_t output = bench.output(values.size() * 4);
  LaunchResult result =
      bench.run("rms_norm", rows, 128,
                {bench.input(values), bench.input(weights), output, columns, floatCell(1e-5f)});
  return {result, largestError(bench.fetch<float>(output, values.size()), expected)};
}

TEST(CompiledKernels, RmsNormByClangAndBroken) {
  std::string text = kernelFile("tiles.ptx");
  Outcome outcome = rmsNorm(text);
  EXPECT_TRUE(outcome.result.clean()) << outcome.result.error;
  EXPECT_LT(outcome.error, 2e-6);
  EXPECT_FALSE(rmsNorm(broken(text, "bar.sync", "// bar.sync")).good());
  EXPECT_FALSE(rmsNorm(broken(text, ", 8, 31, -1;", ", 4, 31, -1;")).good())
      << "wrong shuffle distance";
  EXPECT_FALSE(rmsNorm(broken(text, "sqrt.rn.f32", "abs.f32")).good());
  EXPECT_FALSE(rmsNorm(broken(text, "setp.lt.s32", "setp.le.s32")).good());
}

Outcome gemv(const std::string &text, Counters &counters) {
  constexpr uint32_t rows = 10, quads = 50;
  Floats matrix = randomFloats(rows * quads * 4, 10), vector = randomFloats(quads * 4, 11);
  std::vector<double> expected(rows);
  for (size_t index = 0; index < matrix.size(); ++index)
    expected[index / (quads * 4)] += double(matrix[index]) * vector[index % (quads * 4)];
  Bench bench(text);
  uint64_t output = bench.output(rows * 4);
  LaunchResult result =
      bench.run("gemv", 3, 128, {bench.input(matrix), bench.input(vector), output, rows, quads});
  counters = result.counters;
  return {result, largestError(bench.fetch<float>(output, rows), expected)};
}

TEST(CompiledKernels, GemvByClangIsRightAndCoalesced) {
  std::string text = kernelFile("tiles.ptx");
  Counters counters;
  Outcome outcome = gemv(text, counters);
  EXPECT_TRUE(outcome.result.clean()) << outcome.result.error;
  EXPECT_LT(outcome.error, 2e-6);
  EXPECT_EQ(counters.globalBytesRead, 2u * 10 * 50 * 16) << "matrix once, vector once a row";
  // Each row is 800 bytes, 25 sectors, for the matrix and for the vector; and one sector for each
  // of ten stores.
  EXPECT_EQ(counters.globalSectors, 10u * 2 * 25 + 10);
  EXPECT_FALSE(gemv(broken(text, "shfl.sync.down.b32", "shfl.sync.up.b32"), counters).good());
}

TEST(CompiledKernels, SiluByClang) {
  Floats gate = randomFloats(500, 12, -20, 20), up = randomFloats(500, 13);
  std::vector<double> expected;
  for (size_t index = 0; index < gate.size(); ++index)
    expected.push_back(gate[index] / (1 + std::exp(-double(gate[index]))) * up[index]);
  Bench bench(kernelFile("tiles.ptx"));
  uint64_t output = bench.output(2000);
  LaunchResult result =
      bench.run("silu_multiply", 4, 128, {bench.input(gate), bench.input(up), output, 500});
  EXPECT_TRUE(result.clean()) << result.error;
  EXPECT_LT(largestError(bench.fetch<float>(output, 500), expected), 5e-6);
}

} // namespace
} // namespace llmc::ptx::test
