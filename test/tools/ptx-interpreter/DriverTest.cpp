// SPDX-License-Identifier: Apache-2.0
// The driver's table as a model's runtime uses it: vector addition from start to end, errors as
// codes, two machines.
#include "tools/ptx-interpreter/Driver.h"

#include "test/tools/ptx-interpreter/Support.h"

#include <thread>

namespace llmc::ptx::test {
namespace {

const char *vectorAdd = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry vector_add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %d<12>;
  ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b]; ld.param.u64 %d2, [c]; ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p0, %r4, %r0; @%p0 bra DONE;
  mul.wide.u32 %d3, %r4, 4; add.s64 %d4, %d0, %d3; add.s64 %d5, %d1, %d3; add.s64 %d6, %d2, %d3;
  ld.global.f32 %f0, [%d4]; ld.global.f32 %f1, [%d5]; add.rn.f32 %f2, %f0, %f1; st.global.f32 [%d6], %f2;
DONE:
  ret;
}
.visible .entry too_much() { .shared .align 4 .b8 box[40000]; ret; }
)";

/// A driver with a current context.
struct Session {
  explicit Session(const llmc_cuda_driver *driver) : driver(*driver) {
    llmc_cuda_device device = -1;
    EXPECT_EQ(driver->cuInit(0), LLMC_CUDA_SUCCESS);
    EXPECT_EQ(driver->cuDeviceGet(&device, 0), LLMC_CUDA_SUCCESS);
    EXPECT_EQ(driver->cuDevicePrimaryCtxRetain(&context, device), LLMC_CUDA_SUCCESS);
    EXPECT_EQ(driver->cuCtxSetCurrent(context), LLMC_CUDA_SUCCESS);
  }
  llmc_cuda_function load(const char *text, const char *name) {
    llmc_cuda_function function = nullptr;
    EXPECT_EQ(driver.cuModuleLoadData(&module, text), LLMC_CUDA_SUCCESS);
    EXPECT_EQ(driver.cuModuleGetFunction(&function, module, name), LLMC_CUDA_SUCCESS);
    return function;
  }
  llmc_cuda_driver driver;
  llmc_cuda_context context = nullptr;
  llmc_cuda_module module = nullptr;
};

/// c = a + b for `count` elements, of which the buffers hold `room`.
llmc_cuda_result addVectors(Session &session, unsigned count, unsigned room,
                            std::vector<float> &sums) {
  llmc_cuda_function function = session.load(vectorAdd, "vector_add");
  std::vector<float> left(room), right(room);
  for (unsigned index = 0; index < room; ++index)
    left[index] = float(index), right[index] = 0.5f;
  llmc_cuda_pointer a = 0, b = 0, c = 0;
  const llmc_cuda_driver &driver = session.driver;
  for (llmc_cuda_pointer *pointer : {&a, &b, &c})
    EXPECT_EQ(driver.cuMemAlloc_v2(pointer, room * 4), LLMC_CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemcpyHtoD_v2(a, left.data(), room * 4), LLMC_CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemcpyHtoD_v2(b, right.data(), room * 4), LLMC_CUDA_SUCCESS);
  llmc_cuda_stream stream = nullptr;
  EXPECT_EQ(driver.cuStreamCreate(&stream, 0), LLMC_CUDA_SUCCESS);
  void *parameters[] = {&a, &b, &c, &count};
  llmc_cuda_result result = driver.cuLaunchKernel(function, (count + 127) / 128, 1, 1, 128, 1, 1, 0,
                                                  stream, parameters, nullptr);
  EXPECT_EQ(driver.cuStreamSynchronize(stream), LLMC_CUDA_SUCCESS);
  EXPECT_EQ(driver.cuStreamDestroy_v2(stream), LLMC_CUDA_SUCCESS);
  sums.resize(room);
  EXPECT_EQ(driver.cuMemcpyDtoH_v2(sums.data(), c, room * 4), LLMC_CUDA_SUCCESS);
  for (llmc_cuda_pointer pointer : {a, b, c})
    EXPECT_EQ(driver.cuMemFree_v2(pointer), LLMC_CUDA_SUCCESS);
  EXPECT_EQ(driver.cuModuleUnload(session.module), LLMC_CUDA_SUCCESS);
  return result;
}

TEST(Driver, EveryEntryIsThere) {
  Machine machine;
  DriverBinding binding(machine);
  ASSERT_TRUE(binding.table());
  void *const *entries = reinterpret_cast<void *const *>(binding.table());
  for (size_t index = 0; index < sizeof(llmc_cuda_driver) / sizeof(void *); ++index)
    EXPECT_NE(entries[index], nullptr) << index;
}

TEST(Driver, VectorAddition) {
  Machine machine;
  DriverBinding binding(machine);
  Session session(binding.table());
  std::vector<float> sums;
  EXPECT_EQ(addVectors(session, 300, 300, sums), LLMC_CUDA_SUCCESS);
  for (unsigned index = 0; index < 300; ++index)
    ASSERT_EQ(sums[index], float(index) + 0.5f);
  EXPECT_EQ(binding.launches(), 1u);
  EXPECT_EQ(binding.counters().globalBytesWritten, 1200u);
  EXPECT_TRUE(binding.messages().empty());
  EXPECT_EQ(machine.memory().bytesInUse(), 0u);
}

TEST(Driver, OutOfBoundsIsAnIllegalAddressAndSaysWhere) {
  Machine machine;
  DriverBinding binding(machine);
  Session session(binding.table());
  std::vector<float> sums;
  EXPECT_EQ(addVectors(session, 301, 300, sums), LLMC_CUDA_ILLEGAL_ADDRESS);
  ASSERT_EQ(binding.messages().size(), 1u);
  EXPECT_NE(binding.messages()[0].find("in kernel 'vector_add': out-of-bounds: 'ld.global.f32'"),
            std::string::npos)
      << binding.messages()[0];
}

TEST(Driver, FindingsFailALaunchUnlessToldOtherwise) {
  const char *racy = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p) {\n"
                     ".reg .b64 %d; .reg .b32 %r;\nld.param.u64 %d, [p]; mov.u32 %r, 1; "
                     "st.global.u32 [%d], %r; ret; }";
  for (bool fail : {true, false}) {
    Machine machine;
    DriverOptions options;
    options.findingsFailLaunch = fail;
    DriverBinding binding(machine, options);
    Session session(binding.table());
    llmc_cuda_function function = session.load(racy, "k");
    llmc_cuda_pointer pointer = 0;
    ASSERT_EQ(session.driver.cuMemAlloc_v2(&pointer, 4), LLMC_CUDA_SUCCESS);
    void *parameters[] = {&pointer};
    EXPECT_EQ(
        session.driver.cuLaunchKernel(function, 2, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr),
        fail ? LLMC_CUDA_LAUNCH_FAILED : LLMC_CUDA_SUCCESS);
    EXPECT_EQ(binding.messages().size(), 1u);
  }
}

TEST(Driver, MisuseGetsTheDriversCodes) {
  Machine machine(MachineOptions{1 << 20, 1000});
  DriverBinding binding(machine);
  const llmc_cuda_driver &driver = *binding.table();
  int count = 0;
  llmc_cuda_pointer pointer = 0;
  EXPECT_EQ(driver.cuDeviceGetCount(&count), LLMC_CUDA_NOT_INITIALIZED);
  EXPECT_EQ(driver.cuInit(1), LLMC_CUDA_INVALID_VALUE);
  EXPECT_EQ(driver.cuInit(0), LLMC_CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemAlloc_v2(&pointer, 4), LLMC_CUDA_INVALID_CONTEXT)
      << "no current context yet";
  Session session(&driver);
  int value = 0;
  EXPECT_EQ(driver.cuDeviceGetAttribute(&value, LLMC_CUDA_CAPABILITY_MAJOR, 0), LLMC_CUDA_SUCCESS);
  EXPECT_EQ(value, 8);
  EXPECT_EQ(driver.cuDeviceGetAttribute(&value, 12345, 0), LLMC_CUDA_INVALID_VALUE);
  llmc_cuda_device device;
  EXPECT_EQ(driver.cuDeviceGet(&device, 1), LLMC_CUDA_INVALID_DEVICE);
  EXPECT_EQ(driver.cuMemAlloc_v2(&pointer, 2 << 20), LLMC_CUDA_OUT_OF_MEMORY);
  EXPECT_EQ(driver.cuMemFree_v2(12345), LLMC_CUDA_INVALID_VALUE);
  EXPECT_EQ(driver.cuMemsetD8_v2(12345, 0, 4), LLMC_CUDA_INVALID_VALUE);
  llmc_cuda_module module;
  EXPECT_EQ(driver.cuModuleLoadData(&module, "nonsense"), LLMC_CUDA_INVALID_PTX);
  EXPECT_EQ(driver.cuModuleLoadData(&module, "\x7f"
                                             "ELF"),
            LLMC_CUDA_NO_BINARY_FOR_GPU);
  EXPECT_EQ(binding.messages().size(), 2u);
  llmc_cuda_function function = session.load(vectorAdd, "vector_add");
  EXPECT_EQ(driver.cuModuleGetFunction(&function, session.module, "absent"), LLMC_CUDA_NOT_FOUND);
  EXPECT_EQ(driver.cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            LLMC_CUDA_INVALID_HANDLE);
  EXPECT_EQ(driver.cuModuleUnload(reinterpret_cast<llmc_cuda_module>(8)), LLMC_CUDA_INVALID_HANDLE);
  const char *text = nullptr;
  EXPECT_EQ(driver.cuGetErrorString(LLMC_CUDA_ILLEGAL_ADDRESS, &text), LLMC_CUDA_SUCCESS);
  EXPECT_STREQ(text, "an illegal memory access was encountered");
  EXPECT_EQ(driver.cuGetErrorString(4711, &text), LLMC_CUDA_INVALID_VALUE);
}

TEST(Driver, DynamicSharedMemoryBeyondTheDefaultHasToBeAskedFor) {
  Machine machine;
  DriverBinding binding(machine);
  Session session(binding.table());
  llmc_cuda_function function = session.load(vectorAdd, "too_much");
  auto launch = [&](unsigned bytes) {
    return session.driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, bytes, nullptr, nullptr,
                                         nullptr);
  };
  EXPECT_EQ(launch(8000), LLMC_CUDA_SUCCESS);
  EXPECT_EQ(launch(20000), LLMC_CUDA_INVALID_VALUE);
  EXPECT_EQ(session.driver.cuFuncSetAttribute(function, LLMC_CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES,
                                              20000),
            LLMC_CUDA_SUCCESS);
  EXPECT_EQ(launch(20000), LLMC_CUDA_SUCCESS);
  EXPECT_EQ(session.driver.cuFuncSetAttribute(function, LLMC_CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES,
                                              200000),
            LLMC_CUDA_INVALID_VALUE);
}

TEST(Driver, MemsetInitialisesMemory) {
  Machine machine;
  DriverBinding binding(machine);
  Session session(binding.table());
  llmc_cuda_pointer pointer = 0;
  ASSERT_EQ(session.driver.cuMemAlloc_v2(&pointer, 21), LLMC_CUDA_SUCCESS);
  ASSERT_EQ(session.driver.cuMemsetD8_v2(pointer + 3, 7, 18), LLMC_CUDA_SUCCESS);
  uint8_t bytes[18] = {};
  ASSERT_EQ(session.driver.cuMemcpyDtoH_v2(bytes, pointer + 3, 18), LLMC_CUDA_SUCCESS);
  EXPECT_EQ(bytes[0], 7);
  EXPECT_EQ(bytes[17], 7);
  EXPECT_EQ(session.driver.cuMemsetD8_v2(pointer + 4, 7, 18), LLMC_CUDA_INVALID_VALUE);
}

TEST(Driver, MachinesInTwoThreadsDoNotNoticeEachOther) {
  Machine machines[2];
  DriverBinding first(machines[0]), second(machines[1]);
  auto work = [](const llmc_cuda_driver *table) {
    Session session(table);
    std::vector<float> sums;
    for (int round = 0; round < 5; ++round)
      EXPECT_EQ(addVectors(session, 300, 300, sums), LLMC_CUDA_SUCCESS);
  };
  std::thread other(work, second.table());
  work(first.table());
  other.join();
  EXPECT_EQ(first.launches(), 5u);
  EXPECT_EQ(second.launches(), 5u);
}

TEST(Driver, AThreadNeedsItsOwnCurrentContext) {
  Machine machine;
  DriverBinding binding(machine);
  Session session(binding.table());
  llmc_cuda_result result = LLMC_CUDA_SUCCESS;
  std::thread([&] {
    llmc_cuda_pointer pointer;
    result = binding.table()->cuMemAlloc_v2(&pointer, 4);
  }).join();
  EXPECT_EQ(result, LLMC_CUDA_INVALID_CONTEXT);
}

TEST(Driver, SlotsAreGivenBack) {
  Machine machine;
  const llmc_cuda_driver *stale = nullptr;
  for (int round = 0; round < 20; ++round) {
    DriverBinding binding(machine);
    ASSERT_TRUE(binding.table());
    Session session(binding.table());
    stale = binding.table();
  }
  EXPECT_EQ(stale->cuInit(0), LLMC_CUDA_DEINITIALIZED);
  std::vector<std::unique_ptr<DriverBinding>> bindings;
  for (unsigned index = 0; index <= DriverBinding::mostBindings; ++index)
    bindings.push_back(std::make_unique<DriverBinding>(machine));
  EXPECT_TRUE(bindings[DriverBinding::mostBindings - 1]->table());
  EXPECT_FALSE(bindings[DriverBinding::mostBindings]->table());
}

} // namespace
} // namespace llmc::ptx::test
