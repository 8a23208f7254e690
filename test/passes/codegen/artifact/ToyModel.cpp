// SPDX-License-Identifier: Apache-2.0
// The toy model, its weights and its meaning.
#include "test/passes/codegen/artifact/ToyModel.h"

#include "dialects/llm/LLMDialect.h"
#include "dialects/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "test/passes/codegen/artifact/toy_step.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace llmc::artifact::test {
namespace {

constexpr int64_t kWidth = 2; // of a key
constexpr float kFrequencies[kWidth] = {1.0f, 0.25f};

constexpr const char *kBody = R"(
  %embed = tile.weight @embed_table : !tile.view<11x6xf32>
  %rope = tile.weight @rope : !tile.view<16x4xf32>
  %kv = tile.cache @layers.0.kv : !tile.kv<heads = 1, key = 2, value = 2, tokenMajor = false, block = 1024>
  %w = tile.weight @lm_head : !tile.view<3x6x4xf32>
  %x = tile.slice rows offset 0 : !tile.view<?x6xf32>
  tile.launch @embed "embed" grid(rows, 1) chunk 2 after -1 (%embed, %x) : (!tile.view<11x6xf32>, !tile.view<?x6xf32>) -> ()
  %again = tile.slice rows offset 0 : !tile.view<?x6xf32>
  tile.launch @append "layers.0.append" grid(rows, 1) chunk 1 after 0 (%rope, %again, %kv) : (!tile.view<16x4xf32>, !tile.view<?x6xf32>, !tile.kv<heads = 1, key = 2, value = 2, tokenMajor = false, block = 1024>) -> ()
  %y = tile.slice rows offset 64 : !tile.view<?x6xf32>
  tile.launch @mix "layers.0.mix" grid(rows, 1) chunk 1 after 1 (%kv, %x, %y) : (!tile.kv<heads = 1, key = 2, value = 2, tokenMajor = false, block = 1024>, !tile.view<?x6xf32>, !tile.view<?x6xf32>) -> ()
  %logits = tile.slice outputs offset 0 : !tile.view<?x11xf32>
  tile.launch @head "head" grid(outputs, 3) chunk 2 after 2 (%y, %w, %logits) : (!tile.view<?x6xf32>, !tile.view<3x6x4xf32>, !tile.view<?x11xf32>) -> ()
  tile.result logits %logits : !tile.view<?x11xf32>
  return
}
)";

constexpr const char *kModule = R"(
module attributes {llm.rows_arena_bytes = 128 : i64, llm.outputs_arena_bytes = 64 : i64, llm.chunk_bytes = 1024 : i64,
  llm.limits = {hidden = 6 : i64, vocabulary = 11 : i64, layers = 1 : i64, max_positions = 16 : i64, max_sequences = 2 : i64,
  eos = array<i32: 3, 7>}} {
tile.packed @embed_table 11 x 6 of f32 panel_rows 0 offset 0 bytes 264 {sources = ["embed"]}
tile.packed @rope 16 x 4 of f32 panel_rows 0 offset 640 bytes 256 {computed = #llm.rope_table<frequencies = [1.0, 0.25], magnitude = 1.0 : f32>}
tile.packed @lm_head 11 x 6 of f32 panel_rows 4 offset 320 bytes 288 {sources = ["head.a", "head.b"]}
tile.placed_cache @layers.0.kv : !tile.kv<heads = 1, key = 2, value = 2, tokenMajor = false, block = 1024> offset 0
tile.kernel @embed(%step: !tile.step, %table: !tile.view<11x6xf32>, %x: !tile.view<?x6xf32>) { tile.return }
tile.kernel @append(%step: !tile.step, %rope: !tile.view<16x4xf32>, %x: !tile.view<?x6xf32>, %kv: !tile.kv<heads = 1, key = 2, value = 2, tokenMajor = false, block = 1024>) { tile.return }
tile.kernel @mix(%step: !tile.step, %kv: !tile.kv<heads = 1, key = 2, value = 2, tokenMajor = false, block = 1024>, %x: !tile.view<?x6xf32>, %y: !tile.view<?x6xf32>) { tile.return }
tile.kernel @head(%step: !tile.step, %y: !tile.view<?x6xf32>, %w: !tile.view<3x6x4xf32>, %logits: !tile.view<?x11xf32>) { tile.return }
)";

std::string graphText(const std::string &kind) {
  return "func.func @" + kind + "(%step: !tile.step) attributes {llm.graph = \"" + kind + "\"} {" +
         kBody;
}

} // namespace

std::string toyModule(const std::string &replaced, const std::string &replacement) {
  std::string text = kModule + graphText("prefill") + graphText("decode") + "}\n";
  if (!replaced.empty())
    text.replace(text.find(replaced), replaced.size(), replacement);
  return text;
}

ReadResult read(const std::string &text) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::func::FuncDialect, llm::LLMDialect, tile::TileDialect>();
  ReadResult result;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    if (!result.error.empty())
      return;
    if (auto place = mlir::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation()))
      result.error = std::to_string(place.getLine()) + ": ";
    result.error += diagnostic.str();
  });
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return result;
  mlir::FailureOr<Tables> tables = readTables(*module);
  if (mlir::succeeded(tables))
    result.tables = std::move(*tables);
  return result;
}

Tables toyTables() { return read(toyModule()).tables.value_or(Tables{}); }

ToyWeights::ToyWeights(float scale) : scale(scale) {
  add("embed", {11, 6});
  add("head.a", {5, 6});
  add("head.b", {6, 6});
}

void ToyWeights::add(const std::string &name, std::vector<int64_t> shape) {
  auto info = std::make_unique<model::TensorInfo>();
  info->name = name;
  info->shape = std::move(shape);
  info->place = "toy: " + name;
  tensors.push_back(std::move(info));
}

const model::TensorInfo *ToyWeights::find(std::string_view name) const {
  for (const auto &info : tensors)
    if (info->name == name)
      return info.get();
  return nullptr;
}

float ToyWeights::value(std::string_view name, int64_t row, int64_t column) const {
  const int64_t seed = int64_t(std::hash<std::string_view>()(name.substr(name.size() - 1)) % 13);
  return scale * float((seed + row * 31 + column * 17) % 29 - 14) / 8.0f;
}

Status ToyWeights::readRows(std::string_view name, int64_t firstRow, int64_t numRows,
                            float *out) const {
  const model::TensorInfo *info = find(name);
  if (Status status = model::checkRows(*info, firstRow, numRows); !status)
    return status;
  if (readsUntilFailure >= 0 && readsUntilFailure-- == 0)
    return errorAt(info->place, "", "found a disk that cannot be read, expected rows");
  for (int64_t row = 0; row < numRows; ++row)
    for (int64_t column = 0; column < info->columns(); ++column)
      *out++ = value(name, firstRow + row, column);
  return {};
}

std::vector<float> expectedLogits(const ToyWeights &weights, const std::vector<int32_t> &tokens) {
  std::vector<float> logits;
  for (size_t row = 0; row < tokens.size(); ++row) {
    float y[TOY_HIDDEN];
    for (int k = 0; k < TOY_HIDDEN; ++k) {
      y[k] = weights.value("embed", tokens[row], k);
      for (size_t j = 0; j <= row; ++j) {
        const float angle = float(j) * kFrequencies[k % kWidth];
        y[k] += weights.value("embed", tokens[j], k % kWidth) + float(std::cos(double(angle)));
      }
    }
    for (int n = 0; n < TOY_VOCABULARY; ++n) {
      float sum = 0;
      for (int k = 0; k < TOY_HIDDEN; ++k)
        sum += y[k] * (n < 5 ? weights.value("head.a", n, k) : weights.value("head.b", n - 5, k));
      logits.push_back(sum);
    }
  }
  return logits;
}

std::vector<Level> toyLevels() {
  return {{"base", "x86-64", 0, "base_", {readFile(TOY_KERNELS_BASE)}},
          {"second", "x86-64", LLMC_CPU_AVX2, "second_", {readFile(TOY_KERNELS_SECOND)}}};
}

Level toyThreadSanitizerLevel() {
  return {"base", "x86-64", 0, "base_", {readFile(TOY_KERNELS_TSAN)}};
}

TestFolder::TestFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "llmc-artifact-XXXXXX").string();
  folder = mkdtemp(pattern.data());
}

TestFolder::~TestFolder() { std::filesystem::remove_all(folder); }

std::vector<std::string> TestFolder::files() const {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string readFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

} // namespace llmc::artifact::test
