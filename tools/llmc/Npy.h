// SPDX-License-Identifier: Apache-2.0
// Writes a two-dimensional float32 array as .npy, format version 1.0, row after row.
#pragma once

#include "tools/llmc/NewFile.h"
#include <cstdint>

namespace llmc::tool {

class NpyWriter {
public:
  NpyWriter(const std::string &path, uint64_t rows, uint64_t columns)
      : file(path), rows(rows), columns(columns) {}

  // Creates the file and writes the header.
  Status open();
  // `data` holds count * columns values.
  Status writeRows(const float *data, uint64_t count);
  // All rows must have been written.
  Status commit() { return file.commit(); }

private:
  NewFile file;
  uint64_t rows;
  uint64_t columns;
};

// All at once.
Status writeNpy(const std::string &path, const float *data, uint64_t rows, uint64_t columns);

} // namespace llmc::tool
