// SPDX-License-Identifier: Apache-2.0
// Floats by runs of a panel's rows, groups by blocks of one group for each row.
#include "passes/codegen/artifact/Panels.h"

#include <algorithm>
#include <cstring>

namespace llmc::artifact {
namespace {

using model::ElementType;
using model::Format;
using model::GroupFormat;
using model::GroupRows;
using model::groupSize;

constexpr uint64_t kTransposeColumns = 16; // of 4 bytes: one cache line of each row

uint64_t elementBytes(const Format &format) { return uint64_t(model::byteWidth(format.floats)); }

template <typename T, typename Convert>
void packAs(const float *rows, uint64_t numRows, uint64_t columns, uint64_t panelRows, T *out,
            Convert convert) {
  if (!panelRows) {
    std::transform(rows, rows + numRows * columns, out, convert);
    return;
  }
  for (uint64_t first = 0; first < numRows; first += panelRows, out += panelRows * columns) {
    const uint64_t used = std::min(panelRows, numRows - first);
    const float *panel = rows + first * columns;
    if (used < panelRows)
      std::fill(out, out + panelRows * columns, T(0));
    for (uint64_t begin = 0; begin < columns; begin += kTransposeColumns)
      for (uint64_t row = 0; row < used; ++row)
        for (uint64_t k = begin; k < std::min(begin + kTransposeColumns, columns); ++k)
          out[k * panelRows + row] = convert(panel[row * columns + k]);
  }
}

template <typename T, typename Convert>
void unpackAs(const T *packed, uint64_t numRows, uint64_t columns, uint64_t panelRows, float *out,
              Convert convert) {
  for (uint64_t row = 0; row < numRows; ++row)
    for (uint64_t k = 0; k < columns; ++k) {
      const uint64_t panel = panelRows ? row / panelRows * panelRows * columns : row * columns;
      const uint64_t at = panelRows ? panel + k * panelRows + row % panelRows : panel + k;
      out[row * columns + k] = convert(packed[at]);
    }
}

// Where things lie in a block of one group for each of P rows.
struct Block {
  Block(GroupFormat format, uint64_t panelRows)
      : bits(uint64_t(format.bits)), rows(panelRows), codes(panelRows * groupSize * bits / 8),
        bytes(codes + panelRows * (format.hasMinimum ? 4 : 2)) {}

  // The four bytes of columns 4 * word ... of a row.
  uint64_t word(uint64_t word, uint64_t row) const { return (word * rows + row) * 4; }
  uint64_t scale(uint64_t row) const { return codes + 2 * row; }
  uint64_t minimum(uint64_t row) const { return codes + 2 * (rows + row); }

  uint64_t bits, rows, codes, bytes;
};

void packRow(const uint8_t *codes, const Block &block, uint64_t row, uint8_t *out) {
  for (uint64_t word = 0; word < block.bits; ++word) {
    uint8_t *four = out + block.word(word, row);
    for (uint64_t i = 0; i < 4; ++i)
      four[i] = block.bits == 8 ? codes[4 * word + i]
                                : uint8_t(codes[4 * word + i] | codes[16 + 4 * word + i] << 4);
  }
}

void unpackRow(const uint8_t *packed, const Block &block, uint64_t row, uint8_t *codes) {
  for (uint64_t word = 0; word < block.bits; ++word) {
    const uint8_t *four = packed + block.word(word, row);
    for (uint64_t i = 0; i < 4; ++i) {
      codes[4 * word + i] = block.bits == 8 ? four[i] : four[i] & 15;
      if (block.bits == 4)
        codes[16 + 4 * word + i] = four[i] >> 4;
    }
  }
}

} // namespace

uint64_t packedBytes(const Format &format, uint64_t numRows, uint64_t columns,
                     uint64_t panelRows) {
  const uint64_t panel = std::max<uint64_t>(1, panelRows);
  const uint64_t panels = (numRows + panel - 1) / panel;
  if (format.groups)
    return panels * (columns / groupSize) * Block(*format.groups, panel).bytes;
  return panels * panel * columns * elementBytes(format);
}

void packFloats(const float *rows, uint64_t numRows, uint64_t columns, const Format &format,
                uint64_t panelRows, void *out) {
  if (format.floats == ElementType::F32)
    return packAs(rows, numRows, columns, panelRows, static_cast<float *>(out),
                  [](float value) { return value; });
  packAs(rows, numRows, columns, panelRows, static_cast<uint16_t *>(out),
         format.floats == ElementType::F16 ? model::toHalf : model::toBFloat16);
}

void packGroups(const GroupRows &rows, uint64_t numRows, uint64_t columns, GroupFormat format,
                uint64_t panelRows, uint8_t *out) {
  const Block block(format, panelRows);
  const uint64_t groups = columns / groupSize;
  for (uint64_t first = 0; first < numRows; first += panelRows) {
    const uint64_t used = std::min(panelRows, numRows - first);
    if (used < panelRows)
      std::memset(out, 0, groups * block.bytes);
    for (uint64_t group = 0; group < groups; ++group, out += block.bytes)
      for (uint64_t row = 0; row < used; ++row) {
        packRow(rows.codes + (first + row) * columns + group * groupSize, block, row, out);
        const uint64_t at = (first + row) * groups + group;
        std::memcpy(out + block.scale(row), rows.scales + at, 2);
        if (format.hasMinimum)
          std::memcpy(out + block.minimum(row), rows.minimums + at, 2);
      }
  }
}

void unpackFloats(const void *packed, uint64_t numRows, uint64_t columns, const Format &format,
                  uint64_t panelRows, float *out) {
  if (format.floats == ElementType::F32)
    return unpackAs(static_cast<const float *>(packed), numRows, columns, panelRows, out,
                    [](float value) { return value; });
  unpackAs(static_cast<const uint16_t *>(packed), numRows, columns, panelRows, out,
           format.floats == ElementType::F16 ? model::fromHalf : model::fromBFloat16);
}

void unpackGroups(const uint8_t *packed, uint64_t numRows, uint64_t columns, GroupFormat format,
                  uint64_t panelRows, const GroupRows &out) {
  const Block block(format, panelRows);
  const uint64_t groups = columns / groupSize;
  for (uint64_t row = 0; row < numRows; ++row)
    for (uint64_t group = 0; group < groups; ++group) {
      const uint8_t *from = packed + (row / panelRows * groups + group) * block.bytes;
      const uint64_t inPanel = row % panelRows, at = row * groups + group;
      unpackRow(from, block, inPanel, out.codes + row * columns + group * groupSize);
      std::memcpy(out.scales + at, from + block.scale(inPanel), 2);
      if (format.hasMinimum)
        std::memcpy(out.minimums + at, from + block.minimum(inPanel), 2);
    }
}

} // namespace llmc::artifact
