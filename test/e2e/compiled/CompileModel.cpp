// SPDX-License-Identifier: Apache-2.0
#include "test/e2e/compiled/CompileModel.h"
#include "tools/llmc/compiler/Compilation.h"

#include <chrono>
#include <fstream>

namespace llmc::test {

Result<CompiledModel> compileModel(const ModelRequest &request) {
  CompileRequest compilation;
  compilation.input = request.input;
  compilation.output = request.output;
  compilation.emit = request.emit;
  compilation.from = request.from;
  compilation.weights = request.weights;
  compilation.name = request.name;
  compilation.pipeline.schedule = request.schedule;
  compilation.pipeline.target = request.target;
  compilation.pipeline.kv = request.kv;
  compilation.pipeline.quant = request.quant;
  compilation.pipeline.kvLayout = request.kvLayout;
  compilation.pipeline.fuseNorm = request.fuseNorm;
  compilation.maxSequence = request.maxSequence;
  if (!request.threadSanitizerExecutor.empty()) {
    compilation.instrumentThreads = true;
    compilation.executor = request.threadSanitizerExecutor;
  }
  auto start = std::chrono::steady_clock::now();
  Result<CompileSummary> summary = compile(compilation);
  if (!summary)
    return summary.takeError();
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return CompiledModel{summary->artifact.codeBytes, summary->kernels, summary->commands,
                       seconds.count(), summary->codeSeconds};
}

Status writeRandomModel(const RandomModel &model, const std::string &path) {
  std::ofstream file(path);
  file << "{\"llmc_model\": 1, \"hidden_size\": " << model.hidden
       << ", \"intermediate_size\": " << model.mlp << ", \"vocab_size\": " << model.vocabulary
       << ", \"max_positions\": " << model.maxPositions
       << ", \"norm\": {\"epsilon\": 1e-05}, \"activation\": \"silu\", \"rope\": {\"theta\": 10000}"
       << ", \"layers\": [{\"repeat\": " << model.layers << ", \"num_heads\": " << model.heads
       << ", \"num_kv_heads\": " << model.kvHeads << ", \"head_dim\": " << model.headDim << "}]"
       << ", \"weights\": {\"random\": " << model.seed << "}}\n";
  file.close();
  if (!file)
    return errorAt(path, "", "cannot be written");
  return {};
}

} // namespace llmc::test
