// SPDX-License-Identifier: Apache-2.0
// How GGUF numbers the types of tensors, and how many bytes a block of each takes. All known types
// are here, so that sizes and overlaps can be checked and messages can name them; llmc reads those
// that have an ElementType.
#pragma once

#include "dialects/model/WeightSource.h"

namespace llmc::gguf {

struct BlockType {
  uint32_t id;
  const char *name;
  uint32_t values; // of a block; 1 for types that are not stored in blocks
  uint32_t bytes;  // of a block
  std::optional<model::ElementType> element = std::nullopt;
};

// Null for a number that no version of the format has given out.
const BlockType *findBlockType(uint32_t id);

// For messages: "F32, F16, ... or Q4_1"; with `blocks` false only types that are not in blocks.
std::string readableTypes(bool blocks);

} // namespace llmc::gguf
