// SPDX-License-Identifier: Apache-2.0
//
// llmc run IN --reference: the same as `llmc run`, with the reference interpreter on an uncompiled model.
#include "dialects/llm/reference/Interpreter.h"
#include "frontends/ModelBuilder.h"
#include "frontends/Open.h"
#include "tools/llmc-opt/Registration.h"
#include "tools/llmc/Npy.h"
#include "tools/llmc/compiler/Commands.h"
#include "mlir/IR/MLIRContext.h"
#include <cstdio>

namespace {

using namespace llmc;

struct ReferenceRequest {
  std::string input, logitsOut;
  std::vector<int32_t> prompt;
  int64_t maxNewTokens = 32;
  bool reference = false, ignoreEos = false, printIds = false;
  double temperature = 0;
  int threads = 1;
};

Result<std::vector<int32_t>> generate(const ReferenceRequest &request) {
  Result<OpenedModel> opened = openModel(request.input);
  if (!opened)
    return opened.takeError();
  for (int32_t id : request.prompt)
    if (id < 0 || id >= opened->config.vocabSize)
      return errorAt("--prompt-ids", "", "token id " + std::to_string(id) + ", expected 0 to " + std::to_string(opened->config.vocabSize - 1));
  int64_t needed = int64_t(request.prompt.size()) + request.maxNewTokens;
  if (needed > opened->config.maxPositions)
    return errorAt("--max-new-tokens", "", "prompt and new tokens are " + std::to_string(needed) + ", expected at most " +
                                               std::to_string(opened->config.maxPositions) + ", the model's positions");
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = buildModule(context, opened->config, {needed, llm::KVLayout::HeadMajor, request.input});
  if (!module)
    return module.takeError();
  reference::Interpreter interpreter(**module, *opened->weights);
  if (!request.logitsOut.empty()) {
    auto outputs = interpreter.run("prefill", reference::StepBuilder().add(1, request.prompt, 0, reference::Wanted::All).take());
    if (!outputs)
      return outputs.takeError();
    if (Status written = writeNpy(request.logitsOut, outputs->logits.values.data(), request.prompt.size(), size_t(opened->config.vocabSize)); !written.ok())
      return written.takeError();
    interpreter.caches().truncate(1, 0);
  }
  return reference::greedyGenerate(interpreter, request.prompt, request.maxNewTokens,
                                   request.ignoreEos ? std::vector<int32_t>() : opened->config.eosIds);
}

int run(const ReferenceRequest &request) {
  if (!request.reference) {
    std::fprintf(stderr, "llmc-compiler: error: run without --reference, expected llmc run to run a compiled model\n");
    return 2;
  }
  Result<std::vector<int32_t>> ids = generate(request);
  if (!ids) {
    std::fprintf(stderr, "%s\n", ids.error().str().c_str());
    return 1;
  }
  for (size_t i = 0; i < ids->size(); ++i)
    std::printf("%s%d", i ? "," : "", (*ids)[i]);
  std::printf("\n");
  return 0;
}

} // namespace

void llmc::addReferenceCommand(CLI::App &app, int &status) {
  auto request = std::make_shared<ReferenceRequest>();
  CLI::App *command = app.add_subcommand("run", "Run an uncompiled model with the reference interpreter (--reference)");
  command->footer("Example: llmc run model/ --reference --prompt-ids 1,2,3 --max-new-tokens 8");
  command->add_option("IN", request->input, "Hugging Face folder or model.json")->required();
  command->add_flag("--reference", request->reference, "slow, obvious, and what every other way is checked against");
  command->add_option("--prompt-ids", request->prompt, "token ids separated by commas")->delimiter(',')->required();
  command->add_option("--max-new-tokens", request->maxNewTokens, "tokens to generate")->capture_default_str()->check(CLI::Range(0, 1 << 24));
  command->add_option("--temperature", request->temperature, "0: greedy")->check(CLI::Range(0.0, 0.0));
  command->add_flag("--ignore-eos", request->ignoreEos, "go on after an end-of-sequence id");
  command->add_option("--threads", request->threads, "accepted and without effect: the reference uses one");
  command->add_flag("--print-ids", request->printIds, "ids are always printed");
  command->add_option("--logits-out", request->logitsOut, "F.npy: float32 [prompt positions, vocabulary]");
  command->callback([request, &status] { status = run(*request); });
}
