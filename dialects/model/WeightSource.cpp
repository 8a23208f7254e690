// SPDX-License-Identifier: Apache-2.0
// What all weight sources share: row checks, hashing, and the panel-wise default of `hash`.
#include "dialects/model/WeightSource.h"

#include <algorithm>
#include <cstring>

namespace llmc::model {

const char *name(ElementType type) {
  static constexpr const char *names[] = {"F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1"};
  return names[static_cast<size_t>(type)];
}

int64_t byteWidth(ElementType type) {
  if (groupFormat(type))
    return 0;
  return type == ElementType::F32 ? 4 : 2;
}

std::optional<GroupFormat> groupFormat(ElementType type) {
  switch (type) {
  case ElementType::Q8_0:
    return GroupFormat{8, false};
  case ElementType::Q4_0:
    return GroupFormat{4, false};
  case ElementType::Q4_1:
    return GroupFormat{4, true};
  case ElementType::F32:
  case ElementType::F16:
  case ElementType::BF16:
    return std::nullopt;
  }
  return std::nullopt;
}

int64_t TensorInfo::columns() const {
  if (shape.size() == 1)
    return shape[0];
  int64_t count = 1;
  for (size_t i = 1; i < shape.size(); ++i)
    count *= shape[i];
  return count;
}

WeightSource::~WeightSource() = default;

Status checkRows(const TensorInfo &info, int64_t firstRow, int64_t numRows) {
  if (firstRow >= 0 && numRows >= 0 && firstRow <= info.rows() && numRows <= info.rows() - firstRow)
    return {};
  return errorAt(info.place, "",
                 "found a request for " + std::to_string(numRows) + " rows from row " +
                     std::to_string(firstRow) + ", expected rows within 0 to " +
                     std::to_string(info.rows()));
}

Status WeightSource::readGroups(std::string_view name, int64_t, int64_t, GroupRows) const {
  const TensorInfo *info = find(name);
  return errorAt(info ? info->place : "", "",
                 "found tensor '" + escaped(name) + "' of type " +
                     (info ? model::name(info->elementType) : "unknown") +
                     ", expected one stored in groups of " + std::to_string(groupSize));
}

static uint64_t mixed(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

uint64_t hashBytes(const void *data, size_t size, uint64_t seed) {
  const char *bytes = static_cast<const char *>(data);
  uint64_t state = mixed(seed + 0x9E3779B97F4A7C15u);
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + i, std::min<size_t>(8, size - i));
    state = mixed(state + word) + 0x9E3779B97F4A7C15u;
  }
  return mixed(state ^ size);
}

Result<uint64_t> WeightSource::hash(std::string_view name) const {
  const TensorInfo *info = find(name);
  if (!info)
    return errorAt("", "",
                   "found no tensor '" + escaped(name) +
                       "' to hash, expected one of the model's weights");
  int64_t columns = std::max<int64_t>(1, info->columns());
  int64_t panel =
      std::clamp<int64_t>((int64_t(1) << 18) / columns, 1, std::max<int64_t>(1, info->rows()));
  std::vector<float> values(static_cast<size_t>(panel * columns));
  uint64_t state = 0;
  for (int64_t row = 0; row < info->rows(); row += panel) {
    int64_t count = std::min(panel, info->rows() - row);
    if (Status status = readRows(name, row, count, values.data()); !status)
      return status.takeError();
    state = hashBytes(values.data(), static_cast<size_t>(count * columns) * sizeof(float), state);
  }
  return state;
}

} // namespace llmc::model
