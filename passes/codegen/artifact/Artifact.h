// SPDX-License-Identifier: Apache-2.0
// The artefact writer's one entry: tables, kernels, a manifest and weights become a model.so,
// model.o or model.a. The same request gives the same bytes; a failure leaves no file behind.
#pragma once

#include "passes/codegen/artifact/EmbeddedExecutor.h"
#include "passes/codegen/artifact/Manifest.h"
#include "passes/codegen/artifact/Pack.h"
#include "passes/codegen/artifact/TablesObject.h"

namespace llmc::artifact {

enum class ArtifactKind { SharedObject, Object, Archive };

// By the ending of the path: .so, .o or .a.
Result<ArtifactKind> kindOf(const std::string &path);

struct ArtifactRequest {
  const Tables &tables;
  const model::WeightSource &weights;
  std::vector<Level> levels = {}; // least demanding first
  std::string path = {};
  ArtifactKind kind = ArtifactKind::SharedObject;
  std::string name = {};        // of --name: a C identifier, or empty
  bool weightsSeparate = false; // in PATH.weights
  std::string_view tokenizer = {}; // tables of llmc/tokenizer_abi.h, or empty
  ManifestParts manifest = {};
  Progress progress = {};
  bool removeOnSignal = false; // unfinished files go when the process is interrupted
  std::string_view executor = executorObject();
  bool allowUndefined = false; // with an instrumented executor and kernels
};

struct ArtifactSummary {
  uint64_t fileBytes = 0; // of PATH, holes included
  uint64_t codeBytes = 0; // executable sections: kernels of all levels and the executor
  uint64_t weightsBytes = 0;
  uint64_t weightsHash = 0;
  std::string weightsPath; // empty: inside PATH
  double packSeconds = 0;  // reading, packing and writing the weights
  // Tensors packed in another format than they were stored in, and what that cost.
  std::map<std::string, model::RoundingLoss> losses;
};

Result<ArtifactSummary> writeArtifact(const ArtifactRequest &request);

} // namespace llmc::artifact
