// SPDX-License-Identifier: Apache-2.0
// The header of one safetensors file: eight bytes of length, then JSON that gives each tensor's
// type, shape and bytes. Everything in it is checked here, so that later reads need no checks:
// offsets lie inside the file, fit the shape, do not overlap and leave no hole.
#pragma once

#include "dialects/model/Error.h"

#include <cstdint>

namespace llmc::safetensors {

struct StoredTensor {
  std::string name;
  std::string type;           // as the file spells it: "F32", "BF16", "I64", ...
  std::vector<int64_t> shape; // no negative sizes
  uint64_t begin = 0;         // from the start of the file
  uint64_t end = 0;
};

// The format allows 100 MB; 200,000 tensors with long names need a quarter of that.
inline constexpr uint64_t maxHeaderBytes = uint64_t(32) << 20;

// Tensors in the order of their bytes. `file` is named in errors; `fileSize` bounds everything.
// `json` is the header without its length.
Result<std::vector<StoredTensor>> parseHeader(std::string_view json, std::string_view file,
                                              uint64_t fileSize);

// A tensor's name in messages.
std::string tensorPlace(std::string_view name);
std::string shapeText(const std::vector<int64_t> &shape); // "[2, 3]"

} // namespace llmc::safetensors
