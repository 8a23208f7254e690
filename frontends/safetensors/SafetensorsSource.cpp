// SPDX-License-Identifier: Apache-2.0
// Binds canonical weights to stored tensors, and reads them in pieces of bounded size.
#include "frontends/safetensors/SafetensorsSource.h"

#include "frontends/safetensors/Convert.h"

#include <algorithm>
#include <memory>
#include <unordered_set>

namespace llmc::safetensors {

using model::ElementType;
using model::TensorInfo;

namespace {

constexpr size_t pieceBytes = 1 << 18;

// Tensors that old checkpoints carry and that every model recomputes from its config.
constexpr std::string_view harmlessSuffixes[] = {
    "rotary_emb.inv_freq",
    "rotary_emb.cos_cached",
    "rotary_emb.sin_cached",
};

bool isHarmless(std::string_view name) {
  return std::any_of(
      std::begin(harmlessSuffixes), std::end(harmlessSuffixes), [&](std::string_view suffix) {
        return name.size() >= suffix.size() && name.substr(name.size() - suffix.size()) == suffix;
      });
}

std::optional<ElementType> elementTypeOf(std::string_view type) {
  for (ElementType known : {ElementType::F32, ElementType::F16, ElementType::BF16})
    if (type == model::name(known))
      return known;
  return std::nullopt;
}

class Source : public model::WeightSource {
public:
  explicit Source(Checkpoint checkpoint) : checkpoint(std::move(checkpoint)) {}

  const TensorInfo *find(std::string_view name) const override {
    auto found = weights.find(std::string(name));
    return found == weights.end() ? nullptr : &found->second.info;
  }
  Status readRows(std::string_view name, int64_t firstRow, int64_t numRows,
                  float *out) const override;
  Result<uint64_t> hash(std::string_view name) const override;

  Status bind(const model::WeightSpec &spec, const std::string &storedName);
  Status checkAllRead(const std::vector<std::string> &ignoredNames) const;

private:
  struct Weight {
    TensorInfo info;
    const Checkpoint::Entry *entry; // of `checkpoint`; a map's elements stay where they are
  };
  Error unknown(std::string_view name) const {
    return errorAt(checkpoint.path(), "",
                   "found no tensor '" + escaped(name) + "', expected one of the model's weights");
  }

  Checkpoint checkpoint;
  std::unordered_map<std::string, Weight> weights;
  std::unordered_set<std::string> readNames;
};

Status Source::bind(const model::WeightSpec &spec, const std::string &storedName) {
  const Checkpoint::Entry *entry = checkpoint.find(storedName);
  if (!entry)
    return errorAt(checkpoint.path(), tensorPlace(storedName),
                   "found no such tensor, expected one of shape " + shapeText(spec.shape));
  const StoredTensor &stored = entry->tensor;
  std::optional<ElementType> type = elementTypeOf(stored.type);
  if (!type)
    return errorAt(entry->file->path, tensorPlace(storedName),
                   "found element type " + stored.type + ", expected F32, F16 or BF16");
  if (stored.shape != spec.shape)
    return errorAt(entry->file->path, tensorPlace(storedName),
                   "found shape " + shapeText(stored.shape) + ", expected " +
                       shapeText(spec.shape) + " from the model's config");
  TensorInfo info{spec.name, spec.shape, *type,
                  escaped(entry->file->path, 4096) + ": " + tensorPlace(storedName)};
  weights.emplace(spec.name, Weight{std::move(info), entry});
  readNames.insert(storedName);
  return {};
}

Status Source::checkAllRead(const std::vector<std::string> &ignoredNames) const {
  const Checkpoint::Entry *extra = nullptr;
  for (const auto &[name, entry] : checkpoint.entries()) {
    bool accounted =
        readNames.count(name) || isHarmless(name) ||
        std::find(ignoredNames.begin(), ignoredNames.end(), name) != ignoredNames.end();
    // The first by name, so that the message does not depend on the order of a hash table.
    if (!accounted && (!extra || name < extra->tensor.name))
      extra = &entry;
  }
  if (!extra)
    return {};
  return errorAt(extra->file->path, tensorPlace(extra->tensor.name),
                 "found a tensor of shape " + shapeText(extra->tensor.shape) +
                     " that the model's config does not use, expected only the config's weights");
}

Status Source::readRows(std::string_view name, int64_t firstRow, int64_t numRows,
                        float *out) const {
  auto found = weights.find(std::string(name));
  if (found == weights.end())
    return unknown(name);
  const Weight &weight = found->second;
  if (Status status = model::checkRows(weight.info, firstRow, numRows); !status)
    return status;
  uint64_t width = static_cast<uint64_t>(model::byteWidth(weight.info.elementType));
  uint64_t offset =
      weight.entry->tensor.begin + static_cast<uint64_t>(firstRow * weight.info.columns()) * width;
  uint64_t count = static_cast<uint64_t>(numRows * weight.info.columns());
  if (weight.info.elementType == ElementType::F32)
    return weight.entry->file->read(offset, out, count * width);
  std::unique_ptr<unsigned char[]> piece(
      new unsigned char[std::min<uint64_t>(count * width, pieceBytes)]);
  for (uint64_t done = 0; done < count;) {
    uint64_t part = std::min<uint64_t>(count - done, pieceBytes / width);
    if (Status status = weight.entry->file->read(offset + done * width, piece.get(), part * width);
        !status)
      return status;
    convertToF32(piece.get(), weight.info.elementType, part, out + done);
    done += part;
  }
  return {};
}

Result<uint64_t> Source::hash(std::string_view name) const {
  auto found = weights.find(std::string(name));
  if (found == weights.end())
    return unknown(name);
  const Checkpoint::Entry &entry = *found->second.entry;
  std::vector<unsigned char> piece(
      std::min<uint64_t>(entry.tensor.end - entry.tensor.begin, pieceBytes));
  uint64_t state = 0;
  for (uint64_t offset = entry.tensor.begin; offset < entry.tensor.end; offset += pieceBytes) {
    uint64_t part = std::min<uint64_t>(entry.tensor.end - offset, pieceBytes);
    if (Status status = entry.file->read(offset, piece.data(), part); !status)
      return status.takeError();
    state = model::hashBytes(piece.data(), part, state);
  }
  return state;
}

} // namespace

Result<std::unique_ptr<model::WeightSource>>
bindWeights(Checkpoint checkpoint, const model::ModelConfig &config, const BindOptions &options) {
  auto source = std::make_unique<Source>(std::move(checkpoint));
  for (const model::WeightSpec &spec : model::canonicalWeights(config))
    if (Status status = source->bind(spec, options.nameOf ? options.nameOf(spec.name) : spec.name);
        !status)
      return status.takeError();
  if (Status status = source->checkAllRead(options.ignoredNames); !status)
    return status.takeError();
  return std::unique_ptr<model::WeightSource>(std::move(source));
}

} // namespace llmc::safetensors
