// SPDX-License-Identifier: Apache-2.0
//
// Tile programs from a file, compiled for this machine and loaded into this process.
#pragma once

#include "llmc/abi.h"
#include <memory>
#include <string>

class TileKernels {
public:
  /// Compiles the module in `path`; on failure `error` says why and no kernel is found.
  TileKernels(const std::string &path, std::string &error);
  ~TileKernels();

  llmc_kernel_fn find(const std::string &name) const;

private:
  struct Linked;
  std::unique_ptr<Linked> linked;
};
