// SPDX-License-Identifier: Apache-2.0
// Floats by runs of a panel's rows, groups by blocks of one group for each row.
#include "passes/codegen/artifact/Panels.h"
#include "passes/codegen/artifact/Transpose.h"

#include <algorithm>
#include <cstring>

namespace llmc::artifact {
namespace {

using model::ElementType;
using model::Format;
using model::GroupFormat;
using model::GroupRows;
using model::groupSize;

// What is converted before it is transposed.
constexpr uint64_t kTileRows = 8;
constexpr uint64_t kTileColumns = 128;

uint64_t elementBytes(const Format &format) { return uint64_t(model::byteWidth(format.floats)); }

// Rows of f32 to a panel of 16-bit floats.
void packHalves(const float *rows, uint64_t numRows, uint64_t columns, ElementType type,
                uint64_t panelRows, uint8_t *out) {
  auto *convert = type == ElementType::F16 ? model::toHalves : model::toBFloat16s;
  if (panelRows == 1)
    return convert(rows, columns, out);
  uint16_t tile[kTileRows * kTileColumns];
  for (uint64_t k = 0; k < columns; k += kTileColumns)
    for (uint64_t row = 0; row < numRows; row += kTileRows) {
      const uint64_t width = std::min(kTileColumns, columns - k);
      const uint64_t height = std::min(kTileRows, numRows - row);
      for (uint64_t i = 0; i < height; ++i)
        convert(rows + (row + i) * columns + k, width, tile + i * kTileColumns);
      transpose<uint16_t>(tile, kTileColumns, height, width, out + 2 * (k * panelRows + row),
                          panelRows);
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

// The codes of one group of each row; rows lie `columns` bytes apart.
void packCodes(const uint8_t *codes, uint64_t columns, uint64_t numRows, const Block &block,
               uint8_t *out) {
  if (block.bits == 8)
    return transpose<uint32_t>(codes, columns / 4, numRows, block.bits, out, block.rows);
  constexpr uint64_t pairs = groupSize / 2;
  uint8_t tile[kTileRows * pairs];
  for (uint64_t row = 0; row < numRows; row += kTileRows) {
    const uint64_t height = std::min(kTileRows, numRows - row);
    for (uint64_t i = 0; i < height; ++i) {
      const uint8_t *from = codes + (row + i) * columns;
      for (uint64_t k = 0; k < pairs; ++k)
        tile[i * pairs + k] = uint8_t(from[k] | from[pairs + k] << 4);
    }
    transpose<uint32_t>(tile, pairs / 4, height, block.bits, out + block.word(0, row), block.rows);
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
  const bool isWide = format.floats == ElementType::F32;
  // Row-major is panels of one row.
  const uint64_t panel = std::max<uint64_t>(1, panelRows), bytes = panel * elementBytes(format);
  uint8_t *to = static_cast<uint8_t *>(out);
  for (uint64_t first = 0; first < numRows; first += panel, to += bytes * columns) {
    const uint64_t used = std::min(panel, numRows - first);
    const float *from = rows + first * columns;
    if (used < panel)
      std::memset(to, 0, bytes * columns);
    if (panel == 1 && isWide)
      std::memcpy(to, from, bytes * columns);
    else if (isWide)
      transpose<uint32_t>(from, columns, used, columns, to, panel);
    else
      packHalves(from, used, columns, format.floats, panel, to);
  }
}

void packGroups(const GroupRows &rows, uint64_t numRows, uint64_t columns, GroupFormat format,
                uint64_t panelRows, uint8_t *out) {
  const Block block(format, panelRows);
  const uint64_t groups = columns / groupSize;
  for (uint64_t first = 0; first < numRows; first += panelRows) {
    const uint64_t used = std::min(panelRows, numRows - first);
    if (used < panelRows)
      std::memset(out, 0, groups * block.bytes);
    for (uint64_t group = 0; group < groups; ++group, out += block.bytes) {
      packCodes(rows.codes + first * columns + group * groupSize, columns, used, block, out);
      const uint64_t at = first * groups + group;
      for (uint64_t row = 0; row < used; ++row)
        std::memcpy(out + block.scale(row), rows.scales + at + row * groups, 2);
      if (format.hasMinimum)
        for (uint64_t row = 0; row < used; ++row)
          std::memcpy(out + block.minimum(row), rows.minimums + at + row * groups, 2);
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
