// SPDX-License-Identifier: Apache-2.0
//
// A value of the reference: lines of equal width, one line for each row, output or sequence of the
// step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace llmc::reference {

struct Tensor {
  int64_t lines = 0;
  int64_t width = 0;
  std::vector<float> values;     ///< [lines, width]
  std::vector<int32_t> integers; ///< [lines, width] of an i32 tensor, whose `values` are empty

  Tensor() = default;
  Tensor(int64_t lines, int64_t width)
      : lines(lines), width(width), values(size_t(lines * width)) {}
  Tensor(int64_t lines, int64_t width, std::vector<float> values)
      : lines(lines), width(width), values(std::move(values)) {}

  float *line(int64_t index) { return values.data() + index * width; }
  const float *line(int64_t index) const { return values.data() + index * width; }
};

} // namespace llmc::reference
