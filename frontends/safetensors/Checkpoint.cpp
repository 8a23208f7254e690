// SPDX-License-Identifier: Apache-2.0
// Finds the files of a checkpoint, reads their headers, and checks an index against its shards.
#include "frontends/safetensors/Checkpoint.h"

#include "frontends/json/Value.h"

#include <algorithm>
#include <sys/stat.h>

namespace llmc::safetensors {

using json::Value;

namespace {

constexpr size_t maxShards = 512; // each stays open; the usual limit of a process is 1024 files
constexpr uint64_t maxIndexBytes = uint64_t(64) << 20;

using ShardOfTensor = std::unordered_map<std::string, std::string>;

bool exists(const std::string &path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0;
}

bool isFolder(const std::string &path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool endsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

Result<std::string> readHeaderText(const File &file) {
  if (file.size < 8)
    return errorAt(file.path, "header length",
                   "found a file of " + std::to_string(file.size) + " bytes, expected at least 8");
  unsigned char bytes[8];
  if (Status status = file.read(0, bytes, 8); !status)
    return status.takeError();
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | bytes[i];
  uint64_t limit = std::min(file.size - 8, maxHeaderBytes);
  if (length < 2 || length > limit)
    return errorAt(file.path, "header length",
                   "found " + std::to_string(length) + ", expected 2 to " + std::to_string(limit) +
                       " (the file has " + std::to_string(file.size) + " bytes)");
  std::string text(length, '\0');
  if (Status status = file.read(8, text.data(), length); !status)
    return status.takeError();
  return text;
}

// A shard is a plain name in the index's own folder, so an index cannot reach other files.
bool isPlainName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.size() <= 255 &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

Result<ShardOfTensor> readIndex(const std::string &path) {
  Result<Value> tree = json::parseFile(path, maxIndexBytes);
  if (!tree)
    return tree.takeError();
  if (!tree->is(Value::Kind::Object))
    return errorAt(path, "/", "found " + json::describe(*tree) + ", expected an object");
  for (size_t i = 0; i < tree->size(); ++i)
    if (tree->key(i) != "metadata" && tree->key(i) != "weight_map")
      return errorAt(path, "/" + escaped(tree->key(i), 80),
                     "found an unknown key, expected \"metadata\" and \"weight_map\"");
  const Value *map = tree->find("weight_map");
  if (!map || !map->is(Value::Kind::Object))
    return errorAt(path, "/weight_map",
                   (map ? "found " + json::describe(*map) : std::string("found nothing")) +
                       ", expected an object that gives each tensor's file");
  ShardOfTensor shards;
  for (size_t i = 0; i < map->size(); ++i) {
    const Value &shard = (*map)[i];
    if (!shard.is(Value::Kind::String) || !isPlainName(shard.text()))
      return errorAt(path, "/weight_map/" + escaped(map->key(i), 120),
                     "found " + json::describe(shard) +
                         ", expected the name of a file in the index's own folder");
    shards.emplace(map->key(i), shard.text());
  }
  return shards;
}

} // namespace

Status Checkpoint::addFile(const std::string &path, const ShardOfTensor *shardOfTensor,
                           const std::string &shard) {
  Result<std::shared_ptr<File>> file = File::open(path);
  if (!file)
    return file.takeError();
  Result<std::string> text = readHeaderText(**file);
  if (!text)
    return text.takeError();
  Result<std::vector<StoredTensor>> tensors = parseHeader(*text, path, (*file)->size);
  if (!tensors)
    return tensors.takeError();
  for (StoredTensor &tensor : *tensors) {
    if (shardOfTensor) {
      auto listed = shardOfTensor->find(tensor.name);
      if (listed == shardOfTensor->end() || listed->second != shard)
        return errorAt(path, tensorPlace(tensor.name),
                       "found a tensor that the index does not place in this file, "
                       "expected only tensors of \"weight_map\"")
            .withNote(noteAt(source, "/weight_map",
                             listed == shardOfTensor->end()
                                 ? "the index does not name the tensor"
                                 : "the index places it in " + escaped(listed->second)));
    }
    std::string name = tensor.name;
    byName.emplace(std::move(name), Entry{std::move(tensor), *file});
  }
  return {};
}

Status Checkpoint::addShards(const std::string &folder, const std::string &indexPath) {
  Result<ShardOfTensor> index = readIndex(indexPath);
  if (!index)
    return index.takeError();
  std::vector<std::string> shards;
  for (const auto &[tensor, shard] : *index)
    shards.push_back(shard);
  std::sort(shards.begin(), shards.end());
  shards.erase(std::unique(shards.begin(), shards.end()), shards.end());
  if (shards.size() > maxShards)
    return errorAt(indexPath, "/weight_map",
                   "found " + std::to_string(shards.size()) + " files, expected at most " +
                       std::to_string(maxShards));
  for (const std::string &shard : shards)
    if (std::string path = folder + "/" + shard; !exists(path))
      return errorAt(path, "", "found no such file, expected a shard of the model")
          .withNote(
              noteAt(indexPath, "/weight_map", "the index lists it; download all of its files"));
  for (const std::string &shard : shards)
    if (Status status = addFile(folder + "/" + shard, &*index, shard); !status)
      return status;
  std::vector<std::string> missing;
  for (const auto &[tensor, shard] : *index)
    if (!byName.count(tensor))
      missing.push_back(tensor);
  if (missing.empty())
    return {};
  const std::string &first = *std::min_element(missing.begin(), missing.end());
  const std::string &shard = index->find(first)->second;
  return errorAt(folder + "/" + shard, tensorPlace(first),
                 "found no such tensor, expected it in this file")
      .withNote(
          noteAt(indexPath, "/weight_map/" + escaped(first, 120), "the index places it there"));
}

Result<Checkpoint> Checkpoint::open(const std::string &path) {
  Checkpoint checkpoint;
  Status status;
  std::string folder = path, single = path, index;
  if (isFolder(path)) {
    single = path + "/model.safetensors";
    index = path + "/model.safetensors.index.json";
    if (!exists(single) && !exists(index))
      return errorAt(path, "",
                     std::string("found no weights") +
                         (exists(path + "/pytorch_model.bin") ? " but pytorch_model.bin" : "") +
                         ", expected model.safetensors or model.safetensors.index.json");
  } else if (endsWith(path, ".json")) {
    size_t slash = path.rfind('/');
    folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    index = path;
    single.clear();
  }
  checkpoint.source = !single.empty() && (index.empty() || exists(single)) ? single : index;
  status = checkpoint.source == index ? checkpoint.addShards(folder, index)
                                      : checkpoint.addFile(single, nullptr, single);
  if (!status)
    return status.takeError();
  return checkpoint;
}

const Checkpoint::Entry *Checkpoint::find(std::string_view name) const {
  auto found = byName.find(std::string(name));
  return found == byName.end() ? nullptr : &found->second;
}

} // namespace llmc::safetensors
