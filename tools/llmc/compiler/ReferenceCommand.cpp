// SPDX-License-Identifier: Apache-2.0
//
// llmc run IN --reference: the same as `llmc run`, with the reference interpreter on an uncompiled
// model.
#include "dialects/llm/reference/Interpreter.h"
#include "frontends/ModelBuilder.h"
#include "frontends/Open.h"
#include "mlir/IR/MLIRContext.h"
#include "tools/llmc-opt/Registration.h"
#include "tools/llmc/Npy.h"
#include "tools/llmc/TokenIds.h"
#include "tools/llmc/compiler/Commands.h"
#include "tools/llmc/compiler/Compilation.h"
#include <cstdio>

namespace {

using namespace llmc;

struct ReferenceRequest {
  std::string input, logitsOut;
  tool::PromptOptions prompt;
  int64_t maxNewTokens = 32;
  bool reference = false, ignoreEos = false, printIds = false, rounded = false;
  std::string quant = "keep", kv = "auto";
  double temperature = 0;
  int threads = 1;
};

/// Logits of all positions of the prompt, which the interpreter then forgets again.
Status writeLogits(reference::Interpreter &interpreter, const std::vector<int32_t> &prompt,
                   const std::string &path) {
  auto outputs = interpreter.run(
      "prefill", reference::StepBuilder().add(0, prompt, 0, reference::Wanted::All).take());
  interpreter.caches().truncate(0, 0);
  if (!outputs)
    return outputs.takeError();
  return tool::writeNpy(path, outputs->logits.values.data(), uint64_t(outputs->logits.lines),
                        uint64_t(outputs->logits.width));
}

/// The module with every rounding that a compiled model has: weights, activations, keys and values.
Result<mlir::OwningOpRef<mlir::ModuleOp>>
roundedModule(mlir::MLIRContext &context, const ReferenceRequest &request, int64_t maxSequence) {
  CompileRequest compile;
  compile.input = request.input;
  compile.maxSequence = maxSequence;
  compile.pipeline.target = "cpu:x86-64-v3"; // no rounding depends on it
  compile.pipeline.quant = request.quant;
  compile.pipeline.kv = request.kv;
  return buildUpTo(context, compile, "graph");
}

Result<std::vector<int32_t>> generate(const ReferenceRequest &request) {
  Result<OpenedModel> opened = openModel(request.input);
  if (!opened)
    return opened.takeError();
  Result<std::vector<int32_t>> prompt = tool::readPrompt(request.prompt, opened->config.vocabSize);
  if (!prompt)
    return prompt;
  int64_t needed = int64_t(prompt->size()) + request.maxNewTokens;
  if (needed > opened->config.maxPositions)
    return errorAt("--max-new-tokens", "",
                   "found " + std::to_string(prompt->size()) + " prompt tokens and " +
                       std::to_string(request.maxNewTokens) + " new ones, expected at most " +
                       std::to_string(opened->config.maxPositions) +
                       " in all, the model's positions");
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = request.rounded ? roundedModule(context, request, needed)
                                : buildModule(context, opened->config,
                                              {needed, llm::KVLayout::HeadMajor, request.input,
                                               opened->weights.get()});
  if (!module)
    return module.takeError();
  reference::Interpreter interpreter(**module, *opened->weights);
  if (!request.logitsOut.empty())
    if (Status written = writeLogits(interpreter, *prompt, request.logitsOut); !written.ok())
      return written.takeError();
  return reference::greedyGenerate(interpreter, *prompt, request.maxNewTokens,
                                   request.ignoreEos ? std::vector<int32_t>()
                                                     : opened->config.eosIds);
}

int run(const ReferenceRequest &request) {
  if (!request.reference) {
    std::fprintf(stderr, "llmc run: error: found no --reference, expected it: a compiled model is "
                         "run by llmc itself\n");
    return 2;
  }
  Result<std::vector<int32_t>> ids = generate(request);
  if (!ids) {
    std::fprintf(stderr, "%s\n", ids.error().str().c_str());
    return 1;
  }
  std::printf("%s\n", tool::joinIds(*ids).c_str());
  return 0;
}

} // namespace

void llmc::addReferenceCommand(CLI::App &app, int &status) {
  auto request = std::make_shared<ReferenceRequest>();
  CLI::App *command =
      app.add_subcommand("run", "Run an uncompiled model with the reference interpreter");
  command->footer(
      "The meaning of every op, slow and obvious: what every other way to run is checked against.\n"
      "New ids are the last line of stdout.\n"
      "  llmc run model/ --reference --prompt-ids 1,2,3 --max-new-tokens 8");
  command->add_option("IN", request->input, "GGUF file, Hugging Face folder or model.json")
      ->required()
      ->type_name("");
  command->add_flag("--reference", request->reference, "interpret, compile nothing");
  command->add_flag("--rounded", request->rounded,
                    "round as a compiled model does; without it only the weights are as stored");
  command->add_option("--quant", request->quant, "with --rounded: as of llmc compile")
      ->capture_default_str()
      ->check(CLI::IsMember({"keep", "f32", "bf16", "int8", "int4"}).description(""))
      ->type_name("F");
  command->add_option("--kv", request->kv, "with --rounded: as of llmc compile")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "f32", "bf16", "int8"}).description(""))
      ->type_name("F");
  addPromptOptions(*command, request->prompt);
  command->add_option("--max-new-tokens", request->maxNewTokens, "most tokens to append")
      ->capture_default_str()
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 24).description(""));
  command->add_option("--temperature", request->temperature, "0: the likeliest token, always")
      ->capture_default_str()
      ->type_name("T")
      ->check(CLI::Range(0.0, 0.0).description(""));
  command->add_flag("--ignore-eos", request->ignoreEos, "go on after an id that ends a text");
  command->add_option("--threads", request->threads, "without effect: the interpreter uses one")
      ->type_name("N");
  command->add_flag("--print-ids", request->printIds,
                    "print ids, not text (always so in this version)");
  command->add_option("--logits-out", request->logitsOut, "f32 [prompt tokens, vocabulary] as .npy")
      ->type_name("F.npy");
  command->callback([request, &status] { status = run(*request); });
}
