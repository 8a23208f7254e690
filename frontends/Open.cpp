// SPDX-License-Identifier: Apache-2.0
// Chooses a reader by what the path is, never by looking inside files.
#include "frontends/Open.h"

#include "frontends/huggingface/OpenFolder.h"
#include "frontends/json/ModelJson.h"
#include "frontends/safetensors/SafetensorsSource.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>

namespace llmc {

namespace {

Result<OpenedModel> openFolder(const std::string &path) {
  Result<huggingface::OpenedFolder> folder = huggingface::openFolder(path);
  if (!folder)
    return folder.takeError();
  return OpenedModel{std::move(folder->config), std::move(folder->weights),
                     "Hugging Face folder " + path};
}

// A relative path is taken from the folder of the model.json.
std::string besideFile(const std::string &file, const std::string &path) {
  size_t slash = file.rfind('/');
  bool plain = path.empty() || path[0] == '/' || slash == std::string::npos;
  return plain ? path : file.substr(0, slash + 1) + path;
}

Result<OpenedModel> openModelJson(const std::string &path) {
  Result<json::ModelDescription> read = json::readModelJson(path);
  if (!read)
    return read.takeError();
  const json::WeightsReference &reference = read->weights;
  if (reference.randomSeed) {
    uint64_t seed = static_cast<uint64_t>(*reference.randomSeed);
    auto weights = std::make_unique<model::RandomWeightSource>(read->config, seed);
    return OpenedModel{std::move(read->config), std::move(weights),
                       path + " with random weights of seed " +
                           std::to_string(*reference.randomSeed)};
  }
  std::string stored = besideFile(path, *reference.safetensors);
  Result<safetensors::Checkpoint> checkpoint = safetensors::Checkpoint::open(stored);
  if (!checkpoint)
    return checkpoint.takeError().withNote(
        noteAt(path, "/weights/safetensors", "the weights are named here"));
  safetensors::BindOptions options;
  if (reference.huggingFaceNames)
    options.nameOf = huggingface::storedName;
  if (read->config.tieWordEmbeddings)
    options.ignoredNames.push_back(reference.huggingFaceNames ? huggingface::storedName("lm_head")
                                                              : "lm_head");
  Result<std::unique_ptr<model::WeightSource>> weights =
      safetensors::bindWeights(std::move(*checkpoint), read->config, options);
  if (!weights)
    return weights.takeError().withNote(
        noteAt(path, "/weights/safetensors", "the weights are named here"));
  return OpenedModel{std::move(read->config), std::move(*weights),
                     path + " with weights of " + stored};
}

} // namespace

Result<OpenedModel> openModel(const std::string &path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0)
    return errorAt(path, "",
                   std::string("found nothing to read (") + std::strerror(errno) +
                       "), expected a Hugging Face folder or a model.json");
  if (S_ISDIR(info.st_mode))
    return openFolder(path);
  if (path.size() > 5 && path.compare(path.size() - 5, 5, ".json") == 0)
    return openModelJson(path);
  return errorAt(
      path, "",
      "found a file of another kind, expected a Hugging Face folder or a file named *.json");
}

} // namespace llmc
