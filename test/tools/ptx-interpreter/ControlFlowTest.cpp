// SPDX-License-Identifier: Apache-2.0
// Branches, divergence and meeting again, predication, shuffles, votes, barriers.
#include "test/tools/ptx-interpreter/Support.h"

namespace llmc::ptx::test {
namespace {

const std::string ownWord =
    "ld.param.u64 %d0, [data]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4;\n"
    "add.s64 %d0, %d0, %d1;\n";

std::vector<uint32_t> perThread(const std::string &body, uint32_t threads = 32) {
  BodyRun run = runBody(ownWord + body + "st.global.u32 [%d0], %r1;",
                        std::vector<uint32_t>(threads), {1, threads});
  EXPECT_TRUE(run.result.clean()) << run.loadError << run.result.error;
  return run.words;
}

TEST(ControlFlow, EachLaneLoopsItsOwnNumberOfTimes) {
  std::vector<uint32_t> words =
      perThread("mov.u32 %r1, 0; mov.u32 %r2, 0;\n"
                "LOOP: setp.ge.u32 %p0, %r2, %r0; @%p0 bra DONE;\n"
                "add.u32 %r1, %r1, %r2; add.u32 %r2, %r2, 1; bra.uni LOOP;\nDONE:\n");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(words[lane], lane * (lane - 1) / 2);
}

TEST(ControlFlow, PredicatesGuardSingleInstructions) {
  std::vector<uint32_t> words =
      perThread("setp.lt.u32 %p0, %r0, 3; mov.u32 %r1, 1; @!%p0 mov.u32 %r1, 2;\n");
  EXPECT_EQ(words[2], 1u);
  EXPECT_EQ(words[3], 2u);
}

TEST(ControlFlow, ScopesHaveTheirOwnRegistersAndLabels) {
  std::vector<uint32_t> words =
      perThread("mov.u32 %r1, 5;\n"
                "{ .reg .b32 %r1; mov.u32 %r1, 7; bra AGAIN; mov.u32 %r1, 8; AGAIN: }\n"
                "{ bra AGAIN; add.u32 %r1, %r1, 100; AGAIN: add.u32 %r1, %r1, 1; }\n");
  EXPECT_EQ(words[0], 6u);
}

TEST(ControlFlow, ShufflesReadTheRightLane) {
  EXPECT_EQ(perThread("shfl.sync.bfly.b32 %r1, %r0, 5, 31, -1;\n")[8], 13u);
  EXPECT_EQ(perThread("shfl.sync.down.b32 %r1, %r0, 4, 31, -1;\n")[3], 7u);
  EXPECT_EQ(perThread("shfl.sync.down.b32 %r1, %r0, 4, 31, -1;\n")[30], 30u)
      << "out of range keeps its own";
  EXPECT_EQ(perThread("shfl.sync.up.b32 %r1, %r0, 4, 0, -1;\n")[9], 5u);
  EXPECT_EQ(perThread("shfl.sync.up.b32 %r1, %r0, 4, 0, -1;\n")[2], 2u);
  EXPECT_EQ(perThread("shfl.sync.idx.b32 %r1, %r0, 6, 31, -1;\n")[20], 6u);
  // Segments of 8 lanes: mask 24 in bits 8..12.
  EXPECT_EQ(perThread("shfl.sync.idx.b32 %r1, %r0, 1, 0x181f, -1;\n")[20], 17u);
  EXPECT_EQ(perThread("shfl.sync.down.b32 %r1, %r0, 4, 0x181f, -1;\n")[13], 13u);
  std::vector<uint32_t> inRange =
      perThread("shfl.sync.down.b32 %r2|%p0, %r0, 1, 31, -1; selp.u32 %r1, 1, 0, %p0;\n");
  EXPECT_EQ(inRange[30], 1u);
  EXPECT_EQ(inRange[31], 0u);
}

TEST(ControlFlow, ASumByShufflesIsRightAndAWrongDistanceIsNot) {
  auto sum = [](const std::string &distances) {
    std::string body = "mov.u32 %r1, %r0;\n";
    for (char distance : distances)
      body += "shfl.sync.bfly.b32 %r2, %r1, " + std::to_string(int(distance)) +
              ", 31, -1; add.u32 %r1, %r1, %r2;\n";
    return perThread(body)[0];
  };
  EXPECT_EQ(sum({16, 8, 4, 2, 1}), 496u);
  EXPECT_NE(sum({16, 8, 4, 4, 1}), 496u);
}

TEST(ControlFlow, VotesAndActiveMask) {
  EXPECT_EQ(perThread("setp.lt.u32 %p0, %r0, 4; vote.sync.ballot.b32 %r1, %p0, -1;\n")[9], 15u);
  std::string end = " selp.u32 %r1, 1, 0, %p1;\n";
  EXPECT_EQ(perThread("setp.lt.u32 %p0, %r0, 4; vote.sync.any.pred %p1, %p0, -1;" + end)[9], 1u);
  EXPECT_EQ(perThread("setp.lt.u32 %p0, %r0, 4; vote.sync.all.pred %p1, %p0, -1;" + end)[9], 0u);
  EXPECT_EQ(perThread("setp.lt.u32 %p0, %r0, 4; vote.sync.uni.pred %p1, !%p0, -1;" + end)[9], 0u);
  EXPECT_EQ(perThread("mov.u32 %r1, 0; setp.lt.u32 %p0, %r0, 4; @%p0 activemask.b32 %r1;\n")[1],
            15u);
}

TEST(ControlFlow, LaneMasks) {
  const std::pair<const char *, uint32_t> masks[] = {
      {"eq", 0x80000000}, {"le", 0xffffffff}, {"lt", 0x7fffffff}, {"ge", 0x80000000}, {"gt", 0}};
  for (auto [name, last] : masks)
    EXPECT_EQ(perThread(std::string("mov.u32 %r1, %lanemask_") + name + ";\n")[31], last) << name;
  EXPECT_EQ(perThread("mov.u32 %r1, %lanemask_gt;\n")[3], 0xfffffff0u);
}

TEST(ControlFlow, LanesThatComeLateAreWaitedFor) {
  // Odd lanes take a detour placed behind the shuffle in the text, as compilers place cold blocks.
  std::vector<uint32_t> words =
      perThread("mov.u32 %r2, %r0; and.b32 %r3, %r0, 1; setp.eq.u32 %p0, %r3, 1;\n"
                "@%p0 bra COLD;\n"
                "MEET: shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1; bra END;\n"
                "COLD: add.u32 %r2, %r2, 100; bra MEET;\nEND:\n");
  EXPECT_EQ(words[0], 101u);
  EXPECT_EQ(words[1], 0u);
}

TEST(ControlFlow, HalfWarpsShuffleUnderTheirOwnMasks) {
  std::vector<uint32_t> words =
      perThread("setp.lt.u32 %p0, %r0, 16; @%p0 bra LOW;\n"
                "shfl.sync.idx.b32 %r1, %r0, 31, 31, 0xffff0000; bra END;\n"
                "LOW: shfl.sync.idx.b32 %r1, %r0, 2, 31, 0xffff;\nEND: bar.warp.sync -1;\n");
  EXPECT_EQ(words[0], 2u);
  EXPECT_EQ(words[16], 31u);
}

TEST(ControlFlow, LanesThatLeftAreNotWaitedFor) {
  BodyRun run =
      runBody(ownWord + "setp.ge.u32 %p0, %r0, 20; @%p0 bra OUT; bar.sync 0; mov.u32 %r1, 1;\n"
                        "st.global.u32 [%d0], %r1;\nOUT:",
              std::vector<uint32_t>(32), {1, 32});
  EXPECT_TRUE(run.result.clean()) << run.result.error;
  EXPECT_EQ(run.words[19], 1u);
  EXPECT_EQ(run.words[20], 0u);
}

TEST(ControlFlow, SpecialRegistersInThreeDimensions) {
  Machine machine;
  std::string error;
  LoadedModule *module = machine.load(
      kernelText(
          "ld.param.u64 %d0, [data];\n"
          "mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z; mov.u32 %r3, %ctaid.y;\n"
          "mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mov.u32 %r6, %ntid.z; mov.u32 %r7, "
          "%nctaid.y;\n"
          "mad.lo.u32 %r8, %r2, %r5, %r1; mad.lo.u32 %r8, %r8, %r4, %r0; mul.lo.u32 %r9, %r4, "
          "%r5;\n"
          "mul.lo.u32 %r9, %r9, %r6; mad.lo.u32 %r8, %r3, %r9, %r8; mul.wide.u32 %d1, %r8, 4;\n"
          "add.s64 %d0, %d0, %d1; mad.lo.u32 %r10, %r7, 1000, %r8; st.global.u32 [%d0], %r10;"),
      "test.ptx", error);
  ASSERT_TRUE(module) << error;
  uint64_t data = machine.memory().allocate(2 * 3 * 4 * 5 * 4);
  std::vector<uint8_t> parameters;
  const Kernel &kernel = module->module.kernels.front();
  ASSERT_TRUE(packParameters(kernel, {data}, parameters, error));
  LaunchShape shape{{1, 5, 1}, {2, 3, 4}, 0};
  EXPECT_TRUE(machine.launch(*module, kernel, shape, parameters).clean());
  std::vector<uint32_t> words(120);
  ASSERT_TRUE(machine.memory().read(data, words.data(), 480));
  for (uint32_t index = 0; index < 120; ++index)
    ASSERT_EQ(words[index], 5000 + index);
}

} // namespace
} // namespace llmc::ptx::test
