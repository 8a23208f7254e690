// SPDX-License-Identifier: Apache-2.0
// A model small enough to compute by hand, written as a module at the end of the memory stage:
// embedding, a cache, a head in panels of 4 rows with 11 of 12 used, a rope table, and two levels
// of kernels.
#pragma once

#include "passes/codegen/artifact/Artifact.h"
#include "passes/codegen/artifact/ReadTables.h"
#include "llvm/ADT/StringRef.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace llmc::artifact::test {

// The module's text; `replaced` becomes `replacement`, once, so that a test can plant one fault.
std::string toyModule(const std::string &replaced = "", const std::string &replacement = "");

// Tables of a module, or the first error that reading it gave.
struct ReadResult {
  std::optional<Tables> tables;
  std::string error; // `LINE: message`
};
ReadResult read(const std::string &text);
Tables toyTables();

// Tensors in memory: element i of a tensor depends on its name and i.
class ToyWeights : public model::WeightSource {
public:
  explicit ToyWeights(float scale = 1);
  const model::TensorInfo *find(std::string_view name) const override;
  Status readRows(std::string_view name, int64_t firstRow, int64_t numRows,
                  float *out) const override;
  float value(std::string_view name, int64_t row, int64_t column) const;

  void add(const std::string &name, std::vector<int64_t> shape);
  // Counts down; the read at 0 fails; negative: none fails.
  mutable std::atomic<int64_t> readsUntilFailure{-1};

private:
  float scale;
  std::vector<std::unique_ptr<model::TensorInfo>> tensors;
};

// Logits of all of the tokens, computed from the source.
std::vector<float> expectedLogits(const ToyWeights &weights, const std::vector<int32_t> &tokens);

std::vector<Level> toyLevels();
Level toyThreadSanitizerLevel();

// A fresh folder, removed at the end; `files` lists what is left in it.
class TestFolder {
public:
  TestFolder();
  ~TestFolder();
  std::string path(const std::string &name) const { return folder + "/" + name; }
  std::vector<std::string> files() const;

private:
  std::string folder;
};

std::string readFile(const std::string &path);

} // namespace llmc::artifact::test
