// SPDX-License-Identifier: Apache-2.0
// `llmc explain M.so`: the manifest's cost table and the sizes of the artefact's tables.
#include "tools/llmc/Explain.h"
#include "runtime/engine/Inspect.h"
#include "tools/llmc/LoadedModel.h"

namespace llmc::tool {

Status explainArtifact(const ExplainOptions &options) {
  if (options.compiles)
    return errorAt(
        options.path, "",
        "found a compiled model with --quant, --kv, --target or --max-seq, expected none "
        "of them: they were chosen when it was compiled");
  ModelOptions file;
  file.path = options.path;
  Result<LoadedModel> loaded = loadModel(file, nullptr);
  if (!loaded)
    return loaded.takeError();
  const llmc_artifact &artifact = inspect::artifactOf(loaded->model.get());
  Result<std::vector<cost::RegionTerms>> regions =
      termsFromJson({artifact.manifest, artifact.manifest_bytes}, options.path);
  if (!regions)
    return regions.takeError();
  ExplainedModel model;
  model.path = options.path;
  model.regions = std::move(*regions);
  model.memory = {artifact.weights_bytes, artifact.rows_arena_bytes, artifact.outputs_arena_bytes,
                  artifact.chunk_bytes};
  model.maxPositions = artifact.limits.max_positions;
  return explain(model, options);
}

} // namespace llmc::tool
