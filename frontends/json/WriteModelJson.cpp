// SPDX-License-Identifier: Apache-2.0
// Writes a model.json and its JSON Schema from the key tables.
#include "frontends/json/ModelJsonKeys.h"

namespace llmc::json {
namespace {

bool sameLayer(const model::LayerConfig &a, const model::LayerConfig &b) {
  return a.numHeads == b.numHeads && a.numKVHeads == b.numKVHeads && a.headDim == b.headDim &&
         a.slidingWindow == b.slidingWindow && a.qkvBias == b.qkvBias && a.outBias == b.outBias &&
         a.mlpBias == b.mlpBias && a.qkNorm == b.qkNorm && a.qkNormEpsilon == b.qkNormEpsilon &&
         a.attentionScale == b.attentionScale && a.useRope == b.useRope;
}

Written writeLayers(const std::vector<model::LayerConfig> &layers) {
  Written runs = Written::array();
  for (size_t i = 0; i < layers.size();) {
    LayerRun run;
    static_cast<model::LayerConfig &>(run) = layers[i];
    run.scale = run.attentionScale;
    run.repeat = 0;
    for (; i < layers.size() && sameLayer(run, layers[i]); ++i)
      ++run.repeat;
    runs.push_back(writeObject(layerKeys(), run));
  }
  return runs;
}

} // namespace

std::string writeModelJson(const model::ModelConfig &config, const WeightsReference &weights) {
  Document document;
  static_cast<model::ModelConfig &>(document) = config;
  document.version = modelJsonVersion;
  RopeEntry rope;
  static_cast<model::RopeConfig &>(rope) = config.rope;
  rope.dims = config.rope.rotaryDims;
  WeightsEntry entry;
  static_cast<WeightsReference &>(entry) = weights;
  if (weights.safetensors)
    entry.names = weights.huggingFaceNames ? "huggingface" : "llmc";

  Written written = writeObject(documentKeys(), document);
  written["norm"] = writeObject(normKeys(), config.norm);
  written["rope"] = writeObject(ropeKeys(), rope);
  written["layers"] = writeLayers(config.layers);
  written["weights"] = writeObject(weightsKeys(), entry);
  return written.dump(2, ' ', false, Written::error_handler_t::replace) + "\n";
}

std::string modelJsonSchema() {
  Written schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                    {"title", "llmc model.json"}};
  schema.update(schemaOf(documentKeys()));
  return schema.dump(2) + "\n";
}

} // namespace llmc::json
