// SPDX-License-Identifier: Apache-2.0
// All safetensors of a model: one file, or the shards that an index lists. Opening reads headers
// only; values are read with pread when asked for.
#pragma once

#include "frontends/safetensors/File.h"
#include "frontends/safetensors/Header.h"

#include <unordered_map>

namespace llmc::safetensors {

class Checkpoint {
public:
  struct Entry {
    StoredTensor tensor;
    std::shared_ptr<File> file;
  };

  // `path` is a .safetensors file, an index (.json), or a folder that holds model.safetensors or
  // model.safetensors.index.json (in this order, as transformers does).
  static Result<Checkpoint> open(const std::string &path);

  const Entry *find(std::string_view name) const;
  const std::unordered_map<std::string, Entry> &entries() const { return byName; }
  const std::string &path() const { return source; }

private:
  Status addFile(const std::string &path,
                 const std::unordered_map<std::string, std::string> *shardOfTensor,
                 const std::string &shard);
  Status addShards(const std::string &folder, const std::string &indexPath);

  std::string source; // the single file or the index, for errors about the whole
  std::unordered_map<std::string, Entry> byName;
};

} // namespace llmc::safetensors
