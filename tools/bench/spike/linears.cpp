// SPDX-License-Identifier: Apache-2.0
//
// Linears of a prefill: the kernels that llmc emits today against hand-written loops of the same
// instructions, and both against the peak of products of bytes, in alternation on one thread.
#include "tools/bench/spike/HandLinear.h"
#include "tools/bench/spike/HandWritten.h"
#include "tools/bench/spike/Measure.h"
#include "tools/bench/spike/TileKernels.h"
#include "tools/llmc/ceilings/Loops.h"
#include <cstring>

namespace {

constexpr int kGroup = 32, kPanel = 32;
constexpr int kRounds = 31, kCeilingRounds = 20000;
constexpr int kRowCounts[] = {128, 512};

/// A level of the CPU, its loops by hand, and what its peak is measured with.
struct Level {
  const char *name;
  HandLinearLoop (*hand)(GroupKind, int depth);
  uint64_t features;
};
constexpr Level kLevel512 = {"native", handLinear512, LLMC_CPU_AVX512F | LLMC_CPU_AVX512VNNI},
                kLevelAVX2 = {"x86-64-v3", handLinearAVX2, LLMC_CPU_AVX2};

struct Shape {
  int outputs, depth;
};
/// Of SmolLM2-135M, and of a model of 0.5B.
constexpr Shape kShapes[] = {{1536, 576}, {3072, 576}, {576, 1536},
                             {576, 576},  {4864, 896}, {896, 4864}};

struct Format {
  GroupKind kind;
  const char *name, *type;
  int codeWords; ///< of a group, for each output
  bool minimum;
};
constexpr Format kFormats[] = {
    {GroupKind::Int4, "Q4_0", "bits = 4", 4, false},
    {GroupKind::Int4Minimum, "Q4_1", "bits = 4, minimum = true", 4, true},
    {GroupKind::Int8, "Q8_0", "bits = 8", 8, false}};

std::string replaced(std::string text,
                     std::initializer_list<std::pair<const char *, std::string>> words) {
  for (const auto &[word, value] : words)
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += value.size())
      text.replace(at, std::strlen(word), value);
  return text;
}

/// Rows are rounded, then multiplied: two regions, two kernels.
std::string moduleOf(const Shape &shape, const Format &format) {
  return replaced(R"(
llm.weight @w : !llm.weight<$Nx$Kx!llm.group<$T>> from ["w"]
func.func @prefill(%x: tensor<?x$Kxf32>) -> tensor<?x$Nxf32> attributes {llm.graph = "prefill"} {
  %q = llm.fused "round" {
    %0 = llm.quantize %x : tensor<?x$Kxf32> -> tensor<?x$Kx!llm.group<bits = 8>>
    llm.yield %0 : tensor<?x$Kx!llm.group<bits = 8>>
  } : tensor<?x$Kx!llm.group<bits = 8>>
  %y = llm.fused "linear" {
    %0 = llm.linear %q, @w : tensor<?x$Kx!llm.group<bits = 8>> -> tensor<?x$Nxf32>
    llm.yield %0 : tensor<?x$Nxf32>
  } : tensor<?x$Nxf32>
  return %y : tensor<?x$Nxf32>
}
)",
                  {{"$N", std::to_string(shape.outputs)},
                   {"$K", std::to_string(shape.depth)},
                   {"$T", format.type}});
}

/// Any bytes are codes; factors are halves from 2^-6 to 2^-5, minimums negative.
Words randomPanels(const Shape &shape, const Format &format) {
  std::mt19937 generator(5);
  Words words;
  for (int block = 0; block < shape.outputs / kPanel * (shape.depth / kGroup); ++block) {
    for (int i = 0; i < format.codeWords * kPanel; ++i)
      words.push_back(int32_t(generator()));
    for (int i = 0; i < (format.minimum ? kPanel : kPanel / 2); ++i)
      words.push_back(
          int32_t((generator() & 0x03ff03ff) | (i < kPanel / 2 ? 0x24002400 : 0xa400a400)));
  }
  return words;
}

/// The kernels of one shape and format, and what they work on.
class Linear {
public:
  Linear(const Shape &shape, HandLinearLoop hand, int rows, const TileKernels &kernels,
         const Words &weights)
      : shape(shape), weights(weights), round(kernels.find("row_wise_0")),
        multiply(kernels.find("linear_0")), hand(hand), x(randomFloats(size_t(rows) * shape.depth)),
        rounded(size_t(rows) * (shape.depth / kGroup) * 11), results(size_t(rows) * shape.outputs) {
    step.n_rows = uint32_t(rows);
  }

  bool isThere() const { return round && multiply && hand; }
  int rows() const { return int(step.n_rows); }
  double operations() const { return 2.0 * step.n_rows * shape.outputs * shape.depth; }

  void roundRows() {
    void *table[] = {x.data(), rounded.data()};
    round(table, kSlots, &step, 0, step.n_rows);
  }
  void runEmitted() {
    void *table[] = {rounded.data(), const_cast<int32_t *>(weights.data()), results.data()};
    multiply(table, kSlots, &step, 0, uint32_t(shape.outputs / kPanel));
  }
  void runHand() {
    hand({rounded.data(), weights.data(), results.data(), int(step.n_rows), shape.outputs});
  }
  bool agree() {
    runEmitted();
    const Floats emitted = results;
    std::fill(results.begin(), results.end(), NAN);
    runHand();
    return !std::memcmp(emitted.data(), results.data(), results.size() * sizeof(float));
  }

private:
  static constexpr uint16_t kSlots[] = {0, 1, 2};

  Shape shape;
  const Words &weights;
  llmc_kernel_fn round, multiply;
  HandLinearLoop hand;
  llmc_step step = {};
  Floats x;
  Words rounded;
  Floats results; ///< of either form: where a buffer lies decides how many pages its rows touch
};

/// Both forms and the ceiling, each first, second and last in turn.
bool measure(const char *name, const Shape &shape, const Level &level, Linear &linear) {
  const llmc::ceilings::ArithmeticLoop peak = llmc::ceilings::int8Loop(level.features);
  const std::function<void()> turns[] = {[&] { linear.runEmitted(); }, [&] { linear.runHand(); },
                                         [&] { peak.run(kCeilingRounds); }};
  linear.roundRows();
  std::vector<double> emitted, hand, ceiling, ratios;
  for (int round = 0; round < kRounds; ++round) {
    double times[3];
    for (int turn = 0; turn < 3; ++turn)
      times[(round + turn) % 3] = seconds(turns[(round + turn) % 3]);
    emitted.push_back(linear.operations() / times[0]);
    hand.push_back(linear.operations() / times[1]);
    ceiling.push_back(kCeilingRounds * peak.operationsInRound / times[2]);
    ratios.push_back(times[1] / times[0]);
  }
  const auto share = [&](const std::vector<double> &rates) {
    std::vector<double> shares;
    for (size_t i = 0; i < rates.size(); ++i)
      shares.push_back(rates[i] / ceiling[i]);
    return 100 * median(shares);
  };
  printf("| %s, %d x %d x %d | %.0f | %.0f | %.1f %% | %.0f | %.1f %% | %.1f %% |\n", name,
         linear.rows(), shape.outputs, shape.depth, median(ceiling) * 1e-9, median(emitted) * 1e-9,
         share(emitted), median(hand) * 1e-9, share(hand), 100 * median(ratios));
  fflush(stdout);
  return linear.agree();
}

bool measureFormat(const Format &format, const Level &level, const std::string &schedule) {
  for (const Shape &shape : kShapes) {
    std::string error;
    const TileKernels kernels =
        TileKernels::ofRegions(moduleOf(shape, format), level.name, schedule, error);
    const Words weights = randomPanels(shape, format);
    for (int rows : kRowCounts) {
      Linear linear(shape, level.hand(format.kind, shape.depth), rows, kernels, weights);
      if (!linear.isThere()) {
        fprintf(stderr, "error: no kernels of %s, %d x %d: %s\n", format.name, shape.outputs,
                shape.depth, error.c_str());
        return false;
      }
      if (!measure(format.name, shape, level, linear)) {
        fprintf(stderr, "error: emitted and hand-written results of %s, %d x %d differ\n",
                format.name, shape.outputs, shape.depth);
        return false;
      }
    }
  }
  return true;
}

} // namespace

int main(int argc, char **argv) {
  const std::string name = argc > 1 ? argv[1] : "native", schedule = argc > 2 ? argv[2] : "";
  if (argc > 3 || (name != kLevel512.name && name != kLevelAVX2.name)) {
    fprintf(stderr,
            "usage: llmc-bench-linears [native|x86-64-v3 [SCHEDULE]], fields to force as in "
            "llmc compile --schedule\n");
    return 2;
  }
  const Level &level = name == kLevel512.name ? kLevel512 : kLevelAVX2;
  if (&level == &kLevel512 && !hasByteProducts()) {
    fprintf(stderr,
            "error: this processor has no vpdpbusd of 512 bits, which the loops are written "
            "with; x86-64-v3 has others\n");
    return 1;
  }
  printf("peak: %s\n\n", llmc::ceilings::int8Loop(level.features).instructions);
  printf(
      "| rows x outputs x depth | peak, GOP/s | emitted, GOP/s | of the peak | hand-written, GOP/s "
      "| of the peak | emitted / hand-written |\n|---|---|---|---|---|---|---|\n");
  for (const Format &format : kFormats)
    if (!measureFormat(format, level, schedule))
      return 1;
  return 0;
}
