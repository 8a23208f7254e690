// SPDX-License-Identifier: Apache-2.0
//
// Tile programs compiled for this machine and loaded into this process.
#pragma once

#include "llmc/abi.h"
#include <memory>
#include <string>

class TileKernels {
public:
  /// Compiles the tile programs in the file `path`; on failure `error` says why and no kernel is
  /// found.
  TileKernels(const std::string &path, std::string &error);
  /// The kernels that llmc makes of a module of regions in llm for `level`, with its own schedules
  /// but for forced fields.
  static TileKernels ofRegions(const std::string &module, const std::string &level,
                               const std::string &schedule, std::string &error);
  TileKernels(TileKernels &&);
  ~TileKernels();

  llmc_kernel_fn find(const std::string &name) const;

private:
  TileKernels() = default;
  void link(const std::string &object, std::string &error);

  struct Linked;
  std::unique_ptr<Linked> linked;
};
