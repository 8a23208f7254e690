// SPDX-License-Identifier: Apache-2.0
#include "test/e2e/optable/PtxDevice.h"

namespace llmc::test {

/// A broken kernel must not run for ever; the largest case takes a fifth of this.
static constexpr uint64_t kInstructionBudget = 4'000'000;
static constexpr uint64_t kMemoryBytes = uint64_t(64) << 20;

static ptx::MachineOptions options() {
  ptx::MachineOptions options;
  options.memoryBytes = kMemoryBytes;
  options.instructionBudget = kInstructionBudget;
  return options;
}

PtxDevice::PtxDevice(const std::string &ptx) : machine(options()), binding(machine) {
  isOpen = good(llmc_nvptx_open(&device, binding.table(), 0, ptx.c_str()));
}

PtxDevice::~PtxDevice() {
  if (!isOpen)
    return;
  for (llmc_cuda_pointer address : buffers)
    llmc_nvptx_release(&device, address);
  llmc_nvptx_release(&device, stepAddress);
  llmc_nvptx_close(&device);
}

bool PtxDevice::place(llmc_cuda_pointer &address, size_t bytes) {
  return isOpen && (address || good(llmc_nvptx_allocate(&device, bytes, &address)));
}

bool PtxDevice::upload(size_t buffer, const void *data, size_t bytes) {
  if (buffers.size() <= buffer)
    buffers.resize(buffer + 1);
  return place(buffers[buffer], bytes) &&
         good(llmc_nvptx_upload(&device, buffers[buffer], data, bytes));
}

bool PtxDevice::download(size_t buffer, void *data, size_t bytes) {
  return good(llmc_nvptx_download(&device, data, buffers[buffer], bytes));
}

bool PtxDevice::uploadStep(const llmc_step &step, uint32_t numPages) {
  return place(stepAddress, llmc_nvptx_step_bytes(&step, numPages)) &&
         good(llmc_nvptx_upload_step(&device, stepAddress, &step, numPages));
}

bool PtxDevice::launch(const std::string &kernel, const std::vector<llmc_cuda_pointer> &operands,
                       uint32_t programs) {
  return isOpen && good(llmc_nvptx_launch(&device, kernel.c_str(), operands.data(),
                                          uint32_t(operands.size()), stepAddress, 0, programs));
}

std::string PtxDevice::error() const {
  std::string text = llmc_nvptx_status_text(status);
  for (const std::string &message : binding.messages())
    text += "\n  " + message;
  return text;
}

} // namespace llmc::test
