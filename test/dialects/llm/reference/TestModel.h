// SPDX-License-Identifier: Apache-2.0
//
// Small models for the tests of the reference: a config, its module, random weights; and weights
// given as numbers.
#pragma once

#include "dialects/llm/reference/Interpreter.h"
#include "frontends/ModelBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace llmc::test {

/// A decoder of `layers` layers, 6 query heads on `kvHeads` key/value heads of width 4.
inline model::ModelConfig smallConfig(int64_t layers = 2, int64_t kvHeads = 3, int64_t window = 0) {
  model::ModelConfig config;
  config.family = "llama";
  config.hiddenSize = 20;
  config.intermediateSize = 28;
  config.vocabSize = 37;
  config.maxPositions = 256;
  config.rope.rotaryDims = 4;
  model::LayerConfig layer;
  layer.numHeads = 6;
  layer.numKVHeads = kvHeads;
  layer.headDim = 4;
  layer.slidingWindow = window;
  layer.qkvBias = layer.mlpBias = layer.qkNorm = true;
  layer.attentionScale = 0.5;
  config.layers.assign(size_t(layers), layer);
  return config;
}

/// A model that can be run, with weights of a seed unless others are given.
struct SmallModel {
  explicit SmallModel(const model::ModelConfig &config, const model::WeightSource *given = nullptr)
      : random(config, 7), module(build(context, config)),
        interpreter(*module, given ? *given : random) {}

  static mlir::OwningOpRef<mlir::ModuleOp> build(mlir::MLIRContext &context,
                                                 const model::ModelConfig &config) {
    auto built = buildModule(context, config);
    if (!built)
      ADD_FAILURE() << built.error().str();
    return built ? std::move(*built) : mlir::OwningOpRef<mlir::ModuleOp>();
  }

  mlir::MLIRContext context;
  model::RandomWeightSource random;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  reference::Interpreter interpreter;
};

/// The logits of a step, or a failure of the test.
inline reference::Tensor logitsOf(reference::Interpreter &interpreter, const reference::Step &step,
                                  llvm::StringRef graph = "prefill") {
  auto outputs = interpreter.run(graph, step);
  if (!outputs)
    ADD_FAILURE() << outputs.error().str();
  return outputs ? outputs->logits : reference::Tensor();
}

inline std::vector<float> lineOf(const reference::Tensor &tensor, int64_t line) {
  return {tensor.line(line), tensor.line(line) + tensor.width};
}

/// Weights as numbers: {name, {shape, values}}.
class GivenWeights : public model::WeightSource {
public:
  void add(const std::string &name, std::vector<int64_t> shape, std::vector<float> values) {
    tensors[name] = {{name, std::move(shape), model::ElementType::F32, "given weights"},
                     std::move(values)};
  }
  const model::TensorInfo *find(std::string_view name) const override {
    auto found = tensors.find(std::string(name));
    return found == tensors.end() ? nullptr : &found->second.first;
  }
  Status readRows(std::string_view name, int64_t firstRow, int64_t numRows,
                  float *out) const override {
    const auto &[info, values] = tensors.at(std::string(name));
    if (Status status = model::checkRows(info, firstRow, numRows); !status)
      return status;
    std::copy_n(values.begin() + firstRow * info.columns(), numRows * info.columns(), out);
    return {};
  }

private:
  std::map<std::string, std::pair<model::TensorInfo, std::vector<float>>> tensors;
};

/// A module from text, verified.
struct ParsedModule {
  ParsedModule(llvm::StringRef text, const model::WeightSource &weights)
      : module(parse(context, text)), interpreter(*module, weights) {}

  static mlir::OwningOpRef<mlir::ModuleOp> parse(mlir::MLIRContext &context, llvm::StringRef text) {
    context.loadDialect<llm::LLMDialect, mlir::func::FuncDialect>();
    context.allowUnregisteredDialects();
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context, "test.mlir");
  }
  template <typename Op> Op find() {
    Op found;
    module->walk([&](Op op) { found = found ? found : op; });
    return found;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  reference::Interpreter interpreter;
};

} // namespace llmc::test
