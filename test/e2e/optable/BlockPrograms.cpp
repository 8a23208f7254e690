// SPDX-License-Identifier: Apache-2.0
#include "test/e2e/optable/BlockPrograms.h"
#include "test/e2e/optable/PtxDevice.h"
#include "test/passes/codegen/nvptx/Ptx.h"
#include <cstring>
#include <gtest/gtest.h>

namespace llmc::test {

std::vector<uint32_t> asBits(const std::vector<float> &floats) {
  std::vector<uint32_t> bits(floats.size());
  std::memcpy(bits.data(), floats.data(), floats.size() * sizeof(float));
  return bits;
}

std::vector<float> asFloats(const std::vector<uint32_t> &bits) {
  std::vector<float> floats(bits.size());
  std::memcpy(floats.data(), bits.data(), bits.size() * sizeof(float));
  return floats;
}

BlockPrograms::BlockPrograms(const std::string &source) : kernels(source) {
  std::string errors;
  ptxText = nvptx::test::ptxOf(source, errors);
  EXPECT_EQ(errors, "");
}

static llmc_step stepOf(uint32_t rows) {
  llmc_step step = {};
  step.struct_size = sizeof(step);
  step.n_rows = rows;
  step.n_sequences = step.page_chunks = 1;
  return step;
}

Buffers BlockPrograms::runOnCpu(const std::string &kernel, Buffers buffers, uint32_t programs,
                                uint32_t rows) {
  std::vector<void *> operands;
  for (std::vector<uint32_t> &buffer : buffers)
    operands.push_back(buffer.data());
  kernels.step = stepOf(rows);
  kernels.run(kernel, operands, 0, programs);
  return buffers;
}

Buffers BlockPrograms::runPtx(const std::string &ptx, const std::string &kernel, Buffers buffers,
                              uint32_t programs, std::string &error, uint32_t rows) {
  PtxDevice device(ptx);
  auto all = [&](auto work) {
    for (size_t i = 0; i < buffers.size(); ++i)
      if (!work(i, buffers[i].data(), buffers[i].size() * sizeof(uint32_t)))
        return false;
    return true;
  };
  std::vector<llmc_cuda_pointer> operands;
  bool ran = all([&](size_t i, void *data, size_t bytes) {
    if (!device.upload(i, data, bytes))
      return false;
    operands.push_back(device.address(i));
    return true;
  });
  ran = ran && device.uploadStep(stepOf(rows), 0) && device.launch(kernel, operands, programs) &&
        all([&](size_t i, void *data, size_t bytes) { return device.download(i, data, bytes); });
  if (!ran)
    error = device.error();
  return buffers;
}

} // namespace llmc::test
