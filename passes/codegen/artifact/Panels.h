// SPDX-License-Identifier: Apache-2.0
// How packed elements lie in memory (llm.layout in LLMBase.td), on arrays alone.
#pragma once

#include "dialects/model/Quantize.h"

namespace llmc::artifact {

// Bytes of numRows rows when packed, panels filled up; panelRows 0: row-major. Groups are always in
// panels.
uint64_t packedBytes(const model::Format &format, uint64_t numRows, uint64_t columns,
                     uint64_t panelRows);

// numRows rows of f32 that are exact in `format`, a float format, to panels or row-major. The last
// panel is filled with zeros.
void packFloats(const float *rows, uint64_t numRows, uint64_t columns, const model::Format &format,
                uint64_t panelRows, void *out);

// The same of rows in groups, to panels of blocks.
void packGroups(const model::GroupRows &rows, uint64_t numRows, uint64_t columns,
                model::GroupFormat format, uint64_t panelRows, uint8_t *out);

// The way back.
void unpackFloats(const void *packed, uint64_t numRows, uint64_t columns,
                  const model::Format &format, uint64_t panelRows, float *out);
void unpackGroups(const uint8_t *packed, uint64_t numRows, uint64_t columns,
                  model::GroupFormat format, uint64_t panelRows, const model::GroupRows &out);

} // namespace llmc::artifact
