// SPDX-License-Identifier: Apache-2.0
// Loads, stores, address spaces, vectors, packing moves, and what accesses cost.
#include "test/tools/ptx-interpreter/Support.h"

namespace llmc::ptx::test {
namespace {

TEST(MemoryForms, WidthsExtendAndTruncate) {
  BodyRun run = runBody(
      "ld.param.u64 %d0, [data];\n"
      "ld.global.s8 %r0, [%d0]; ld.global.u8 %r1, [%d0]; ld.global.s16 %r2, [%d0+2];\n"
      "st.global.u32 [%d0+4], %r0; st.global.u32 [%d0+8], %r1; st.global.u32 [%d0+12], %r2;\n"
      "st.global.b16 [%d0+16], %r2; st.global.b8 [%d0+20], %r1;",
      {0x80010080, 0, 0, 0, 0xaaaaaaaa, 0xaaaaaaaa});
  EXPECT_EQ(run.words, (std::vector<uint32_t>{0x80010080, 0xffffff80, 0x80, 0xffff8001, 0xaaaa8001,
                                              0xaaaaaa80}));
  EXPECT_TRUE(run.result.clean()) << run.result.error;
}

TEST(MemoryForms, VectorsAndNegativeDisplacements) {
  BodyRun run =
      runBody("ld.param.u64 %d0, [data]; add.s64 %d1, %d0, 16;\n"
              "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%d1+-16];\n"
              "st.global.v2.b32 [%d1], {%r3, %r2};\n"
              "ld.global.nc.L1::no_allocate.v2.u64 {%d2, _}, [%d0]; st.global.u64 [%d1+8], %d2;",
              {1, 2, 3, 4, 0, 0, 0, 0});
  EXPECT_EQ(run.words, (std::vector<uint32_t>{1, 2, 3, 4, 4, 3, 1, 2}));
}

TEST(MemoryForms, SpacesAndGenericAddresses) {
  BodyRun run = runBody(
      ".shared .align 8 .b8 box[64];\n.local .align 8 .b8 stack[16];\n"
      "ld.param.u64 %d0, [data]; cvta.to.global.u64 %d1, %d0;\n"
      "mov.u32 %r0, box; mov.u32 %r1, 7; st.shared.u32 [%r0+8], %r1;\n"
      "mov.u64 %d2, box; cvta.shared.u64 %d3, %d2; ld.u32 %r2, [%d3+8];\n" // generic to shared
      "mov.u64 %d4, stack; cvta.local.u64 %d5, %d4; mov.u32 %r3, 9; st.u32 [%d5+4], %r3;\n"
      "ld.local.u32 %r4, [%d4+4];\n"
      "mov.b64 %d6, data; cvta.param.u64 %d7, %d6; ld.u64 %d8, [%d7];\n" // the parameter's own
                                                                         // address
      "cvta.to.shared.u64 %d9, %d3; ld.shared.u32 %r5, [%d9+8];\n"
      "st.global.u32 [%d1], %r2; st.global.u32 [%d8+4], %r4; st.u32 [%d0+8], %r5;",
      {0, 0, 0});
  EXPECT_TRUE(run.result.clean()) << run.loadError << run.result.error;
  EXPECT_EQ(run.words, (std::vector<uint32_t>{7, 9, 7}));
}

TEST(MemoryForms, LocalMemoryIsPerThread) {
  BodyRun run = runBody(
      ".local .align 4 .b8 stack[4];\n"
      "ld.param.u64 %d0, [data]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.s64 %d0, %d0, "
      "%d1;\n"
      "st.local.u32 [stack], %r0; bar.sync 0; ld.local.u32 %r1, [stack]; st.global.u32 [%d0], %r1;",
      std::vector<uint32_t>(64), {1, 64});
  ASSERT_TRUE(run.result.clean()) << run.result.error;
  for (uint32_t thread = 0; thread < 64; ++thread)
    EXPECT_EQ(run.words[thread], thread);
}

TEST(MemoryForms, ModuleVariablesHoldTheirInitialBytes) {
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".const .align 4 .f32 table[3] = {0f3F800000, 0f40000000, 0f40400000};\n"
      ".global .align 4 .b8 rest[4] = {1, 2, 3};\n" +
      kernelText(
          "ld.param.u64 %d0, [data]; ld.const.f32 %r0, [table+4]; st.global.f32 [%d0], %r0;\n"
          "mov.u64 %d1, rest; ld.global.u32 %r1, [%d1]; st.global.u32 [%d0+4], %r1;");
  Machine machine;
  std::string error;
  LoadedModule *module = machine.load(text, "test.ptx", error);
  ASSERT_TRUE(module) << error;
  uint64_t data = machine.memory().allocate(8);
  std::vector<uint8_t> parameters;
  const Kernel &kernel = module->module.kernels.front();
  ASSERT_TRUE(packParameters(kernel, {data}, parameters, error));
  EXPECT_TRUE(machine.launch(*module, kernel, {}, parameters).clean());
  uint32_t words[2];
  ASSERT_TRUE(machine.memory().read(data, words, 8));
  EXPECT_EQ(words[0], 0x40000000u);
  EXPECT_EQ(words[1], 0x00030201u);
}

TEST(MemoryForms, DynamicSharedStartsAfterStatic) {
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 dynamic[];\n" +
      kernelText(
          ".shared .align 4 .b8 fixed[20];\nld.param.u64 %d0, [data];\n"
          "mov.u32 %r0, 1; mov.u32 %r1, 2; st.shared.u32 [fixed+16], %r0; mov.u32 %r2, dynamic;\n"
          "st.shared.u32 [%r2], %r1; ld.shared.u32 %r3, [fixed+16]; st.global.u32 [%d0], %r3;\n"
          "st.global.u32 [%d0+4], %r2;");
  Machine machine;
  std::string error;
  LoadedModule *module = machine.load(text, "test.ptx", error);
  ASSERT_TRUE(module) << error;
  uint64_t data = machine.memory().allocate(8);
  std::vector<uint8_t> parameters;
  const Kernel &kernel = module->module.kernels.front();
  ASSERT_TRUE(packParameters(kernel, {data}, parameters, error));
  LaunchShape shape;
  EXPECT_FALSE(machine.launch(*module, kernel, shape, parameters).completed)
      << "no dynamic memory asked for";
  shape.dynamicSharedBytes = 4;
  EXPECT_TRUE(machine.launch(*module, kernel, shape, parameters).clean());
  uint32_t words[2];
  ASSERT_TRUE(machine.memory().read(data, words, 8));
  EXPECT_EQ(words[0], 1u);
  EXPECT_EQ(words[1], 32u);
}

TEST(MemoryForms, MovesPackAndUnpack) {
  BodyRun run =
      runBody("ld.param.u64 %d0, [data]; mov.u32 %r0, 0x11112222; mov.b32 {%h0, %h1}, %r0;\n"
              "mov.b32 %r1, {%h1, %h0}; st.global.u32 [%d0], %r1; mov.u32 %r2, 5; mov.b64 %d1, "
              "{%r2, %r0};\n"
              "st.global.u64 [%d0+8], %d1; mov.b64 {_, %r3}, %d1; st.global.u32 [%d0+4], %r3;",
              {0, 0, 0, 0});
  EXPECT_EQ(run.words, (std::vector<uint32_t>{0x22221111, 0x11112222, 5, 0x11112222}));
}

/// A warp's loads of 4 bytes, `stride` bytes apart.
Counters stridedLoad(uint32_t stride, const char *space) {
  std::string shared = ".shared .align 128 .b8 box[8192];\n";
  std::string address =
      "mov.u32 %r0, %tid.x; mul.lo.u32 %r1, %r0, " + std::to_string(stride) + ";\n";
  std::string body =
      std::string(space) == "shared"
          ? shared + address + "st.shared.u32 [%r1], %r0;"
          : "ld.param.u64 %d0, [data];\n" + address +
                "cvt.u64.u32 %d1, %r1; add.s64 %d2, %d0, %d1; ld.global.u32 %r2, [%d2];";
  return runBody(body, std::vector<uint32_t>(2048), {1, 32}).result.counters;
}

TEST(MemoryForms, SectorsTellCoalescedFromStrided) {
  EXPECT_EQ(stridedLoad(4, "global").globalSectors, 4u);
  EXPECT_EQ(stridedLoad(32, "global").globalSectors, 32u);
  EXPECT_EQ(stridedLoad(0, "global").globalSectors, 1u);
  EXPECT_EQ(stridedLoad(4, "global").globalBytesRead, 128u);
}

TEST(MemoryForms, WavefrontsTellBankConflicts) {
  EXPECT_EQ(stridedLoad(4, "shared").sharedWavefronts, 1u);
  EXPECT_EQ(stridedLoad(8, "shared").sharedWavefronts, 2u);
  EXPECT_EQ(stridedLoad(128, "shared").sharedWavefronts, 32u);
  EXPECT_EQ(stridedLoad(132, "shared").sharedWavefronts, 1u);
}

} // namespace
} // namespace llmc::ptx::test
