// SPDX-License-Identifier: Apache-2.0
// Reads a model.json through its key tables, expands runs of layers, and validates the result.
#include "frontends/json/ModelJson.h"

#include "frontends/json/ModelJsonKeys.h"

#include <cmath>

namespace llmc::json {
namespace {

constexpr ReadOptions options = {~0u, false, "`llmc import --schema` prints all keys"};

// Reads the runs; `runOfLayer` remembers which run each layer came from.
Status readLayers(const Value &list, const Place &place, model::ModelConfig &config,
                  std::vector<size_t> &runOfLayer) {
  for (size_t i = 0; i < list.size(); ++i) {
    LayerRun run;
    Place runPlace = place.at(std::to_string(i));
    if (Status status = readObject(layerKeys(), list[i], runPlace, run, options); !status)
      return status;
    int64_t room = model::maxLayers - config.numLayers();
    if (run.repeat < 1 || run.repeat > room)
      return runPlace.at("repeat").error("found " + std::to_string(run.repeat) +
                                         ", expected 1 to " + std::to_string(room) + " (at most " +
                                         std::to_string(model::maxLayers) + " layers in all)");
    run.attentionScale = run.scale ? *run.scale : 1.0 / std::sqrt(static_cast<double>(run.headDim));
    for (int64_t n = 0; n < run.repeat; ++n) {
      config.layers.push_back(run);
      runOfLayer.push_back(i);
    }
  }
  return {};
}

Status readRope(const Value &object, const Place &place, model::ModelConfig &config) {
  RopeEntry entry;
  if (Status status = readObject(ropeKeys(), object, place, entry, options); !status)
    return status;
  entry.rotaryDims = entry.dims              ? *entry.dims
                     : config.layers.empty() ? 0
                                             : config.layers[0].headDim;
  config.rope = entry;
  return {};
}

Status readWeights(const Value &object, const Place &place, WeightsReference &weights) {
  WeightsEntry entry;
  if (Status status = readObject(weightsKeys(), object, place, entry, options); !status)
    return status;
  if (entry.safetensors.has_value() == entry.randomSeed.has_value())
    return place.error(std::string("found ") + (entry.safetensors ? "both" : "neither") +
                       " of \"safetensors\" and \"random\", expected exactly one of them");
  if (entry.names &&
      (!entry.safetensors || (*entry.names != "llmc" && *entry.names != "huggingface")))
    return place.at("names").error(
        "found \"" + escaped(*entry.names, 80) +
        "\", expected \"llmc\" or \"huggingface\", beside \"safetensors\"");
  if (entry.safetensors && entry.safetensors->find('\0') != std::string::npos)
    return place.at("safetensors")
        .error("found a path with a zero byte, expected a file or folder");
  entry.huggingFaceNames = entry.names == "huggingface";
  weights = entry;
  return {};
}

// "/layers/17/x" counts expanded layers; the file counts runs.
std::string placeInFile(const std::string &place, const std::vector<size_t> &runOfLayer) {
  static constexpr std::string_view prefix = "/layers/";
  size_t slash = place.find('/', prefix.size());
  if (place.compare(0, prefix.size(), prefix) != 0 || slash == std::string::npos)
    return place;
  size_t layer =
      static_cast<size_t>(std::stoul(place.substr(prefix.size(), slash - prefix.size())));
  return "/layers/" + std::to_string(runOfLayer[layer]) + place.substr(slash);
}

Status checkConfig(const model::ModelConfig &config, const std::vector<size_t> &runOfLayer,
                   const Place &root) {
  std::vector<model::ConfigProblem> problems = model::validate(config);
  if (problems.empty())
    return {};
  const model::ConfigProblem &first = problems.front();
  Error error = errorAt(root.file, placeInFile(first.place, runOfLayer), first.text);
  if (!first.otherPlace.empty())
    error.notes.push_back(
        noteAt(root.file, placeInFile(first.otherPlace, runOfLayer), first.otherText));
  return error;
}

} // namespace

Result<ModelDescription> parseModelJson(std::string_view text, std::string_view file) {
  Result<Value> tree = parse(text, file);
  if (!tree)
    return tree.takeError();
  Place root{std::string(file), ""};
  Document document;
  if (Status status = readObject(documentKeys(), *tree, root, document, options); !status)
    return status.takeError();
  if (document.version != modelJsonVersion)
    return root.at("llmc_model")
        .error("found format version " + std::to_string(document.version) + ", expected " +
               std::to_string(modelJsonVersion));
  WeightsReference weights;
  std::vector<size_t> runOfLayer;
  if (Status status =
          readObject(normKeys(), *document.normValue, root.at("norm"), document.norm, options);
      !status)
    return status.takeError();
  if (Status status = readLayers(*document.layersValue, root.at("layers"), document, runOfLayer);
      !status)
    return status.takeError();
  if (Status status = readRope(*document.ropeValue, root.at("rope"), document); !status)
    return status.takeError();
  if (Status status = readWeights(*document.weightsValue, root.at("weights"), weights); !status)
    return status.takeError();
  if (Status status = checkConfig(document, runOfLayer, root); !status)
    return status.takeError();
  return ModelDescription{std::move(document), std::move(weights)};
}

Result<ModelDescription> readModelJson(const std::string &path) {
  Result<std::string> text = readTextFile(path, uint64_t(16) << 20);
  if (!text)
    return text.takeError();
  return parseModelJson(*text, path);
}

} // namespace llmc::json
