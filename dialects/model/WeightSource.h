// SPDX-License-Identifier: Apache-2.0
// Where a model's weights come from, under the canonical names of `canonicalWeights`. Values are
// handed out as f32 in panels of rows, so a reader needs memory for a panel only, whatever the
// model's size. All methods are const and may be called from several threads at once.
#pragma once

#include "dialects/model/Error.h"
#include "dialects/model/ModelConfig.h"

#include <memory>
#include <optional>
#include <unordered_map>

namespace llmc::model {

// How a tensor's values are stored. The last three are blocks of `groupSize` values along a row, as
// the GGUF specification names them.
enum class ElementType { F32, F16, BF16, Q8_0, Q4_0, Q4_1 };
const char *name(ElementType type); // "F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1"
// Bytes of one value; 0 for a type stored in blocks.
int64_t byteWidth(ElementType type);

inline constexpr int64_t groupSize = 32;

// Integer codes with one scale, and perhaps one minimum, for each group of `groupSize` values along
// a row: value = scale * (code - bias) + minimum.
struct GroupFormat {
  int bits = 8;            // 8 or 4
  bool hasMinimum = false; // then the bias is 0
  int bias() const { return hasMinimum ? 0 : 1 << (bits - 1); } // 128, 8 or 0
  bool operator==(const GroupFormat &other) const {
    return bits == other.bits && hasMinimum == other.hasMinimum;
  }
};
// The format that holds a type's blocks without loss: Q8_0, Q4_0 (no minimum), Q4_1 (with one); none
// for float types.
std::optional<GroupFormat> groupFormat(ElementType type);

// Where the groups of some rows go; the caller's memory. Scales and minimums are the bits of IEEE
// halves.
struct GroupRows {
  uint8_t *codes = nullptr;     // [rows, columns], unsigned, also for 4 bits one to a byte
  uint16_t *scales = nullptr;   // [rows, columns / groupSize]
  uint16_t *minimums = nullptr; // [rows, columns / groupSize]; null where the format has none
};

struct TensorInfo {
  std::string name; // canonical
  std::vector<int64_t> shape;
  ElementType elementType = ElementType::F32; // as stored
  std::string place;                          // `FILE: PLACE` for errors

  // A tensor of one dimension is one row; others are shape[0] rows.
  int64_t rows() const { return shape.size() < 2 ? 1 : shape[0]; }
  int64_t columns() const;
};

class WeightSource {
public:
  virtual ~WeightSource();

  // Borrowed until the source is destroyed; null when there is no such tensor.
  virtual const TensorInfo *find(std::string_view name) const = 0;
  // Writes numRows * columns() values to `out`, row after row. Rows out of range are an error.
  virtual Status readRows(std::string_view name, int64_t firstRow, int64_t numRows,
                          float *out) const = 0;
  // The same rows as stored, for a tensor whose type has a groupFormat; an error for others.
  virtual Status readGroups(std::string_view name, int64_t firstRow, int64_t numRows,
                            GroupRows out) const;
  // Identifies the stored values (for the manifest; not cryptographic). Of the values as f32 unless
  // a source has stored bytes to hash.
  virtual Result<uint64_t> hash(std::string_view name) const;
};

// Weights drawn by a counter-based generator from (seed, tensor name, index), so each can be made
// alone, in any order and any panel, and is the same bits on every machine. Norm weights lie around
// 1, biases and q/k norms stay small enough, and linears are scaled by 1/sqrt(in), so that logits
// have a standard deviation of 1 to 3.
class RandomWeightSource : public WeightSource {
public:
  RandomWeightSource(const ModelConfig &config, uint64_t seed);

  const TensorInfo *find(std::string_view name) const override;
  Status readRows(std::string_view name, int64_t firstRow, int64_t numRows,
                  float *out) const override;

private:
  uint64_t seed;
  std::unordered_map<std::string, TensorInfo> tensors;
};

// Fails when rows [firstRow, firstRow + numRows) are not all rows of the tensor.
Status checkRows(const TensorInfo &info, int64_t firstRow, int64_t numRows);

// 64-bit hash of bytes, chainable through `seed`; no cryptographic strength.
uint64_t hashBytes(const void *data, size_t size, uint64_t seed = 0);

} // namespace llmc::model
