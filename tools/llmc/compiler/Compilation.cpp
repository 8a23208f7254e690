// SPDX-License-Identifier: Apache-2.0
//
// One compilation from beginning to end. Reads top to bottom: open, build, run the stages, stop where asked, or make code for each
// level and hand everything to the artefact writer.
#include "tools/llmc/compiler/Compilation.h"
#include "frontends/ModelBuilder.h"
#include "frontends/Open.h"
#include "mlir/Parser/Parser.h"
#include "passes/codegen/artifact/ReadTables.h"
#include "passes/codegen/tokenizer/TokenizerTables.h"
#include "passes/cost/CostTable.h"
#include "passes/schedule/ForcedSchedule.h"
#include "tools/llmc-opt/Registration.h"
#include "tools/llmc/Explain.h"
#include "tools/llmc/compiler/Diagnostics.h"
#include "tools/llmc/compiler/Emission.h"
#include "tools/llmc/compiler/ModuleLimits.h"
#include "tools/llmc/compiler/Nesting.h"
#include "tools/llmc/compiler/Plugins.h"
#include "tools/llmc/compiler/Remarks.h"
#include "tools/llmc/compiler/StageOutput.h"
#include <chrono>
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace llmc;

namespace {

using Clock = std::chrono::steady_clock;
double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// How long sequences may be: what was asked for, within what the model allows.
Result<int64_t> chooseMaxPositions(const CompileRequest &request, const model::ModelConfig &config) {
  int64_t limit = config.positionLimit();
  if (request.maxSequence > limit)
    return errorAt("--max-seq", "",
                   "found " + std::to_string(request.maxSequence) + ", expected at most " + std::to_string(limit) +
                       ", the positions that " + escaped(request.input) + " was made for; compile with a smaller --max-seq");
  return request.maxSequence ? request.maxSequence : std::min(limit, kDefaultMaxSequence);
}

Result<OwningOpRef<ModuleOp>> importModel(MLIRContext &context, const CompileRequest &request, const OpenedModel &opened) {
  Result<int64_t> positions = chooseMaxPositions(request, opened.config);
  if (!positions)
    return positions.takeError();
  ModuleOptions options;
  options.maxPositions = *positions;
  options.file = request.input;
  options.weights = opened.weights.get();
  Result<OwningOpRef<ModuleOp>> module = buildModule(context, opened.config, options);
  if (module)
    setLimits(**module, opened.config, *positions, request.maxBatch);
  return module;
}

Result<OwningOpRef<ModuleOp>> parseModule(MLIRContext &context, const CompileRequest &request) {
  if (Status readable = checkNesting(request.input); !readable.ok())
    return readable.takeError();
  DiagnosticCollector diagnostics(context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(request.input, &context);
  if (!module)
    return diagnostics.error(escaped(request.input) + " could not be read as IR");
  return module;
}

/// Runs the stages after `from` up to `to`, plug-ins at the end of theirs. The first level of several decides the schedules.
Status runStages(ModuleOp module, const CompileRequest &request, StringRef from, StringRef to) {
  DiagnosticCollector diagnostics(*module.getContext());
  PipelineOptions options = request.pipeline;
  options.target = StringRef(options.target).split(',').first.str();
  if (!from.empty()) { // IR from a person: is it what it is said to be?
    PassManager passes(module.getContext());
    addContract(passes, *findStage(from));
    if (failed(passes.run(module)))
      return diagnostics.error("the module is no IR of stage " + from.str());
  }
  bool running = from.empty();
  for (const Stage &stage : stages()) {
    if (running) {
      if (request.onStage)
        request.onStage(stage.name);
      PassManager passes(module.getContext());
      addStage(passes, stage, options);
      bool pluggedIn = false;
      for (const auto &[file, after] : request.plugins)
        if (after == stage.name) {
          if (Status added = addPlugin(passes, file); !added.ok())
            return added;
          pluggedIn = true;
        }
      if (pluggedIn) // what a plug-in leaves must keep the stage's promise too
        addContract(passes, stage);
      if (failed(passes.run(module)))
        return diagnostics.error("stage " + stage.name.str() + " failed");
    }
    running |= stage.name == from;
    if (stage.name == to)
      break;
  }
  return {};
}

std::string optionsJson(const CompileRequest &request) {
  nlohmann::ordered_json options;
  options["target"] = request.pipeline.target;
  options["kv"] = request.pipeline.kv;
  options["kv_layout"] = request.pipeline.kvLayout;
  options["fuse_norm"] = request.pipeline.fuseNorm;
  options["schedule"] = request.pipeline.schedule;
  options["quant"] = request.pipeline.quant;
  options["max_seq"] = request.maxSequence;
  options["max_batch"] = request.maxBatch;
  return options.dump();
}

/// The cost table for the manifest; call it while the graphs hold regions.
std::string costJson(ModuleOp module) {
  std::vector<cost::RegionTerms> regions = regionTerms(module);
  return regions.empty() ? "" : tool::termsToJson(regions);
}

/// The last part of a path: what a manifest may say about a machine's files.
std::string lastPart(StringRef path) { return path.rtrim('/').rsplit('/').second.empty() ? path.rtrim('/').str() : path.rtrim('/').rsplit('/').second.str(); }

Result<std::vector<artifact::Level>> makeLevels(ModuleOp module, const CompileRequest &request, const std::vector<cpu::CpuLevel> &levels) {
  std::vector<artifact::Level> made;
  for (const cpu::CpuLevel &level : levels) {
    if (request.onStage)
      request.onStage("object");
    cpu::EmitOptions options;
    options.prefix = "llmc_k" + std::to_string(made.size()) + "_";
    options.instrumentThreads = request.instrumentThreads;
    Result<std::vector<std::string>> objects = emitObjects(module, level, options, request.pipeline);
    if (!objects)
      return objects.takeError();
    made.push_back({level.name, level.tuneFor, level.features, options.prefix, std::move(*objects)});
  }
  return made;
}

/// The tokenizer's block of the artefact; empty where the model has none, or none is wanted.
Result<std::string> tokenizerTables(const CompileRequest &request, const OpenedModel &opened) {
  if (request.withoutTokenizer)
    return std::string();
  if (!opened.tokenizer) {
    Error error = opened.tokenizer.error();
    return std::move(error).withNote("note: --no-tokenizer compiles the model without one, for token ids only");
  }
  if (!*opened.tokenizer)
    return std::string();
  return tokenizer::buildTables(**opened.tokenizer, request.from.empty() ? request.input : request.weights);
}

Result<CompileSummary> writeOut(ModuleOp module, const CompileRequest &request, const OpenedModel &opened,
                                const std::string &cost) {
  CompileSummary summary;
  Result<artifact::ArtifactKind> kind = artifact::kindOf(request.output);
  if (!kind)
    return kind.takeError();
  std::optional<artifact::Tables> tables;
  {
    DiagnosticCollector diagnostics(*module.getContext());
    FailureOr<artifact::Tables> read = artifact::readTables(module);
    if (failed(read))
      return diagnostics.error("the module has no command tables");
    tables = std::move(*read);
  }
  Result<std::string> tokenizer = tokenizerTables(request, opened);
  if (!tokenizer)
    return tokenizer.takeError();
  Clock::time_point start = Clock::now();
  Result<std::vector<cpu::CpuLevel>> levels = levelsOf(request.pipeline.target);
  if (!levels)
    return levels.takeError();
  Result<std::vector<artifact::Level>> objects = makeLevels(module, request, *levels);
  if (!objects)
    return objects.takeError();
  summary.codeSeconds = secondsSince(start);

  artifact::ArtifactRequest write{*tables, *opened.weights, std::move(*objects), request.output, *kind};
  write.tokenizer = *tokenizer;
  write.name = request.name;
  write.weightsSeparate = request.weightsSeparate;
  write.manifest = {lastPart(request.from.empty() ? request.input : request.weights), optionsJson(request), cost};
  write.progress = request.onPacked;
  write.removeOnSignal = request.removeOnSignal;
  write.executor = request.executor;
  write.allowUndefined = request.instrumentThreads;
  Result<artifact::ArtifactSummary> written = artifact::writeArtifact(write);
  if (!written)
    return written.takeError();
  summary.artifact = *written;
  summary.rowsArenaBytes = tables->rowsArenaBytes;
  summary.outputsArenaBytes = tables->outputsArenaBytes;
  summary.chunkBytes = tables->chunkBytes;
  summary.maxPositions = tables->limits.maxPositions;
  summary.kernels = tables->kernels.size();
  for (const auto &graph : tables->graphs)
    summary.commands += graph.commands.size();
  return summary;
}

Status printStage(ModuleOp module, const CompileRequest &request) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  stream << '\n';
  return writeText(request.output.empty() ? "-" : request.output, text);
}

Status printCode(ModuleOp module, const CompileRequest &request) {
  Result<std::vector<cpu::CpuLevel>> levels = levelsOf(request.pipeline.target);
  if (!levels)
    return levels.takeError();
  cpu::EmitKind kind = request.emit == "asm" ? cpu::EmitKind::Assembly : cpu::EmitKind::LLVMIR;
  Result<std::string> text = emitText(module, levels->front(), kind, request.pipeline);
  if (!text)
    return text.takeError();
  return writeText(request.output.empty() ? "-" : request.output, *text);
}

/// Options of passes, told by the name that people gave them.
Status checkPipeline(const PipelineOptions &options) {
  if (Result<std::vector<cpu::CpuLevel>> levels = levelsOf(options.target); !levels)
    return levels.takeError();
  if (!llm::symbolizeKVLayout(options.kvLayout))
    return errorAt("--kv-layout", "", "found '" + escaped(options.kvLayout) + "', expected head_major or token_major");
  if (!llvm::is_contained({"auto", "f32", "bf16", "int8"}, options.kv))
    return errorAt("--kv", "", "found '" + escaped(options.kv) + "', expected auto, f32, bf16 or int8");
  if (options.fuseNorm != "cost" && options.fuseNorm != "always" && options.fuseNorm != "never")
    return errorAt("--fuse-norm", "", "found '" + escaped(options.fuseNorm) + "', expected cost, always or never");
  if (!llvm::is_contained({"keep", "f32", "bf16", "int8", "int4"}, options.quant))
    return errorAt("--quant", "", "found '" + escaped(options.quant) + "', expected keep, f32, bf16, int8 or int4");
  SmallVector<ForcedField> fields;
  std::string error;
  if (!parseForced(options.schedule, fields, error))
    return errorAt("--schedule", "", escaped(error));
  return {};
}

Status checkRequest(const CompileRequest &request) {
  bool known = request.emit == "so" || request.emit == "asm" || request.emit == "llvm-ir" || (findStage(request.emit) && request.emit != "object");
  if (!known)
    return errorAt("--emit", "", "unknown stage '" + escaped(request.emit) + "', expected import, graph, schedule, tile, memory, kernel, llvm-ir, asm or so");
  if (Status pipeline = checkPipeline(request.pipeline); !pipeline.ok())
    return pipeline;
  for (const auto &[file, after] : request.plugins)
    if (!findStage(after) || after == "kernel" || after == "object")
      return errorAt("--load-pass-plugin", "",
                     "unknown place '" + escaped(after) + "', expected FILE@STAGE with STAGE import, graph, schedule, tile or memory");
  if (request.from.empty())
    return {};
  if (!findStage(request.from) || request.from == "kernel" || request.from == "object")
    return errorAt("--from", "", "unknown stage '" + escaped(request.from) + "', expected import, graph, schedule, tile or memory");
  if (const Stage *emitted = findStage(request.emit); emitted && emitted < findStage(request.from))
    return errorAt("--emit", "", "found '" + request.emit + "', which comes before --from " + request.from + ", expected that stage or a later one");
  if (request.maxSequence)
    return errorAt("--max-seq", "", "found with --from, expected it where the model is imported: the module has its limits ('llm.limits')");
  if (request.weights.empty() && request.emit == "so")
    return errorAt("--from", "", "no weights named, expected --weights MODEL: printed IR holds none");
  return {};
}

MLIRContext *prepare(std::unique_ptr<MLIRContext> &context) {
  DialectRegistry registry;
  registerDialects(registry);
  context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false); // a whole module is no help in one line of error
  return context.get();
}

} // namespace

Result<OwningOpRef<ModuleOp>> llmc::buildUpTo(MLIRContext &context, const CompileRequest &request, StringRef to) {
  if (Status checked = checkPipeline(request.pipeline); !checked.ok())
    return checked.takeError();
  Result<OpenedModel> opened = openModel(request.input);
  if (!opened)
    return opened.takeError();
  Result<OwningOpRef<ModuleOp>> module = importModel(context, request, *opened);
  if (!module)
    return module;
  if (Status run = runStages(**module, request, "", to); !run.ok())
    return run.takeError();
  return module;
}

Result<CompileSummary> llmc::compile(const CompileRequest &request) {
  if (Status checked = checkRequest(request); !checked.ok())
    return checked.takeError();
  std::unique_ptr<MLIRContext> context;
  prepare(context);
  if (Status remarks = installRemarks(*context, request.remarks, request.verbose); !remarks.ok())
    return remarks.takeError();

  std::optional<OpenedModel> opened;
  if (request.from.empty() || !request.weights.empty()) {
    Result<OpenedModel> result = openModel(request.from.empty() ? request.input : request.weights);
    if (!result)
      return result.takeError();
    opened = std::move(*result);
  }
  Result<OwningOpRef<ModuleOp>> module = request.from.empty() ? importModel(*context, request, *opened) : parseModule(*context, request);
  if (!module)
    return module.takeError();

  bool whole = request.emit == "so" || request.emit == "asm" || request.emit == "llvm-ir";
  std::string end = whole ? "memory" : request.emit, from = request.from, cost;
  if (request.emit == "so" && (from.empty() || from == "import" || from == "graph")) {
    if (Status run = runStages(**module, request, from, "schedule"); !run.ok())
      return run.takeError();
    cost = costJson(**module);
    from = "schedule";
  }
  if (Status run = runStages(**module, request, from, end); !run.ok())
    return run.takeError();
  if (request.emit == "so")
    return writeOut(**module, request, *opened, cost);
  Status printed = whole ? printCode(**module, request) : printStage(**module, request);
  if (!printed.ok())
    return printed.takeError();
  return CompileSummary();
}
