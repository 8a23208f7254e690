// SPDX-License-Identifier: Apache-2.0
//
// Opens the artefact, builds the module again up to the schedule stage, and pairs commands with
// regions.
#include "tools/llmc/compiler/CompareSides.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/ViewOf.h"
#include "passes/graph/Regions.h"
#include "tools/llmc-opt/Registration.h"
#include "tools/llmc/compiler/Compilation.h"
#include <nlohmann/json.hpp>

using namespace mlir;

namespace llmc::compare {
namespace {

constexpr const char *kGraphNames[] = {"prefill", "decode", "verify"};
constexpr const char *kAdvice =
    "; it was compiled from another model, or resumed from edited IR of other commands";

/// Limits and layout as the artefact has them; the rest from the manifest, which no code depends on
/// otherwise.
Result<CompileRequest> compileRequestOf(const CompareRequest &request,
                                        const llmc_artifact &artifact) {
  CompileRequest compile;
  compile.input = request.model;
  compile.maxSequence = artifact.limits.max_positions;
  compile.maxBatch = artifact.limits.max_sequences;
  auto manifest = nlohmann::json::parse(
      artifact.manifest, artifact.manifest + artifact.manifest_bytes, nullptr, false);
  auto options = manifest.is_object() ? manifest.find("options") : manifest.end();
  if (!manifest.is_object() || options == manifest.end() || !options->is_object())
    return errorAt(request.artifact.path, "manifest",
                   "found no options, expected those it was compiled with");
  auto read = [&](const char *key, std::string &value) {
    auto found = options->find(key);
    bool isText = found != options->end() && found->is_string();
    if (isText)
      value = found->get<std::string>();
    return isText;
  };
  for (auto [key, value] : {std::pair("target", &compile.pipeline.target),
                            std::pair("fuse_norm", &compile.pipeline.fuseNorm),
                            std::pair("schedule", &compile.pipeline.schedule),
                            std::pair("quant", &compile.pipeline.quant),
                            std::pair("kv", &compile.pipeline.kv),
                            std::pair("kv_layout", &compile.pipeline.kvLayout)})
    if (!read(key, *value))
      return errorAt(request.artifact.path, std::string("manifest: options: ") + key,
                     "found no text, expected the option of llmc compile");
  return compile;
}

Status checkLimits(const CompareRequest &request, const llmc_artifact &artifact,
                   const model::ModelConfig &config) {
  if (artifact.limits.vocabulary == config.vocabSize && artifact.limits.hidden == config.hiddenSize)
    return {};
  return errorAt(request.artifact.path, "limits",
                 "found vocabulary " + std::to_string(artifact.limits.vocabulary) +
                     " and hidden size " + std::to_string(artifact.limits.hidden) + ", expected " +
                     std::to_string(config.vocabSize) + " and " +
                     std::to_string(config.hiddenSize) + " as in " + escaped(request.model) +
                     kAdvice);
}

func::FuncOp graphNamed(ModuleOp module, StringRef name) {
  for (auto function : module.getOps<func::FuncOp>())
    if (auto is = function->getAttrOfType<StringAttr>(llm::kGraphAttrName);
        is && is.getValue() == name)
      return function;
  return func::FuncOp();
}

/// A kernel's last parameters are the tensors that it writes, in the order in which the region
/// yields them.
Status pairResults(CommandPair &pair, const llmc_graph &graph, const std::string &path,
                   const std::string &place) {
  SmallVector<Value> tensors;
  for (Value result : pair.region.getResults())
    if (isa<RankedTensorType>(result.getType()))
      tensors.push_back(result);
  const llmc_command &command = *pair.command;
  size_t first = command.n_slots >= tensors.size() ? command.n_slots - tensors.size() : 0;
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    uint64_t bytes = uint64_t(lineBytesOf(tensor.getType()));
    uint32_t kind =
        llm::lineOf(tensor.getType()) == llm::Line::Row ? LLMC_OPERAND_ROWS : LLMC_OPERAND_OUTPUTS;
    bool there = first + i < command.n_slots;
    uint16_t slot = there ? graph.slots[command.first_slot + first + i] : 0;
    if (!there || graph.operands[slot].kind != kind || graph.operands[slot].line_bytes != bytes)
      return errorAt(path, place,
                     "found " + std::to_string(there ? graph.operands[slot].line_bytes : 0) +
                         " bytes a line for result " + std::to_string(i) + ", expected " +
                         std::to_string(bytes) + kAdvice);
    pair.resultOperands.push_back(slot);
  }
  return {};
}

Result<GraphPair> pairGraph(ModuleOp module, const llmc_graph &graph, const std::string &path) {
  GraphPair pair;
  pair.name = graph.kind < std::size(kGraphNames) ? kGraphNames[graph.kind] : "";
  func::FuncOp function = graphNamed(module, pair.name);
  if (!function)
    return errorAt(path, "graph " + pair.name,
                   std::string("found a graph that the model has not") + kAdvice);
  SmallVector<llm::FusedOp> regions(function.getBody().front().getOps<llm::FusedOp>());
  if (regions.size() != graph.n_commands)
    return errorAt(path, "graph " + pair.name,
                   "found " + std::to_string(graph.n_commands) + " commands, expected " +
                       std::to_string(regions.size()) + kAdvice);
  for (auto [i, region] : llvm::enumerate(regions)) {
    const llmc_command &command = graph.commands[i];
    std::string place = "graph " + pair.name + ", command " + std::to_string(i);
    StringRef name = graph.names + command.name;
    if (name != region.getName())
      return errorAt(path, place,
                     "found \"" + escaped(std::string_view(name)) + "\", expected \"" +
                         escaped(std::string_view(region.getName())) + "\"" + kAdvice);
    pair.commands.push_back({region, &command, {}});
    if (Status status = pairResults(pair.commands.back(), graph, path, place); !status)
      return status.takeError();
  }
  return pair;
}

} // namespace

Result<Sides> openSides(const CompareRequest &request) {
  Sides sides;
  Result<tool::LoadedModel> loaded = tool::loadModel(request.artifact, nullptr);
  if (!loaded)
    return loaded.takeError();
  sides.loaded = std::move(*loaded);
  Result<OpenedModel> opened = openModel(request.model);
  if (!opened)
    return opened.takeError();
  sides.opened = std::move(*opened);
  if (Status status = checkLimits(request, sides.artifact(), sides.opened.config); !status)
    return status.takeError();
  Result<CompileRequest> compile = compileRequestOf(request, sides.artifact());
  if (!compile)
    return compile.takeError();
  DialectRegistry registry;
  registerDialects(registry);
  sides.context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  Result<OwningOpRef<ModuleOp>> module = buildUpTo(*sides.context, *compile, "schedule");
  if (!module)
    return module.takeError();
  sides.module = std::move(*module);
  for (uint32_t g = 0; g < sides.artifact().n_graphs; ++g) {
    Result<GraphPair> pair =
        pairGraph(*sides.module, sides.artifact().graphs[g], request.artifact.path);
    if (!pair)
      return pair.takeError();
    sides.graphs.push_back(std::move(*pair));
  }
  return sides;
}

} // namespace llmc::compare
