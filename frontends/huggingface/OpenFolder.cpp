// SPDX-License-Identifier: Apache-2.0
// Opens a folder's files, and decides whether the head is tied: which tensors exist comes first,
// the config second.
#include "frontends/huggingface/OpenFolder.h"

#include "frontends/huggingface/Config.h"
#include "frontends/safetensors/SafetensorsSource.h"

#include <algorithm>
#include <cstring>
#include <sys/stat.h>

namespace llmc::huggingface {

using safetensors::Checkpoint;

namespace {

bool exists(const std::string &path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0;
}

Result<bool> sameBytes(const Checkpoint::Entry &a, const Checkpoint::Entry &b) {
  uint64_t size = a.tensor.end - a.tensor.begin;
  if (a.tensor.type != b.tensor.type || a.tensor.shape != b.tensor.shape ||
      size != b.tensor.end - b.tensor.begin)
    return false;
  std::vector<char> first(std::min<uint64_t>(size, 1 << 18)), second(first.size());
  for (uint64_t done = 0; done < size; done += first.size()) {
    uint64_t part = std::min<uint64_t>(size - done, first.size());
    if (Status status = a.file->read(a.tensor.begin + done, first.data(), part); !status)
      return status.takeError();
    if (Status status = b.file->read(b.tensor.begin + done, second.data(), part); !status)
      return status.takeError();
    if (std::memcmp(first.data(), second.data(), part) != 0)
      return false;
  }
  return true;
}

// No lm_head: tied, whatever the config says. An lm_head that the config calls tied: tied only when
// it equals the embedding, else it is a head of its own (as transformers 5 decides; version 4 would
// drop it).
Result<bool> isTied(const Checkpoint &checkpoint, bool configSaysTied) {
  const Checkpoint::Entry *head = checkpoint.find(storedName("lm_head"));
  const Checkpoint::Entry *embed = checkpoint.find(storedName("embed"));
  if (!head)
    return true;
  if (!configSaysTied || !embed)
    return false;
  return sameBytes(*head, *embed);
}

} // namespace

Result<model::ModelConfig> readConfig(const std::string &folder) {
  std::string file = folder + "/config.json", generationFile = folder + "/generation_config.json";
  constexpr uint64_t limit = uint64_t(16) << 20;
  Result<std::string> text = json::readTextFile(file, limit);
  if (!text)
    return text.takeError();
  std::string generationText;
  if (exists(generationFile)) {
    Result<std::string> read = json::readTextFile(generationFile, limit);
    if (!read)
      return read.takeError();
    if (read->empty())
      return errorAt(generationFile, "", "found an empty file, expected a JSON object");
    generationText = std::move(*read);
  }
  return parseConfig(*text, file, generationText, generationFile);
}

Result<OpenedFolder> openFolder(const std::string &folder) {
  Result<model::ModelConfig> config = readConfig(folder);
  if (!config)
    return config.takeError();
  Result<Checkpoint> checkpoint = Checkpoint::open(folder);
  if (!checkpoint)
    return checkpoint.takeError();
  Result<bool> tied = isTied(*checkpoint, config->tieWordEmbeddings);
  if (!tied)
    return tied.takeError();
  config->tieWordEmbeddings = *tied;
  safetensors::BindOptions options;
  options.nameOf = storedName;
  if (*tied)
    options.ignoredNames.push_back(storedName("lm_head"));
  Result<std::unique_ptr<model::WeightSource>> weights =
      safetensors::bindWeights(std::move(*checkpoint), *config, options);
  if (!weights)
    return weights.takeError();
  return OpenedFolder{std::move(*config), std::move(*weights)};
}

} // namespace llmc::huggingface
