// SPDX-License-Identifier: Apache-2.0
//
// The PTX interpreter as a GPU: behind the CUDA driver's function table, with the launcher that an
// artefact would use.
#pragma once

#include "runtime/executor/nvptx/Launcher.h"
#include "tools/ptx-interpreter/Driver.h"
#include <string>
#include <vector>

namespace llmc::test {

/// One module of kernels and numbered buffers. Calls return false where the driver or the launcher
/// refuses, or a kernel did not run clean; error() then says why.
class PtxDevice {
public:
  explicit PtxDevice(const std::string &ptx);
  ~PtxDevice();
  PtxDevice(const PtxDevice &) = delete;
  PtxDevice &operator=(const PtxDevice &) = delete;

  /// Buffer `buffer` holds these bytes; its first upload fixes its size.
  bool upload(size_t buffer, const void *data, size_t bytes);
  bool download(size_t buffer, void *data, size_t bytes);
  llmc_cuda_pointer address(size_t buffer) const { return buffers[buffer]; }
  /// What launches are given; `pages` has `numPages` entries.
  bool uploadStep(const llmc_step &step, uint32_t numPages);
  bool launch(const std::string &kernel, const std::vector<llmc_cuda_pointer> &operands,
              uint32_t programs);
  std::string error() const;

private:
  bool good(llmc_nvptx_status result) { return (status = result) == LLMC_NVPTX_OK; }
  bool place(llmc_cuda_pointer &address, size_t bytes);

  ptx::Machine machine;
  ptx::DriverBinding binding;
  llmc_nvptx_device device = {};
  llmc_nvptx_status status = LLMC_NVPTX_OK;
  std::vector<llmc_cuda_pointer> buffers;
  llmc_cuda_pointer stepAddress = 0;
  bool isOpen = false;
};

} // namespace llmc::test
