// SPDX-License-Identifier: Apache-2.0
//
// ModelConfig -> `llm`. Symbols first (weights in the order of a forward pass, one cache a layer,
// the rope table), then one function for each graph. The three bodies are alike; what tells the
// graphs apart is decided by the schedule stage.
#include "frontends/ModelBuilder.h"
#include "dialects/llm/WeightFormat.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace llmc::llm;

namespace llmc {
namespace {

constexpr int64_t chunkTokens = 64; // DESIGN section 8: keys are reduced in chunks of 64 positions
constexpr llvm::StringLiteral ropeSymbol = "rope";

llm::Activation activationOf(model::Activation activation) {
  switch (activation) {
  case model::Activation::SiLU:
    return llm::Activation::SiLU;
  case model::Activation::GELUTanh:
    return llm::Activation::GELUTanh;
  case model::Activation::GELUErf:
    return llm::Activation::GELUErf;
  case model::Activation::ReLU:
    return llm::Activation::ReLU;
  }
  llvm_unreachable("all activations are listed");
}

class ModelBuilder {
public:
  ModelBuilder(MLIRContext &context, const model::ModelConfig &config, const ModuleOptions &options)
      : config(config), options(options), builder(&context) {}

  OwningOpRef<ModuleOp> build();

private:
  void addSymbols();
  void addGraph(StringRef name);
  Value addLayer(int64_t index, Value x);
  Value addAttention(const model::LayerConfig &layer, Value x);
  Value addMLP(const model::LayerConfig &layer, Value x);
  Value addHeadNormAndRope(const model::LayerConfig &layer, Value x, StringRef name, int64_t heads);
  Value addLogits(Value x);

  Type elementType(const model::WeightSpec &weight);
  KVCacheType cacheType(const model::LayerConfig &layer);
  /// The symbol of a weight of the layer under construction.
  FlatSymbolRefAttr symbol(StringRef name) {
    return FlatSymbolRefAttr::get(builder.getContext(), (prefix + name).str());
  }
  FlatSymbolRefAttr symbolIf(bool exists, StringRef name) {
    return exists ? symbol(name) : FlatSymbolRefAttr();
  }
  /// `layers.3.q`, and the file where it is known.
  Location at(StringRef name);
  RankedTensorType lines(int64_t width, Line line = Line::Row) {
    return lineTensor(builder.getContext(), width, line);
  }
  Value norm(Value x, StringRef name, double epsilon, int64_t groups = 1);
  Value linear(Value x, StringRef name, int64_t width, bool bias);

  const model::ModelConfig &config;
  const ModuleOptions &options;
  OpBuilder builder;
  std::string prefix; // "layers.3." while a layer is built
  Value step;
};

Location ModelBuilder::at(StringRef name) {
  MLIRContext *context = builder.getContext();
  Location file = UnknownLoc::get(context);
  if (!options.file.empty())
    file = FileLineColLoc::get(context, options.file, 0, 0);
  return NameLoc::get(builder.getStringAttr(prefix + name), file);
}

KVCacheType ModelBuilder::cacheType(const model::LayerConfig &layer) {
  return KVCacheType::get(builder.getContext(), layer.numKVHeads, layer.headDim, layer.headDim,
                          builder.getF32Type(), options.kvLayout, chunkTokens);
}

/// Vectors are f32 whatever their file has: their bytes are few, and they meet f32 alone.
Type ModelBuilder::elementType(const model::WeightSpec &weight) {
  const model::TensorInfo *stored =
      options.weights && weight.shape.size() == 2 ? options.weights->find(weight.name) : nullptr;
  return elementTypeOf(builder.getContext(),
                       stored ? model::formatOf(stored->elementType) : model::Format());
}

void ModelBuilder::addSymbols() {
  MLIRContext *context = builder.getContext();
  for (const model::WeightSpec &weight : model::canonicalWeights(config))
    WeightOp::create(builder, at(weight.name), weight.name,
                     WeightType::get(context, weight.shape, elementType(weight)),
                     builder.getStrArrayAttr({weight.name}), RopeTableAttr());
  bool anyRope = false;
  for (const model::LayerConfig &layer : config.layers)
    anyRope |= layer.useRope;
  if (anyRope) {
    model::RopeFrequencies rope = model::ropeFrequencies(config.rope, config.rope.rotaryDims);
    auto table = RopeTableAttr::get(context, builder.getDenseF32ArrayAttr(rope.inverseFrequencies),
                                    builder.getF32FloatAttr(rope.magnitude));
    auto type = WeightType::get(context, {options.maxPositions, config.rope.rotaryDims},
                                builder.getF32Type());
    WeightOp::create(builder, at(ropeSymbol), ropeSymbol, type, ArrayAttr(), table);
  }
  for (int64_t index = 0; index < config.numLayers(); ++index) {
    std::string name = "layers." + std::to_string(index) + ".kv";
    CacheOp::create(builder, at(name), name, cacheType(config.layers[index]));
  }
}

Value ModelBuilder::norm(Value x, StringRef name, double epsilon, int64_t groups) {
  return RMSNormOp::create(builder, at(name), x.getType(), x, symbol(name),
                           builder.getF32FloatAttr(float(epsilon)),
                           builder.getI64IntegerAttr(groups));
}

Value ModelBuilder::linear(Value x, StringRef name, int64_t width, bool bias) {
  return LinearOp::create(builder, at(name), lines(width), x, symbol(name),
                          symbolIf(bias, (name + "_bias").str()));
}

Value ModelBuilder::addHeadNormAndRope(const model::LayerConfig &layer, Value x, StringRef name,
                                       int64_t heads) {
  if (layer.qkNorm)
    x = norm(x, (name + "_norm").str(), layer.qkNormEpsilon, heads);
  if (!layer.useRope)
    return x;
  auto table = FlatSymbolRefAttr::get(builder.getContext(), ropeSymbol);
  return RopeOp::create(builder, at((name + "_rope").str()), x.getType(), x, step, table,
                        builder.getI64IntegerAttr(heads));
}

Value ModelBuilder::addAttention(const model::LayerConfig &layer, Value x) {
  int64_t queryWidth = layer.numHeads * layer.headDim, keyWidth = layer.numKVHeads * layer.headDim;
  Value q = linear(x, "q", queryWidth, layer.qkvBias);
  Value k = linear(x, "k", keyWidth, layer.qkvBias);
  Value v = linear(x, "v", keyWidth, layer.qkvBias);
  q = addHeadNormAndRope(layer, q, "q", layer.numHeads);
  k = addHeadNormAndRope(layer, k, "k", layer.numKVHeads);
  KVCacheType cache = cacheType(layer);
  Value written = KVAppendOp::create(builder, at("kv_append"), cache, symbol("kv"), k, v, step);
  auto viewType = KVViewType::get(builder.getContext(), cache, layer.slidingWindow);
  Value view = KVViewOp::create(builder, at("kv_view"), viewType, written, step);
  Value mixed = AttentionOp::create(builder, at("attention"), lines(queryWidth), q, view,
                                    builder.getI64IntegerAttr(layer.numHeads),
                                    builder.getF32FloatAttr(float(layer.attentionScale)));
  return linear(mixed, "o", config.hiddenSize, layer.outBias);
}

Value ModelBuilder::addMLP(const model::LayerConfig &layer, Value x) {
  bool bias = layer.mlpBias;
  auto activation = ActivationAttr::get(builder.getContext(), activationOf(config.activation));
  return MLPOp::create(builder, at("mlp"), x.getType(), activation, x, symbol("gate"), symbol("up"),
                       symbol("down"), symbolIf(bias, "gate_bias"), symbolIf(bias, "up_bias"),
                       symbolIf(bias, "down_bias"));
}

Value ModelBuilder::addLayer(int64_t index, Value x) {
  const model::LayerConfig &layer = config.layers[index];
  prefix = "layers." + std::to_string(index) + ".";
  Value attended = addAttention(layer, norm(x, "attn_norm", config.norm.epsilon));
  x = AddOp::create(builder, at("attn_add"), x, attended);
  Value projected = addMLP(layer, norm(x, "mlp_norm", config.norm.epsilon));
  x = AddOp::create(builder, at("mlp_add"), x, projected);
  prefix.clear();
  return x;
}

/// The wanted rows first, so that norm and head only see those.
Value ModelBuilder::addLogits(Value x) {
  Value rows = GatherRowsOp::create(builder, at("gather_rows"),
                                    lines(config.hiddenSize, Line::Output), x, step);
  rows = norm(rows, "final_norm", config.norm.epsilon);
  StringRef head = config.tieWordEmbeddings ? "embed" : "lm_head";
  return LMHeadOp::create(builder, at("lm_head"), lines(config.vocabSize, Line::Output), rows,
                          symbol(head));
}

void ModelBuilder::addGraph(StringRef name) {
  MLIRContext *context = builder.getContext();
  bool verifies = name == "verify";
  SmallVector<Type> results = {lines(config.vocabSize, Line::Output)};
  if (verifies)
    results.push_back(RankedTensorType::get({ShapedType::kDynamic, 2}, builder.getI32Type(),
                                            PerAttr::get(context, Line::Sequence)));
  auto function = func::FuncOp::create(builder, at(name), name,
                                       builder.getFunctionType(StepType::get(context), results));
  function->setAttr(kGraphAttrName, builder.getStringAttr(name));
  OpBuilder::InsertionGuard guard(builder);
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  step = body->getArgument(0);
  Value x = EmbedOp::create(builder, at("embed"), lines(config.hiddenSize), step, symbol("embed"));
  for (int64_t index = 0; index < config.numLayers(); ++index)
    x = addLayer(index, x);
  SmallVector<Value> values = {addLogits(x)};
  if (verifies)
    values.push_back(SpeculativeVerifyOp::create(builder, at("speculative_verify"), results[1],
                                                 values[0], step));
  func::ReturnOp::create(builder, at("return"), values);
}

OwningOpRef<ModuleOp> ModelBuilder::build() {
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(builder, at(config.family.empty() ? "model" : config.family));
  builder.setInsertionPointToStart(module->getBody());
  addSymbols();
  for (StringRef graph : {"prefill", "decode", "verify"})
    addGraph(graph);
  return module;
}

/// What `llm.rope` cannot say, and lengths that the config does not allow.
Status checkExpressible(const model::ModelConfig &config, const ModuleOptions &options) {
  if (options.maxPositions < 1 || options.maxPositions > config.positionLimit())
    return errorAt(options.file, "",
                   "found a longest sequence of " + std::to_string(options.maxPositions) +
                       " positions, expected 1 to " + std::to_string(config.positionLimit()) +
                       ", which the model allows");
  for (int64_t index = 0; index < config.numLayers(); ++index) {
    const model::LayerConfig &layer = config.layers[index];
    if (!layer.useRope)
      continue;
    if (config.rope.rotaryDims != layer.headDim)
      return errorAt(options.file, "/layers/" + std::to_string(index) + "/head_dim",
                     "found heads of " + std::to_string(layer.headDim) + " with " +
                         std::to_string(config.rope.rotaryDims) +
                         " rotary dimensions, expected all of a head to be rotated");
    if (config.rope.pairing != model::RopePairing::Half)
      return errorAt(options.file, "/rope/pairing",
                     std::string("found ") + model::name(config.rope.pairing) +
                         ", expected half: 'llm.rope' rotates the pairs (i, i + r/2), permute the "
                         "rows of q and k");
  }
  return {};
}

Status checkConfig(const model::ModelConfig &config, const ModuleOptions &options) {
  std::vector<model::ConfigProblem> problems = model::validate(config);
  if (problems.empty())
    return {};
  Error error = errorAt(options.file, problems[0].place, problems[0].text);
  if (!problems[0].otherPlace.empty())
    error.notes.push_back(noteAt(options.file, problems[0].otherPlace, problems[0].otherText));
  return error;
}

} // namespace

Result<OwningOpRef<ModuleOp>> buildModule(MLIRContext &context, const model::ModelConfig &config,
                                          const ModuleOptions &given) {
  ModuleOptions options = given;
  if (Status status = checkConfig(config, options); !status)
    return status.takeError();
  if (options.maxPositions == 0)
    options.maxPositions = config.positionLimit();
  if (Status status = checkExpressible(config, options); !status)
    return status.takeError();
  context.loadDialect<LLMDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = ModelBuilder(context, config, options).build();
  // A valid config makes a valid module; that the verifier agrees is checked here, since what comes
  // after relies on it.
  std::string found;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (found.empty())
      found = diagnostic.str();
    return success();
  });
  if (failed(mlir::verify(*module)))
    return errorAt(options.file, "", "the module built from the config does not verify: " + found);
  return module;
}

} // namespace llmc
