// SPDX-License-Identifier: Apache-2.0
// Reads a two-dimensional float32 array in C order from a .npy file, row after row.
#pragma once

#include "dialects/model/Error.h"
#include <cstdint>
#include <cstdio>
#include <memory>

namespace llmc::tool {

class NpyReader {
public:
  // Checks the header, and that the file is as long as it says.
  static Result<NpyReader> open(const std::string &path);

  uint64_t rows() const { return shape[0]; }
  uint64_t columns() const { return shape[1]; }
  // `data` has room for count * columns values.
  Status readRows(float *data, uint64_t count);

private:
  struct Close {
    void operator()(FILE *file) const { fclose(file); }
  };
  std::string path;
  std::unique_ptr<FILE, Close> file;
  uint64_t shape[2] = {0, 0};
};

} // namespace llmc::tool
