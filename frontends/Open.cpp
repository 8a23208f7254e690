// SPDX-License-Identifier: Apache-2.0
// Chooses a reader by what the path is, never by looking inside files.
#include "frontends/Open.h"

#include "frontends/gguf/OpenFile.h"
#include "frontends/huggingface/ConfigOnly.h"
#include "frontends/huggingface/OpenFolder.h"
#include "frontends/json/ModelJson.h"
#include "frontends/safetensors/SafetensorsSource.h"
#include "frontends/text/TokenizerFolder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fstream>
#include <sys/stat.h>

namespace llmc {

namespace {

constexpr const char *expectedInput =
    "expected a Hugging Face folder, a .gguf file, a model.json or a config.json";

bool endsWith(const std::string &text, const std::string &suffix) {
  return text.size() > suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

Result<OpenedModel> openGGUF(const std::string &path) {
  Result<gguf::OpenedFile> file = gguf::openFile(path);
  if (!file)
    return file.takeError();
  return OpenedModel{std::move(file->config), std::move(file->weights), "GGUF file " + path,
                     std::move(file->tokenizer)};
}

// A config.json by itself: the model's shape without its weights.
Result<OpenedModel> openConfig(const std::string &path) {
  Result<huggingface::OpenedFolder> opened = huggingface::openConfigFile(path);
  if (!opened)
    return opened.takeError();
  return OpenedModel{std::move(opened->config), std::move(opened->weights), path + " alone"};
}

// The .gguf files of a folder, sorted by name.
std::vector<std::string> ggufFiles(const std::string &folder) {
  std::vector<std::string> names;
  DIR *directory = ::opendir(folder.c_str());
  while (directory) {
    const dirent *entry = ::readdir(directory);
    if (!entry)
      break;
    if (std::string name = entry->d_name; endsWith(name, ".gguf"))
      names.push_back(std::move(name));
  }
  if (directory)
    ::closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

bool exists(const std::string &path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0;
}

// A config.json makes a folder Hugging Face's, whatever else lies in it.
Result<OpenedModel> openFolder(const std::string &path) {
  std::vector<std::string> files = ggufFiles(path);
  if (!files.empty() && !exists(path + "/config.json")) {
    if (files.size() == 1)
      return openGGUF(path + "/" + files[0]);
    return errorAt(path, "",
                   "found " + std::to_string(files.size()) +
                       " .gguf files and no config.json, expected one of either; name the file (" +
                       escaped(files[0]) + " is the first)");
  }
  Result<huggingface::OpenedFolder> folder = huggingface::openFolder(path);
  if (!folder)
    return folder.takeError();
  return OpenedModel{std::move(folder->config), std::move(folder->weights),
                     "Hugging Face folder " + path, tokenizers::readTokenizerFolder(path)};
}

// A relative path is taken from the folder of the model.json.
std::string besideFile(const std::string &file, const std::string &path) {
  size_t slash = file.rfind('/');
  bool plain = path.empty() || path[0] == '/' || slash == std::string::npos;
  return plain ? path : file.substr(0, slash + 1) + path;
}

// Whether a file that is no model.json looks like Hugging Face's config.
bool namesModelType(const std::string &path) {
  std::string start(1 << 16, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return start.find("\"model_type\"") != std::string::npos;
}

Result<OpenedModel> openModelJson(const std::string &path) {
  Result<json::ModelDescription> read = json::readModelJson(path);
  if (!read && namesModelType(path))
    return read.takeError().withNote(
        noteAt(path, "", "a Hugging Face config is known by its name: call the file config.json"));
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
                   std::string("found nothing to read (") + std::strerror(errno) + "), " +
                       expectedInput);
  if (S_ISDIR(info.st_mode))
    return openFolder(path);
  if (path == "config.json" || endsWith(path, "/config.json"))
    return openConfig(path);
  if (endsWith(path, ".json"))
    return openModelJson(path);
  if (endsWith(path, ".gguf"))
    return openGGUF(path);
  return errorAt(path, "", std::string("found a file of another kind, ") + expectedInput);
}

} // namespace llmc
