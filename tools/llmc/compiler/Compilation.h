// SPDX-License-Identifier: Apache-2.0
//
// One compilation from beginning to end: a model file (or IR printed after any stage) becomes an artefact, or is printed
// after a stage. Options are a value; two compilations in one process do not notice each other.
#pragma once

#include "dialects/model/Error.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Pipeline.h"
#include "passes/codegen/artifact/Artifact.h"

namespace llmc {

struct CompileRequest {
  std::string input;       ///< Hugging Face folder, model.json, or with `from` an .mlir file
  std::string output;      ///< .so, .o or .a; with `emit` text: a file, or "-" for stdout
  std::string emit = "so"; ///< a stage's name, llvm-ir, asm or so
  std::string from;        ///< stage after which `input` was printed; empty: a model
  std::string weights;     ///< with `from`: the model that the weights come from
  PipelineOptions pipeline;
  int64_t maxSequence = 0; ///< 0: what the model was trained for, up to kDefaultMaxSequence
  int64_t maxBatch = 8;
  std::string name;        ///< of --name
  bool weightsSeparate = false;
  bool withoutTokenizer = false;         ///< the artefact knows token ids only
  bool instrumentThreads = false;        ///< tests only: kernels and executor under ThreadSanitizer
  std::string_view executor = artifact::executorObject();
  std::vector<std::pair<std::string, std::string>> plugins; ///< file, stage after which its passes run
  std::string remarks;     ///< file for remarks as YAML, or empty
  bool verbose = false;    ///< remarks on stderr too
  bool removeOnSignal = false;
  std::function<void(llvm::StringRef stage)> onStage;
  artifact::Progress onPacked;
};

inline constexpr int64_t kDefaultMaxSequence = 4096;

struct CompileSummary {
  artifact::ArtifactSummary artifact;
  uint64_t rowsArenaBytes = 0, outputsArenaBytes = 0, chunkBytes = 0;
  int64_t maxPositions = 0;
  size_t kernels = 0, commands = 0;
  double codeSeconds = 0; ///< kernel stage and machine code
};

/// Diagnostics of MLIR end up in the error, first one first.
Result<CompileSummary> compile(const CompileRequest &request);

/// The module of a model up to (and with) stage `to`, as `compile` makes it: for `compare` and `explain`.
Result<mlir::OwningOpRef<mlir::ModuleOp>> buildUpTo(mlir::MLIRContext &context, const CompileRequest &request, llvm::StringRef to);

} // namespace llmc
