// SPDX-License-Identifier: Apache-2.0
// Some rows of one weight, read from whatever it is stacked from or computed by, and packed. Any
// block can be made alone.
#pragma once

#include "dialects/model/WeightSource.h"
#include "passes/codegen/artifact/Tables.h"

namespace llmc::artifact {

// What one source gives to a block.
struct BlockPart {
  BlockPart(const std::string &source, uint64_t element, uint64_t count, bool isLast)
      : source(&source), element(element), count(count), isLast(isLast) {}
  const std::string *source; // canonical name
  uint64_t element;          // where it begins in the block
  uint64_t count;            // elements
  bool isLast;               // with it the source is complete
  bool hasLoss = false;
  model::RoundingLoss loss;
};

// One block at a time; reads and packs into memory that is used again.
class PackBlock {
public:
  // Rows [row, row + numRows) of the weight.
  Status make(const PackedWeight &weight, const model::WeightSource &source, uint64_t row,
              uint64_t numRows);

  const std::vector<uint8_t> &packed() const { return bytes; }
  const std::vector<BlockPart> &parts() const { return fromSources; }
  // Of a part, where the weight has no groups.
  const float *valuesOf(const BlockPart &part) const { return values.data() + part.element; }
  // Of a part, where it has; no minimums where the format has none.
  model::GroupRows groupsOf(const BlockPart &part) { return groupsFrom(part.element); }

private:
  void resize(const PackedWeight &weight, uint64_t numRows);
  Status readRows(const PackedWeight &weight, const model::WeightSource &source, uint64_t row,
                  uint64_t numRows);
  Status readPart(const PackedWeight &weight, const model::WeightSource &source, uint64_t row,
                  uint64_t numRows, BlockPart part);
  Status readVectors(const PackedWeight &weight, const model::WeightSource &source);
  model::GroupRows groupsFrom(uint64_t element);

  std::vector<float> values;
  std::vector<uint8_t> codes;
  std::vector<uint16_t> scales, minimums;
  std::vector<BlockPart> fromSources;
  std::vector<uint8_t> bytes;
};

// Vectors joined into one longer vector: each source is one row and their columns add up.
bool joinsVectors(const PackedWeight &weight);

// Whether a tensor is packed in another format than it is stored in, and f32 does not hold it all.
bool losesIn(const PackedWeight &weight, const model::TensorInfo *stored);

} // namespace llmc::artifact
