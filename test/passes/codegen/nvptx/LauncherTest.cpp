// SPDX-License-Identifier: Apache-2.0
//
// The launcher of runtime/executor/nvptx on the PTX interpreter: what it refuses, and what a step
// looks like on the device.
#include "runtime/executor/nvptx/Launcher.h"
#include "tools/ptx-interpreter/Driver.h"
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace {

constexpr const char *kNothing =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry nothing(.param .u64 step, .param .u32 first)\n{\n  ret;\n}\n";

struct LauncherTest : testing::Test {
  ~LauncherTest() override {
    if (isOpen)
      llmc_nvptx_close(&device);
  }
  llmc_nvptx_status open(const char *ptx, int ordinal = 0) {
    llmc_nvptx_status status = llmc_nvptx_open(&device, binding.table(), ordinal, ptx);
    isOpen = status == LLMC_NVPTX_OK;
    return status;
  }

  llmc::ptx::Machine machine;
  llmc::ptx::DriverBinding binding{machine};
  llmc_nvptx_device device = {};
  bool isOpen = false;
};

TEST_F(LauncherTest, a_machine_without_a_driver_is_a_status) {
  llmc_cuda_driver driver;
  std::memset(&driver, 0xff, sizeof(driver));
  llmc_nvptx_status status = llmc_nvptx_find_driver(&driver);
  if (status == LLMC_NVPTX_OK) // this machine has one
    EXPECT_NE(driver.cuLaunchKernel, nullptr);
  else
    EXPECT_EQ(driver.cuLaunchKernel, nullptr) << llmc_nvptx_status_text(status);
}

TEST_F(LauncherTest, what_cannot_be_opened_is_a_status) {
  EXPECT_EQ(llmc_nvptx_open(&device, nullptr, 0, kNothing), LLMC_NVPTX_BAD_ARGUMENT);
  EXPECT_EQ(open(nullptr), LLMC_NVPTX_BAD_ARGUMENT);
  EXPECT_EQ(open(kNothing, -1), LLMC_NVPTX_BAD_ARGUMENT);
  EXPECT_EQ(open(kNothing, 1), LLMC_NVPTX_NO_DEVICE);
  EXPECT_EQ(open("no PTX"), LLMC_NVPTX_DRIVER_ERROR);
  EXPECT_EQ(device.result, LLMC_CUDA_INVALID_PTX);
  EXPECT_EQ(open(kNothing), LLMC_NVPTX_OK);
}

TEST_F(LauncherTest, launches_are_checked) {
  ASSERT_EQ(open(kNothing), LLMC_NVPTX_OK);
  EXPECT_EQ(llmc_nvptx_launch(&device, "nothing", nullptr, 0, 0, 0, 3), LLMC_NVPTX_OK);
  EXPECT_EQ(binding.launches(), 1u);
  EXPECT_EQ(llmc_nvptx_launch(&device, "nothing", nullptr, 0, 0, 3, 3), LLMC_NVPTX_OK);
  EXPECT_EQ(binding.launches(), 1u) << "no program, no launch";
  EXPECT_EQ(llmc_nvptx_launch(&device, "nothing", nullptr, 0, 0, 3, 2), LLMC_NVPTX_BAD_ARGUMENT);
  EXPECT_EQ(llmc_nvptx_launch(&device, "nothing", nullptr, LLMC_MAX_OPERANDS + 1, 0, 0, 1),
            LLMC_NVPTX_BAD_ARGUMENT);
  EXPECT_EQ(llmc_nvptx_launch(&device, "something", nullptr, 0, 0, 0, 1), LLMC_NVPTX_DRIVER_ERROR);
  EXPECT_EQ(device.result, LLMC_CUDA_NOT_FOUND);
}

TEST_F(LauncherTest, memory_that_is_not_there_is_a_status) {
  ASSERT_EQ(open(kNothing), LLMC_NVPTX_OK);
  llmc_cuda_pointer address = 1;
  EXPECT_EQ(llmc_nvptx_allocate(&device, size_t(1) << 60, &address), LLMC_NVPTX_DRIVER_ERROR);
  EXPECT_EQ(device.result, LLMC_CUDA_OUT_OF_MEMORY);
  EXPECT_EQ(address, 0u);
  llmc_nvptx_release(&device, address);
  float number = 0;
  EXPECT_EQ(llmc_nvptx_upload(&device, 4096, &number, sizeof(number)), LLMC_NVPTX_DRIVER_ERROR);
}

TEST_F(LauncherTest, a_step_points_to_its_arrays_on_the_device) {
  ASSERT_EQ(open(kNothing), LLMC_NVPTX_OK);
  const int32_t tokens[] = {7, 8}, positions[] = {3, 4}, outputRows[] = {1}, sequenceRow[] = {0, 1},
                base[] = {64};
  const uint32_t pages[] = {5, 6, 9};
  llmc_step step = {};
  step.n_rows = 2;
  step.n_sequences = step.n_outputs = 1;
  step.tokens = tokens;
  step.positions = positions;
  step.output_rows = outputRows;
  step.sequence_row = sequenceRow;
  step.sequence_base = base;
  step.pages = pages;
  size_t bytes = llmc_nvptx_step_bytes(&step, 3);
  EXPECT_EQ(bytes, sizeof(step) + 4 * (2 + 2 + 1 + 2 + 1 + 3));
  llmc_cuda_pointer address;
  ASSERT_EQ(llmc_nvptx_allocate(&device, bytes, &address), LLMC_NVPTX_OK);
  ASSERT_EQ(llmc_nvptx_upload_step(&device, address, &step, 3), LLMC_NVPTX_OK);
  llmc_step copy;
  ASSERT_EQ(llmc_nvptx_download(&device, &copy, address, sizeof(copy)), LLMC_NVPTX_OK);
  EXPECT_EQ(copy.n_rows, 2u);
  EXPECT_EQ(copy.slots, nullptr);
  auto elements = [&](const void *pointer, size_t count) {
    std::vector<int32_t> numbers(count);
    EXPECT_EQ(llmc_nvptx_download(&device, numbers.data(), llmc_cuda_pointer(uintptr_t(pointer)),
                                  count * 4),
              LLMC_NVPTX_OK);
    return numbers;
  };
  EXPECT_EQ(elements(copy.tokens, 2), (std::vector<int32_t>{7, 8}));
  EXPECT_EQ(elements(copy.positions, 2), (std::vector<int32_t>{3, 4}));
  EXPECT_EQ(elements(copy.sequence_base, 1), (std::vector<int32_t>{64}));
  EXPECT_EQ(elements(copy.pages, 3), (std::vector<int32_t>{5, 6, 9}));
  llmc_nvptx_release(&device, address);
}

} // namespace
