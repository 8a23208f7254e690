// SPDX-License-Identifier: Apache-2.0
// Binds canonical weights to tensors of the file, and reads them in pieces of bounded size.
#include "dialects/model/Quantize.h"
#include "frontends/gguf/GGUFSource.h"

#include "frontends/gguf/Config.h"
#include "frontends/gguf/Groups.h"
#include "frontends/safetensors/Convert.h"
#include "frontends/safetensors/Header.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_set>

namespace llmc::gguf {

using model::ElementType;
using model::GroupFormat;
using model::GroupRows;
using model::groupSize;
using model::TensorInfo;
using safetensors::shapeText;
using safetensors::tensorPlace;

namespace {

constexpr uint64_t pieceBytes = 1 << 18;

struct Weight {
  TensorInfo info;
  StoredTensor stored;
  // Not 0: of q and k whose rotated pairs lie side by side; rows (of biases: values) are moved
  // within heads of this many.
  int64_t headDim = 0;

  bool isVector() const { return info.shape.size() == 1; }
  // Where `row` of the canonical order lies: pair i is (i, i + headDim/2) here, (2i, 2i + 1) there.
  int64_t storedRow(int64_t row) const {
    if (headDim == 0)
      return row;
    int64_t inHead = row % headDim, half = headDim / 2;
    int64_t moved = inHead < half ? 2 * inHead : 2 * (inHead - half) + 1;
    return row - inHead + moved;
  }
};

GroupRows groupsFrom(GroupRows rows, uint64_t group) {
  return {rows.codes + group * groupSize, rows.scales + group,
          rows.minimums ? rows.minimums + group : nullptr};
}

class Source : public model::WeightSource {
public:
  explicit Source(std::shared_ptr<File> file) : file(std::move(file)) {}

  const TensorInfo *find(std::string_view name) const override {
    auto found = weights.find(std::string(name));
    return found == weights.end() ? nullptr : &found->second.info;
  }
  Status readRows(std::string_view name, int64_t firstRow, int64_t numRows,
                  float *out) const override;
  Status readGroups(std::string_view name, int64_t firstRow, int64_t numRows,
                    GroupRows out) const override;
  Result<uint64_t> hash(std::string_view name) const override;

  Status bind(const Container &container, const model::WeightSpec &spec, int64_t headDim);

private:
  Result<const Weight *> weightOf(std::string_view name, int64_t firstRow, int64_t numRows) const;
  // Calls `take(bytes, blocks done, blocks)` for pieces of the stored rows, front to back.
  template <typename Take>
  Status readBlocks(const Weight &weight, int64_t storedRow, int64_t numRows, Take take) const;
  Status readStoredGroups(const Weight &weight, int64_t storedRow, int64_t numRows,
                          GroupRows out) const;
  Status readStoredRows(const Weight &weight, int64_t storedRow, int64_t numRows, float *out) const;

  std::shared_ptr<File> file;
  std::unordered_map<std::string, Weight> weights;
};

Status Source::bind(const Container &container, const model::WeightSpec &spec, int64_t headDim) {
  std::string name = storedName(spec.name);
  const StoredTensor *stored = container.findTensor(name);
  if (!stored)
    return container.errorAtTensor(name, "found no such tensor, expected one of shape " +
                                             shapeText(spec.shape));
  bool vector = spec.shape.size() == 1;
  if (!stored->type->element || (vector && stored->type->values > 1))
    return container.errorAtTensor(name, "found type " + std::string(stored->type->name) +
                                             ", expected " + readableTypes(!vector));
  if (stored->shape != spec.shape)
    return container.errorAtTensor(name, "found shape " + shapeText(stored->shape) + ", expected " +
                                             shapeText(spec.shape) + " from the file's keys");
  TensorInfo info{spec.name, spec.shape, *stored->type->element,
                  escaped(file->path, 4096) + ": " + tensorPlace(name)};
  weights.emplace(spec.name, Weight{std::move(info), *stored, headDim});
  return {};
}

Result<const Weight *> Source::weightOf(std::string_view name, int64_t firstRow,
                                        int64_t numRows) const {
  auto found = weights.find(std::string(name));
  if (found == weights.end())
    return errorAt(file->path, "",
                   "found no tensor '" + escaped(name) + "', expected one of the model's weights");
  if (Status status = model::checkRows(found->second.info, firstRow, numRows); !status)
    return status.takeError();
  return &found->second;
}

template <typename Take>
Status Source::readBlocks(const Weight &weight, int64_t storedRow, int64_t numRows,
                          Take take) const {
  const BlockType &type = *weight.stored.type;
  uint64_t blocksOfRow = static_cast<uint64_t>(weight.info.columns()) / type.values;
  uint64_t count = static_cast<uint64_t>(numRows) * blocksOfRow;
  uint64_t offset =
      weight.stored.begin + static_cast<uint64_t>(storedRow) * blocksOfRow * type.bytes;
  std::unique_ptr<unsigned char[]> piece(
      new unsigned char[std::min(count, pieceBytes / type.bytes) * type.bytes]);
  for (uint64_t done = 0; done < count;) {
    uint64_t part = std::min(count - done, pieceBytes / type.bytes);
    if (Status status = file->read(offset + done * type.bytes, piece.get(), part * type.bytes);
        !status)
      return status;
    if (Status status = take(piece.get(), done, part); !status)
      return status;
    done += part;
  }
  return {};
}

// Groups of the stored rows, front to back.
Status Source::readStoredGroups(const Weight &weight, int64_t storedRow, int64_t numRows,
                                GroupRows out) const {
  const ElementType type = weight.info.elementType;
  uint64_t groupsOfRow = static_cast<uint64_t>(weight.info.columns() / groupSize);
  return readBlocks(
      weight, storedRow, numRows,
      [&](const unsigned char *bytes, uint64_t done, uint64_t count) -> Status {
        uint64_t bad = unpackBlocks(type, bytes, count, groupsFrom(out, done));
        if (bad == count)
          return {};
        return errorAt(file->path,
                       tensorPlace(weight.stored.name) + ": row " +
                           std::to_string(static_cast<uint64_t>(storedRow) +
                                          (done + bad) / groupsOfRow) +
                           ", group " + std::to_string((done + bad) % groupsOfRow),
                       "found a scale or minimum that is infinite or not a number, expected "
                       "finite ones");
      });
}

Status Source::readStoredRows(const Weight &weight, int64_t storedRow, int64_t numRows,
                              float *out) const {
  std::optional<GroupFormat> format = model::groupFormat(weight.info.elementType);
  if (!format)
    return readBlocks(weight, storedRow, numRows,
                      [&](const unsigned char *bytes, uint64_t done, uint64_t count) -> Status {
                        safetensors::convertToF32(bytes, weight.info.elementType, count,
                                                  out + done);
                        return {};
                      });
  const int64_t columns = weight.info.columns();
  const int64_t pieceRows =
      std::min(numRows, std::max<int64_t>(1, static_cast<int64_t>(pieceBytes) / columns));
  std::vector<uint8_t> codes(static_cast<size_t>(pieceRows * columns));
  std::vector<uint16_t> scales(codes.size() / groupSize), minimums(scales.size());
  GroupRows groups = {codes.data(), scales.data(), format->hasMinimum ? minimums.data() : nullptr};
  for (int64_t done = 0; done < numRows; done += pieceRows) {
    const int64_t rows = std::min(pieceRows, numRows - done);
    if (Status status = readStoredGroups(weight, storedRow + done, rows, groups); !status)
      return status;
    model::dequantizeRow(groups, rows * columns, *format, out + done * columns);
  }
  return {};
}

Status Source::readRows(std::string_view name, int64_t firstRow, int64_t numRows,
                        float *out) const {
  Result<const Weight *> found = weightOf(name, firstRow, numRows);
  if (!found)
    return found.takeError();
  const Weight &weight = **found;
  if (weight.headDim == 0)
    return readStoredRows(weight, firstRow, numRows, out);
  if (weight.isVector()) {
    std::vector<float> stored(static_cast<size_t>(numRows * weight.info.columns()));
    Status status = readStoredRows(weight, firstRow, numRows, stored.data());
    for (size_t i = 0; status && i < stored.size(); ++i)
      out[i] = stored[static_cast<size_t>(weight.storedRow(static_cast<int64_t>(i)))];
    return status;
  }
  for (int64_t row = 0; row < numRows; ++row)
    if (Status status = readStoredRows(weight, weight.storedRow(firstRow + row), 1,
                                       out + row * weight.info.columns());
        !status)
      return status;
  return {};
}

Status Source::readGroups(std::string_view name, int64_t firstRow, int64_t numRows,
                          GroupRows out) const {
  Result<const Weight *> found = weightOf(name, firstRow, numRows);
  if (!found)
    return found.takeError();
  const Weight &weight = **found;
  if (!model::groupFormat(weight.info.elementType))
    return WeightSource::readGroups(name, firstRow, numRows, out);
  if (weight.headDim == 0)
    return readStoredGroups(weight, firstRow, numRows, out);
  uint64_t groupsOfRow = static_cast<uint64_t>(weight.info.columns() / groupSize);
  for (int64_t row = 0; row < numRows; ++row)
    if (Status status = readStoredGroups(weight, weight.storedRow(firstRow + row), 1,
                                         groupsFrom(out, static_cast<uint64_t>(row) * groupsOfRow));
        !status)
      return status;
  return {};
}

Result<uint64_t> Source::hash(std::string_view name) const {
  Result<const Weight *> found = weightOf(name, 0, 0);
  if (!found)
    return found.takeError();
  uint64_t state = 0;
  Status status =
      readBlocks(**found, 0, (*found)->info.rows(),
                 [&](const unsigned char *bytes, uint64_t, uint64_t count) -> Status {
                   state = model::hashBytes(bytes, count * (*found)->stored.type->bytes, state);
                   return {};
                 });
  if (!status)
    return status.takeError();
  return state;
}

// Q and k, weights and biases, of "layers.N.".
bool isRotated(std::string_view canonical) {
  std::string_view last = canonical.substr(canonical.rfind('.') + 1);
  return last == "q" || last == "k" || last == "q_bias" || last == "k_bias";
}

size_t layerOf(std::string_view canonical) {
  return std::strtoul(std::string(canonical.substr(std::strlen("layers."))).c_str(), nullptr, 10);
}

} // namespace

Result<std::unique_ptr<model::WeightSource>> bindWeights(const Container &container,
                                                         const model::ModelConfig &config,
                                                         const BindOptions &options) {
  auto source = std::make_unique<Source>(container.handle());
  std::unordered_set<std::string> read;
  if (!config.rope.frequencyDivisors.empty())
    read.insert(ropeDivisorsName);
  for (const model::WeightSpec &spec : model::canonicalWeights(config)) {
    bool moved = options.rotatedPairsAdjacent && isRotated(spec.name);
    int64_t headDim = moved ? config.layers[layerOf(spec.name)].headDim : 0;
    if (Status status = source->bind(container, spec, headDim); !status)
      return status.takeError();
    read.insert(storedName(spec.name));
  }
  for (const StoredTensor &tensor : container.tensors())
    if (!read.count(tensor.name))
      return container.errorAtTensor(tensor.name,
                                     "found a tensor of shape " + shapeText(tensor.shape) +
                                         " that nothing reads, expected only the weights that the "
                                         "file's keys ask for");
  return std::unique_ptr<model::WeightSource>(std::move(source));
}

} // namespace llmc::gguf
