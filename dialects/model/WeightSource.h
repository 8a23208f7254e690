// SPDX-License-Identifier: Apache-2.0
// Where a model's weights come from, under the canonical names of `canonicalWeights`. Values are
// handed out as f32 in panels of rows, so a reader needs memory for a panel only, whatever the
// model's size. All methods are const and may be called from several threads at once.
#pragma once

#include "dialects/model/Error.h"
#include "dialects/model/ModelConfig.h"

#include <memory>
#include <unordered_map>

namespace llmc::model {

enum class ElementType { F32, F16, BF16 };
const char *name(ElementType type);  // "F32", "F16", "BF16"
int64_t byteWidth(ElementType type); // 4, 2, 2

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
