// SPDX-License-Identifier: Apache-2.0
//
// Takes a row of the op table down the road: graph and schedule stage, the reference's values of
// each region, tile and memory stage, tables and packed weights, PTX.
#include "test/e2e/optable/CompiledCase.h"
#include "dialects/llm/reference/Interpreter.h"
#include "dialects/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/Pipeline.h"
#include "passes/codegen/artifact/Pack.h"
#include "passes/codegen/artifact/ReadTables.h"
#include "passes/codegen/nvptx/EmitPtx.h"
#include "passes/codegen/nvptx/Passes.h"
#include <cmath>

using namespace mlir;

namespace llmc::test {
namespace {

/// Numbers by name and place: norms lie around 1, linears are scaled so that results do.
class HashedWeights : public model::WeightSource {
public:
  explicit HashedWeights(ModuleOp module) {
    for (auto weight : module.getOps<llm::WeightOp>()) {
      std::string name = weight.getSymName().str();
      ArrayRef<int64_t> shape = weight.getType().getShape();
      tensors[name] = {name, {shape.begin(), shape.end()}, model::ElementType::F32, "op table"};
    }
  }
  const model::TensorInfo *find(std::string_view name) const override {
    auto found = tensors.find(std::string(name));
    return found == tensors.end() ? nullptr : &found->second;
  }
  Status readRows(std::string_view name, int64_t firstRow, int64_t numRows,
                  float *out) const override {
    const model::TensorInfo &info = tensors.at(std::string(name));
    bool isNorm = name.find("norm") != std::string_view::npos;
    float scale =
        info.shape.size() == 1 || name == "embed" ? 1.0f : std::sqrt(3.0f / float(info.columns()));
    for (int64_t i = 0; i < numRows * info.columns(); ++i) {
      int64_t place = firstRow * info.columns() + i;
      uint64_t bits =
          model::hashBytes(&place, sizeof(place), model::hashBytes(name.data(), name.size(), 17));
      float unit = float(int32_t(uint32_t(bits >> 32))) / 2147483648.0f; // -1 to 1
      out[i] = isNorm ? 1 + 0.4f * unit : scale * unit;
    }
    return {};
  }

private:
  std::map<std::string, model::TensorInfo> tensors;
};

class VectorSink : public artifact::ByteSink {
public:
  explicit VectorSink(std::vector<float> &floats) : floats(floats) {}
  Status write(const void *data, size_t size) override {
    auto bytes = static_cast<const char *>(data);
    pending.insert(pending.end(), bytes, bytes + size);
    size_t whole = pending.size() / sizeof(float);
    floats.resize(floats.size() + whole);
    std::copy_n(pending.data(), whole * sizeof(float),
                reinterpret_cast<char *>(floats.data() + floats.size() - whole));
    pending.erase(pending.begin(), pending.begin() + ptrdiff_t(whole * sizeof(float)));
    return {};
  }

private:
  std::vector<float> &floats;
  std::vector<char> pending;
};

bool runStages(ModuleOp module, const OpCase &row, StringRef from, StringRef to) {
  PipelineOptions options;
  options.target = "cpu:x86-64-v3";
  options.fuseNorm = row.fuseNorm;
  options.schedule = row.schedule;
  PassManager passes(module.getContext());
  addStages(passes, from, to, options);
  return succeeded(passes.run(module));
}

/// Tokens that reach all of a small vocabulary; the last `outputs` rows are wanted.
reference::Step makeStep(const OpCase &row) {
  reference::Step step;
  for (int64_t r = 0; r < row.rows; ++r) {
    step.tokens.push_back(int32_t((r * 7 + 3) % row.vocabulary));
    step.positions.push_back(int32_t(r));
    step.slots.push_back(int32_t(r));
    step.rowSequence.push_back(0);
    if (r >= row.rows - row.outputs)
      step.outputRows.push_back(int32_t(r));
  }
  step.sequenceRow = {0, int32_t(row.outputs)};
  step.sequences.push_back({});
  return step;
}

/// What each region gives, in their order, which is that of the commands.
bool evaluateRegions(ModuleOp module, const model::WeightSource &weights, CompiledCase &result,
                     std::string &error) {
  reference::Interpreter interpreter(module, weights);
  reference::Environment environment;
  auto function = *module.getOps<func::FuncOp>().begin();
  for (auto region : function.getBody().front().getOps<llm::FusedOp>()) {
    if (Status status =
            interpreter.evaluate(region, environment, result.step, interpreter.caches());
        !status) {
      error = status.error().str();
      return false;
    }
    Value written = *llvm::find_if(
        region.getResults(), [](Value value) { return isa<RankedTensorType>(value.getType()); });
    result.expected.push_back(environment.find(written)->second);
    result.names.push_back(region.getName().str());
  }
  return true;
}

/// The block programs alone, in a module of their own.
OwningOpRef<ModuleOp> kernelsOf(ModuleOp module) {
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(module.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(kernels->getBody());
  for (auto kernel : module.getOps<tile::KernelOp>())
    builder.clone(*kernel);
  return kernels;
}

bool lowerKernels(ModuleOp module, CompiledCase &result) {
  OwningOpRef<ModuleOp> kernels = kernelsOf(module);
  llvm::raw_string_ostream(result.tileKernels) << *kernels;
  PassManager passes(module.getContext());
  passes.addPass(nvptx::createLowerTileToNVPTXPass());
  if (failed(passes.run(*kernels)))
    return false;
  FailureOr<std::string> ptx = nvptx::emitPtx(*kernels);
  if (failed(ptx))
    return false;
  result.ptx = *ptx;
  return true;
}

} // namespace

CompiledCase compileCase(const OpCase &row, std::string &error) {
  MLIRContext context;
  context.loadDialect<llm::LLMDialect, func::FuncDialect>();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error += diagnostic.str() + "\n";
    return success();
  });
  CompiledCase result;
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(row.module, &context, row.name);
  if (!module)
    return result;
  HashedWeights weights(*module);
  result.step = makeStep(row);
  if (!runStages(*module, row, "import", "schedule") ||
      !evaluateRegions(*module, weights, result, error) ||
      !runStages(*module, row, "schedule", "memory"))
    return result;
  FailureOr<artifact::Tables> tables = artifact::readTables(*module);
  if (failed(tables) || !lowerKernels(*module, result))
    return result;
  result.tables = std::move(*tables);
  VectorSink sink(result.weights);
  if (auto packed = artifact::packWeights(result.tables, weights, sink, {}); !packed)
    error += packed.error().str();
  return result;
}

} // namespace llmc::test
