// SPDX-License-Identifier: Apache-2.0
// A block crosses the borders between stacked sources.
#include "passes/codegen/artifact/PackBlock.h"
#include "passes/codegen/artifact/Pack.h"
#include "passes/codegen/artifact/Panels.h"

#include <algorithm>

namespace llmc::artifact {

bool joinsVectors(const PackedWeight &weight) {
  return weight.rows == 1 && weight.sources.size() > 1;
}

bool losesIn(const PackedWeight &weight, const model::TensorInfo *stored) {
  return stored && !(weight.format == model::Format()) &&
         !(model::formatOf(stored->elementType) == weight.format);
}

Status PackBlock::make(const PackedWeight &weight, const model::WeightSource &source, uint64_t row,
                       uint64_t numRows) {
  fromSources.clear();
  resize(weight, numRows);
  if (Status status = readRows(weight, source, row, numRows); !status)
    return status;
  bytes.resize(packedBytes(weight.format, numRows, weight.columns, weight.panelRows));
  if (weight.format.groups)
    packGroups(groupsFrom(0), numRows, weight.columns, *weight.format.groups, weight.panelRows,
               bytes.data());
  else
    packFloats(values.data(), numRows, weight.columns, weight.format, weight.panelRows,
               bytes.data());
  return {};
}

void PackBlock::resize(const PackedWeight &weight, uint64_t numRows) {
  const uint64_t count = numRows * weight.columns;
  if (!weight.format.groups)
    return values.resize(count);
  codes.resize(count);
  scales.resize(count / model::groupSize);
  minimums.resize(weight.format.groups->hasMinimum ? scales.size() : 0);
}

model::GroupRows PackBlock::groupsFrom(uint64_t element) {
  const uint64_t group = element / model::groupSize;
  return {codes.data() + element, scales.data() + group,
          minimums.empty() ? nullptr : minimums.data() + group};
}

Status PackBlock::readRows(const PackedWeight &weight, const model::WeightSource &source,
                           uint64_t row, uint64_t numRows) {
  if (weight.computed) {
    for (uint64_t i = 0; i < numRows; ++i)
      ropeRow(*weight.computed, row + i, values.data() + i * weight.columns);
    return {};
  }
  if (joinsVectors(weight))
    return readVectors(weight, source);
  uint64_t first = 0; // row of the weight where the source begins
  for (const std::string &name : weight.sources) {
    const uint64_t end = first + uint64_t(source.find(name)->rows());
    const uint64_t from = std::max(first, row), to = std::min(end, row + numRows);
    if (from < to) {
      BlockPart part(name, (from - row) * weight.columns, (to - from) * weight.columns, to == end);
      if (Status status = readPart(weight, source, from - first, to - from, part); !status)
        return status;
    }
    first = end;
  }
  return {};
}

// Rows [row, row + numRows) of a source.
Status PackBlock::readPart(const PackedWeight &weight, const model::WeightSource &source,
                           uint64_t row, uint64_t numRows, BlockPart part) {
  const std::string &name = *part.source;
  part.hasLoss = losesIn(weight, source.find(name));
  model::RoundingLoss *loss = part.hasLoss ? &part.loss : nullptr;
  Status status =
      weight.format.groups
          ? model::readGroupsAs(source, name, *weight.format.groups, int64_t(row),
                                int64_t(numRows), groupsFrom(part.element), loss)
          : model::readRowsAs(source, name, weight.format, int64_t(row), int64_t(numRows),
                              values.data() + part.element, loss);
  fromSources.push_back(part);
  return status;
}

Status PackBlock::readVectors(const PackedWeight &weight, const model::WeightSource &source) {
  uint64_t element = 0;
  for (const std::string &name : weight.sources) {
    const uint64_t columns = uint64_t(source.find(name)->columns());
    fromSources.emplace_back(name, element, columns, true);
    if (Status status = source.readRows(name, 0, 1, values.data() + element); !status)
      return status;
    element += columns;
  }
  return {};
}

} // namespace llmc::artifact
