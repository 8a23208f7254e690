// SPDX-License-Identifier: Apache-2.0
// Weights in another format than the one they are stored in: rounding of floats, and groups of
// integer codes. One place for the compiler's packer and the reference, so that both round alike.
#pragma once

#include "dialects/model/Halves.h"
#include "dialects/model/WeightSource.h"

namespace llmc::model {

// What a weight's values are kept as.
struct Format {
  ElementType floats = ElementType::F32; // F32, F16 or BF16; where there are no groups
  std::optional<GroupFormat> groups;
  bool operator==(const Format &other) const {
    return groups == other.groups && (groups || floats == other.floats);
  }
};
Format formatOf(ElementType stored);
// "f32", "f16", "bf16", "int8", "int4", "int8+minimum", "int4+minimum"
std::string name(const Format &format);

// One row of `columns` values, a multiple of groupSize, as codes. `out` is of one row. Symmetric
// formats take for each group, of a few scales, the one with the least squared error.
void quantizeRow(const float *values, int64_t columns, GroupFormat format, GroupRows out);
// The values that codes stand for.
void dequantizeRow(GroupRows row, int64_t columns, GroupFormat format, float *out);

// Squared error of values in a new format, and their squares.
struct RoundingLoss {
  double squaredError = 0;
  double squares = 0;
  double relative() const; // root of the quotient; 0 where all values are 0
};

// Rows [firstRow, firstRow + numRows) of a tensor as groups: as stored where the source has this
// very format, else quantised from its values, which adds to `loss` (may be null). NaN and infinite
// values are an error.
Status readGroupsAs(const WeightSource &source, std::string_view name, GroupFormat format,
                    int64_t firstRow, int64_t numRows, GroupRows out, RoundingLoss *loss = nullptr);
// The values of these rows once they are kept as `format`.
Status readRowsAs(const WeightSource &source, std::string_view name, const Format &format,
                  int64_t firstRow, int64_t numRows, float *out, RoundingLoss *loss = nullptr);

} // namespace llmc::model
