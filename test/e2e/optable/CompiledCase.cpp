// SPDX-License-Identifier: Apache-2.0
//
// Takes a row of the op table down the road: graph and schedule stage, the reference's values of
// each region, tile and memory stage, tables and packed weights, PTX.
#include "test/e2e/optable/CompiledCase.h"
#include "dialects/llm/WeightFormat.h"
#include "dialects/llm/reference/Interpreter.h"
#include "dialects/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/Pipeline.h"
#include "passes/ViewOf.h"
#include "passes/codegen/artifact/Pack.h"
#include "passes/codegen/artifact/ReadTables.h"
#include "passes/codegen/nvptx/EmitPtx.h"
#include "passes/codegen/nvptx/Passes.h"
#include <algorithm>
#include <cmath>
#include <memory>

using namespace mlir;

namespace llmc::test {
namespace {

/// A tensor for each weight of a module, of the same name.
class ModuleWeights : public model::WeightSource {
public:
  explicit ModuleWeights(ModuleOp module) {
    for (auto weight : module.getOps<llm::WeightOp>()) {
      std::string name = weight.getSymName().str();
      ArrayRef<int64_t> shape = weight.getType().getShape();
      tensors[name] = {name, {shape.begin(), shape.end()}, model::ElementType::F32, "op table"};
      formats[name] = llm::formatOf(weight.getType().getElementType());
    }
  }
  const model::TensorInfo *find(std::string_view name) const override {
    auto found = tensors.find(std::string(name));
    return found == tensors.end() ? nullptr : &found->second;
  }

protected:
  std::map<std::string, model::TensorInfo> tensors;
  std::map<std::string, model::Format> formats; ///< that the module wants
};

/// Numbers by name and place: norms lie around 1, linears are scaled so that results do.
class HashedWeights : public ModuleWeights {
public:
  using ModuleWeights::ModuleWeights;
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
};

/// Codes that are 0 or the greatest there is, stored in groups where a stored type has the format.
/// Floats are -1 and 1 in the same patterns; 0 and 255 where they become 8 bits with a minimum.
class ExtremeWeights : public ModuleWeights {
public:
  explicit ExtremeWeights(ModuleOp module) : ModuleWeights(module) {
    for (auto type : {model::ElementType::Q8_0, model::ElementType::Q4_0, model::ElementType::Q4_1})
      for (auto &[name, info] : tensors)
        if (formats[name].groups && formats[name].groups == model::groupFormat(type))
          info.elementType = type;
  }
  Status readRows(std::string_view name, int64_t firstRow, int64_t numRows,
                  float *out) const override {
    const model::TensorInfo &info = tensors.at(std::string(name));
    if (auto format = model::groupFormat(info.elementType))
      return readValues(name, firstRow, numRows, *format, out);
    bool isNorm = name.find("norm") != std::string_view::npos;
    bool becomesBytes = formats.at(std::string(name)).groups.has_value();
    for (int64_t i = 0; i < numRows * info.columns(); ++i) {
      bool most = isMost(firstRow + i / info.columns(), i % info.columns());
      out[i] = isNorm ? 1.0f : becomesBytes ? (most ? 255.0f : 0.0f) : (most ? 1.0f : -1.0f);
    }
    return {};
  }
  Status readGroups(std::string_view name, int64_t firstRow, int64_t numRows,
                    model::GroupRows out) const override {
    const model::TensorInfo &info = tensors.at(std::string(name));
    int64_t count = numRows * info.columns();
    auto most = uint8_t((1 << model::groupFormat(info.elementType)->bits) - 1);
    for (int64_t i = 0; i < count; ++i)
      out.codes[i] = isMost(firstRow + i / info.columns(), i % info.columns()) ? most : 0;
    std::fill_n(out.scales, count / model::groupSize, model::toHalf(0.0625f));
    if (out.minimums)
      std::fill_n(out.minimums, count / model::groupSize, model::toHalf(-0.5f));
    return {};
  }

private:
  Status readValues(std::string_view name, int64_t firstRow, int64_t numRows,
                    model::GroupFormat format, float *out) const {
    int64_t count = numRows * find(name)->columns(), groups = count / model::groupSize;
    std::vector<uint8_t> codes(static_cast<size_t>(count));
    std::vector<uint16_t> scales(static_cast<size_t>(groups)), minimums(scales);
    model::GroupRows rows = {codes.data(), scales.data(),
                             format.hasMinimum ? minimums.data() : nullptr};
    Status status = readGroups(name, firstRow, numRows, rows);
    model::dequantizeRow(rows, count, format, out);
    return status;
  }
  /// All, none, every second column, pairs, fours, halves of a group: in turn from row to row.
  static bool isMost(int64_t row, int64_t column) {
    switch (row % 6) {
    case 0:
      return true;
    case 1:
      return false;
    default:
      return column >> (row % 6 == 5 ? 4 : row % 6 - 2) & 1;
    }
  }
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
  options.target = row.target;
  options.fuseNorm = row.fuseNorm;
  options.schedule = row.schedule;
  options.kv = row.kv;
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
    result.inGroups.push_back(
        isa<llm::GroupType>(cast<RankedTensorType>(written.getType()).getElementType()));
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

bool lowerKernels(ModuleOp module, bool toPtx, CompiledCase &result) {
  OwningOpRef<ModuleOp> kernels = kernelsOf(module);
  llvm::raw_string_ostream(result.tileKernels) << *kernels;
  if (!toPtx)
    return true;
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

size_t CompiledCase::writtenElements(size_t index) const {
  const reference::Tensor &tensor = expected[index];
  return size_t(tensor.lines * (inGroups[index] ? quantizedWords(tensor.width) : tensor.width));
}

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
  std::unique_ptr<model::WeightSource> source;
  if (row.weights == CaseWeights::Extremes)
    source = std::make_unique<ExtremeWeights>(*module);
  else
    source = std::make_unique<HashedWeights>(*module);
  const model::WeightSource &weights = *source;
  result.step = makeStep(row);
  if (!runStages(*module, row, "import", "schedule") ||
      !evaluateRegions(*module, weights, result, error) ||
      !runStages(*module, row, "schedule", "memory"))
    return result;
  FailureOr<artifact::Tables> tables = artifact::readTables(*module);
  if (failed(tables) || !lowerKernels(*module, row.onPtx, result))
    return result;
  result.tables = std::move(*tables);
  VectorSink sink(result.weights);
  if (auto packed = artifact::packWeights(result.tables, weights, sink, {}); !packed)
    error += packed.error().str();
  return result;
}

} // namespace llmc::test
