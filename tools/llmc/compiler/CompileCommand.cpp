// SPDX-License-Identifier: Apache-2.0
//
// llmc compile: options, progress on a terminal, a short summary at the end.
#include "tools/llmc/compiler/Commands.h"
#include "tools/llmc/compiler/Compilation.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <unistd.h>

namespace {

using namespace llmc;

/// One line on a terminal: the stage, then bytes packed. Silent elsewhere.
class ProgressBar {
public:
  void stage(llvm::StringRef name) {
    if (terminal)
      std::fprintf(stderr, "\r\033[K%-10s", name.str().c_str());
  }
  void packed(uint64_t done, uint64_t total) {
    if (!terminal || total == 0)
      return;
    int filled = int(40 * done / total);
    if (filled == shown)
      return;
    shown = filled;
    std::fprintf(stderr, "\r\033[Kpacking    [%.*s%*s] %.1f of %.1f MB", filled, "########################################", 40 - filled, "",
                 double(done) / 1e6, double(total) / 1e6);
  }
  void clear() {
    if (terminal)
      std::fprintf(stderr, "\r\033[K");
  }

private:
  bool terminal = isatty(STDERR_FILENO);
  int shown = -1;
};

/// What re-quantising cost: each tensor's root mean square error relative to its own, worst first.
void printLosses(const std::map<std::string, model::RoundingLoss> &losses, bool all) {
  std::vector<std::pair<double, std::string>> worst;
  for (const auto &[name, loss] : losses)
    worst.push_back({loss.relative(), name});
  std::sort(worst.rbegin(), worst.rend());
  if (!worst.empty())
    std::fprintf(stderr, "rounded %zu tensors, relative error %.4f (median), of each:\n", worst.size(), worst[worst.size() / 2].first);
  constexpr size_t kShown = 5;
  for (size_t i = 0; i < worst.size() && (all || i < kShown); ++i)
    std::fprintf(stderr, "  %-24s %.4f\n", worst[i].second.c_str(), worst[i].first);
  if (!all && worst.size() > kShown)
    std::fprintf(stderr, "  ... and %zu with less (all: --verbose, or llmc inspect --manifest)\n", worst.size() - kShown);
}

void printSummary(const CompileRequest &request, const CompileSummary &s, double seconds) {
  double chunksForMax = double((s.maxPositions + 63) / 64);
  std::fprintf(stderr, "wrote %s: %.2f MB (weights %.2f MB, code %.1f KB, %zu kernels, %zu commands)\n", request.output.c_str(),
               double(s.artifact.fileBytes) / 1e6, double(s.artifact.weightsBytes) / 1e6, double(s.artifact.codeBytes) / 1e3, s.kernels, s.commands);
  if (!s.artifact.weightsPath.empty())
    std::fprintf(stderr, "wrote %s\n", s.artifact.weightsPath.c_str());
  std::fprintf(stderr, "memory: %llu bytes a row, %llu bytes an output, KV %.2f MB for one sequence of %lld positions\n",
               (unsigned long long)s.rowsArenaBytes, (unsigned long long)s.outputsArenaBytes, chunksForMax * double(s.chunkBytes) / 1e6,
               (long long)s.maxPositions);
  printLosses(s.artifact.losses, request.verbose);
  std::fprintf(stderr, "time: %.2f s (code %.2f s, packing %.2f s", seconds, s.codeSeconds, s.artifact.packSeconds);
  if (s.artifact.packSeconds > 0)
    std::fprintf(stderr, ", %.2f GB/s", double(s.artifact.weightsBytes) / s.artifact.packSeconds / 1e9);
  std::fprintf(stderr, ")\n");
}

int run(CompileRequest request) {
  if (request.emit == "so" && request.output.empty()) {
    std::fprintf(stderr, "llmc compile: error: no output named, expected -o FILE.so, FILE.o or FILE.a\n");
    return 2;
  }
  ProgressBar bar;
  request.onStage = [&](llvm::StringRef name) { bar.stage(name); };
  request.onPacked = [&](uint64_t done, uint64_t total) { bar.packed(done, total); };
  request.removeOnSignal = true;
  auto start = std::chrono::steady_clock::now();
  Result<CompileSummary> summary = compile(request);
  bar.clear();
  if (!summary) {
    std::fprintf(stderr, "%s\n", summary.error().str().c_str());
    return 1;
  }
  if (request.emit == "so")
    printSummary(request, *summary, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return 0;
}

} // namespace

void llmc::addCompileCommand(CLI::App &app, int &status) {
  auto request = std::make_shared<CompileRequest>();
  auto plugins = std::make_shared<std::vector<std::string>>();
  CLI::App *command = app.add_subcommand("compile", "Compile a model (GGUF file, Hugging Face folder or model.json) into one artefact");
  command->footer("Example: llmc compile model/ -o model.so --target cpu:native --max-seq 2048");
  command->add_option("IN", request->input, "GGUF file, Hugging Face folder or model.json; with --from: an .mlir file")->required();
  command->add_option("-o", request->output, "OUT.so, OUT.o or OUT.a; with --emit: a file or - (default: stdout)");
  command->add_option("--target", request->pipeline.target, "cpu:LEVEL[,...]: native, x86-64-v3, x86-64-v4, x86-64-v4+vnni+bf16")
      ->capture_default_str();
  command->add_option("--max-seq", request->maxSequence, "longest sequence, in tokens (default: the model's own, up to 4096)")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 24));
  command->add_option("--max-batch", request->maxBatch, "most sequences at once")->capture_default_str()->check(CLI::Range(1, 4096));
  command->add_option("--emit", request->emit, "print a stage: import, graph, schedule, tile, memory, kernel, llvm-ir, asm")
      ->capture_default_str();
  command->add_option("--from", request->from, "IN is IR printed after this stage (import to memory): go on from there");
  command->add_option("--weights", [request](const CLI::results_t &values) {
        if (values.front() == "separate")
          request->weightsSeparate = true;
        else
          request->weights = values.front();
        return true;
      }, "'separate': in OUT.weights; with --from: the model that holds them");
  command->add_option("--name", request->name, "a C identifier: exports NAME_llmc_query, so that several can be linked");
  command->add_flag("--no-tokenizer", request->withoutTokenizer, "leave the model's tokenizer out: token ids only");
  command->add_option("--schedule", request->pipeline.schedule, "force fields: [graph:][kind or region:]field=value,... (linear:row_tile=4)");
  command->add_option("--quant", request->pipeline.quant, "weights: keep (as stored), f32, bf16, int8 or int4 (groups of 32)")
      ->capture_default_str();
  command->add_option("--kv", request->pipeline.kv, "keys and values: f32, bf16, int8, auto (f32 if all weights are, else bf16)")->capture_default_str();
  command->add_option("--kv-layout", request->pipeline.kvLayout, "head_major or token_major")->capture_default_str();
  command->add_option("--fuse-norm", request->pipeline.fuseNorm, "norms into linears: cost (where it pays), always or never")->capture_default_str();
  command->add_option("--load-pass-plugin", *plugins, "FILE[@STAGE]: run its passes at the end of STAGE (default graph)");
  command->add_option("--remarks", request->remarks, "write every decision to this file (YAML)");
  command->add_flag("--verbose", request->verbose, "print every decision on stderr");
  command->callback([request, plugins, &status] {
    for (const std::string &plugin : *plugins) {
      size_t at = plugin.rfind('@');
      request->plugins.push_back({plugin.substr(0, at), at == std::string::npos ? "graph" : plugin.substr(at + 1)});
    }
    status = run(*request);
  });
}
