// SPDX-License-Identifier: Apache-2.0
// Each check barks at a planted fault and stays quiet without it.
#include "test/tools/ptx-interpreter/Support.h"

namespace llmc::ptx::test {
namespace {

const std::string ownWord =
    "ld.param.u64 %d0, [data]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4;\n"
    "add.s64 %d2, %d0, %d1;\n";

/// Threads of two warps pass words through shared memory, each reading what the other warp wrote.
std::string exchange(const std::string &firstBarrier, const std::string &secondBarrier) {
  return ".shared .align 4 .b8 box[256];\n" + ownWord +
         "shl.b32 %r1, %r0, 2; mov.u32 %r2, box; add.u32 %r1, %r1, %r2; xor.b32 %r3, %r1, 128;\n"
         "st.shared.u32 [%r1], %r0;\n" +
         firstBarrier + "ld.shared.u32 %r4, [%r3]; st.global.u32 [%d2], %r4;\n" + secondBarrier +
         "st.shared.u32 [%r1], %r0;\n";
}

TEST(Checkers, SharedMemoryWithBarriersIsClean) {
  BodyRun run =
      runBody(exchange("bar.sync 0;\n", "bar.sync 0;\n"), std::vector<uint32_t>(64), {1, 64});
  EXPECT_TRUE(run.result.clean()) << run.result.error;
  EXPECT_EQ(run.words[3], 35u);
}

TEST(Checkers, RemovedBarrierIsARace) {
  BodyRun before = runBody(exchange("", "bar.sync 0;\n"), std::vector<uint32_t>(64), {1, 64});
  EXPECT_TRUE(before.found(ReportKind::SharedReadAfterWrite) ||
              before.found(ReportKind::SharedWriteAfterRead));
  BodyRun after = runBody(exchange("bar.sync 0;\n", ""), std::vector<uint32_t>(64), {1, 64});
  EXPECT_TRUE(after.found(ReportKind::SharedWriteAfterRead));
  EXPECT_TRUE(after.result.completed) << "a race is told, the launch goes on";
}

TEST(Checkers, TwoWarpsWritingOneSharedByteIsARace) {
  BodyRun run = runBody(".shared .align 4 .b8 box[4];\nmov.u32 %r0, 1; st.shared.u32 [box], %r0;",
                        {0}, {1, 64});
  EXPECT_TRUE(run.found(ReportKind::SharedWriteAfterWrite));
  BodyRun one = runBody(".shared .align 4 .b8 box[4];\nmov.u32 %r0, 1; st.shared.u32 [box], %r0;",
                        {0}, {1, 32});
  EXPECT_TRUE(one.result.clean()) << "within one warp order is given";
}

TEST(Checkers, UninitialisedReads) {
  EXPECT_TRUE(runBody("add.u32 %r1, %r0, 1;", {0}).found(ReportKind::UninitialisedRegister));
  EXPECT_TRUE(runBody("@%p0 mov.u32 %r1, 1;", {0}).found(ReportKind::UninitialisedRegister));
  EXPECT_TRUE(runBody(".shared .align 4 .b8 box[4];\nld.shared.u32 %r0, [box];", {0})
                  .found(ReportKind::UninitialisedShared));
  EXPECT_TRUE(runBody(".local .align 4 .b8 box[4];\nld.local.u32 %r0, [box];", {0})
                  .found(ReportKind::UninitialisedLocal));
  const char *load = "ld.param.u64 %d0, [data]; ld.global.u32 %r0, [%d0+4];";
  EXPECT_TRUE(runBody(load, {0, 0}, {1, 1, 1}).found(ReportKind::UninitialisedGlobal));
  EXPECT_TRUE(runBody(load, {0, 0}, {1, 1, 2}).result.clean());
}

TEST(Checkers, UndefinedValuesMayBeCopiedButNotUsed) {
  EXPECT_TRUE(runBody("mov.u32 %r1, %r0;", {0}).result.clean());
  EXPECT_TRUE(runBody("mov.u32 %r1, %r0; add.u32 %r2, %r1, 1;", {0})
                  .found(ReportKind::UninitialisedRegister));
  EXPECT_TRUE(runBody("mov.u32 %r1, 1; setp.eq.u32 %p0, %r1, 1; selp.u32 %r2, %r1, %r0, %p0;", {0})
                  .result.clean())
      << "the side of a selp that is not chosen may be undefined";
}

TEST(Checkers, HalvesAreUndefinedEachOnItsOwn) {
  std::string pack = "mov.u16 %h0, 7; mov.b32 %r0, {%h0, %h1}; mov.b32 %r1, %r0;\n"
                     "mov.b32 {%h2, %h3}, %r1;\n";
  EXPECT_TRUE(runBody(pack + "add.u16 %h4, %h2, 1;", {0}).result.clean());
  EXPECT_TRUE(runBody(pack + "add.u16 %h4, %h3, 1;", {0}).found(ReportKind::UninitialisedRegister));
  EXPECT_TRUE(runBody(pack + "add.u32 %r2, %r1, 1;", {0}).found(ReportKind::UninitialisedRegister))
      << "a half that is undefined makes the whole undefined";
  EXPECT_TRUE(runBody(pack + "mov.b32 %r1, 0; add.u32 %r2, %r1, 1;", {0}).result.clean());
  std::string wide = "mov.u32 %r0, 7; mov.b64 %d0, {%r1, %r0}; mov.b64 {%r2, %r3}, %d0;\n";
  EXPECT_TRUE(runBody(wide + "add.u32 %r4, %r3, 1;", {0}).result.clean());
  EXPECT_TRUE(runBody(wide + "add.u32 %r4, %r2, 1;", {0}).found(ReportKind::UninitialisedRegister));
}

TEST(Checkers, RegistersWrittenByOneLaneAreUnwrittenInOthers) {
  std::string body = "mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; @%p0 mov.u32 %r1, 1;\n";
  EXPECT_TRUE(runBody(body + "@%p0 add.u32 %r2, %r1, 1;", {0}, {1, 32}).result.clean());
  EXPECT_TRUE(runBody(body + "add.u32 %r2, %r1, 1;", {0}, {1, 32})
                  .found(ReportKind::UninitialisedRegister));
}

TEST(Checkers, OutOfBoundsEndsTheLaunchAndNamesThePlace) {
  BodyRun run = runBody("ld.param.u64 %d0, [data];\nld.global.u32 %r0, [%d0+8];", {0, 0});
  EXPECT_TRUE(run.found(ReportKind::OutOfBounds));
  EXPECT_FALSE(run.result.completed);
  EXPECT_NE(
      run.result.error.find("test.ptx:11: error: in kernel 'k': out-of-bounds: 'ld.global.u32'"),
      std::string::npos)
      << run.result.error;
  EXPECT_NE(run.result.error.find("is byte 8 of the buffer at"), std::string::npos)
      << run.result.error;
  EXPECT_TRUE(
      runBody("mov.u64 %d0, 64; ld.global.u32 %r0, [%d0];", {0}).found(ReportKind::OutOfBounds));
  EXPECT_TRUE(
      runBody(".shared .align 4 .b8 box[4];\nmov.u32 %r0, 1; st.shared.u32 [box+4], %r0;", {0})
          .found(ReportKind::OutOfBounds));
  EXPECT_TRUE(runBody(".local .align 4 .b8 box[4];\nld.local.u32 %r0, [box+-4];", {0})
                  .found(ReportKind::OutOfBounds));
  EXPECT_TRUE(runBody("ld.param.u64 %d0, [data+8];", {0}).found(ReportKind::OutOfBounds));
  EXPECT_TRUE(runBody("mov.u64 %d0, 0xfffffffffffffffc; ld.global.u32 %r0, [%d0];", {0})
                  .found(ReportKind::OutOfBounds));
}

TEST(Checkers, Misalignment) {
  BodyRun run =
      runBody("ld.param.u64 %d0, [data]; ld.global.v2.u32 {%r0, %r1}, [%d0+4];", {0, 0, 0, 0});
  EXPECT_TRUE(run.found(ReportKind::Misaligned));
  EXPECT_FALSE(run.result.completed);
}

TEST(Checkers, BlocksTouchingTheSameBytes) {
  const std::string block =
      "ld.param.u64 %d0, [data]; mov.u32 %r0, %ctaid.x; mul.wide.u32 %d1, %r0, 4;\n"
      "add.s64 %d2, %d0, %d1;\n";
  std::vector<uint32_t> words(5);
  EXPECT_TRUE(runBody(block + "ld.global.u32 %r1, [%d2]; st.global.u32 [%d2], %r1;", words, {4, 1})
                  .result.clean());
  EXPECT_TRUE(runBody(block + "ld.global.u32 %r1, [%d0];", words, {4, 1}).result.clean())
      << "all may read";
  EXPECT_TRUE(runBody(block + "st.global.u32 [%d0], %r0;", words, {4, 1})
                  .found(ReportKind::BlocksWriteAfterWrite));
  EXPECT_TRUE(runBody(block + "st.global.u32 [%d2], %r0; ld.global.u32 %r1, [%d0];", words, {4, 1})
                  .found(ReportKind::BlocksReadAfterWrite));
  EXPECT_TRUE(
      runBody(block + "ld.global.u32 %r1, [%d2+4]; st.global.u32 [%d2], %r0;", words, {4, 1})
          .found(ReportKind::BlocksWriteAfterRead));
  // The first reader is not forgotten when the writing block has read too.
  EXPECT_TRUE(
      runBody(
          block +
              "ld.global.u32 %r1, [%d0]; setp.eq.u32 %p0, %r0, 3; @%p0 st.global.u32 [%d0], %r0;",
          words, {4, 1})
          .found(ReportKind::BlocksWriteAfterRead));
  // Halves of one word by two blocks are no race.
  EXPECT_TRUE(runBody("ld.param.u64 %d0, [data]; mov.u32 %r0, %ctaid.x; mul.wide.u32 %d1, %r0, 2;\n"
                      "add.s64 %d2, %d0, %d1; st.global.b16 [%d2], %r0;",
                      words, {4, 1})
                  .result.clean());
}

TEST(Checkers, LaunchesDoNotRaceWithEachOther) {
  Machine machine;
  std::string error;
  LoadedModule *module = machine.load(
      kernelText("ld.param.u64 %d0, [data]; mov.u32 %r0, 1; st.global.u32 [%d0], %r0;"), "t.ptx",
      error);
  ASSERT_TRUE(module) << error;
  uint64_t data = machine.memory().allocate(4);
  std::vector<uint8_t> parameters;
  ASSERT_TRUE(packParameters(module->module.kernels[0], {data}, parameters, error));
  for (int launch = 0; launch < 3; ++launch)
    EXPECT_TRUE(machine.launch(*module, module->module.kernels[0], {}, parameters).clean());
}

TEST(Checkers, RunawayLoopSpendsTheBudget) {
  BodyRun run = runBody("AGAIN: bra AGAIN;", {0}, {1, 1, SIZE_MAX, 5000});
  EXPECT_TRUE(run.found(ReportKind::BudgetSpent));
  EXPECT_FALSE(run.result.completed);
  EXPECT_EQ(run.result.counters.instructions, 5000u);
}

TEST(Checkers, WaitingForAWriteThatCannotComeSpendsTheBudget) {
  BodyRun run =
      runBody(".shared .align 4 .b8 flag[4];\nmov.u32 %r0, %tid.x; mov.u32 %r1, 0; setp.lt.u32 "
              "%p0, %r0, 32;\n"
              "st.shared.u32 [flag], %r1;\n@!%p0 bra SET;\n"
              "SPIN: ld.volatile.shared.u32 %r2, [flag]; setp.eq.u32 %p1, %r2, 0; @%p1 bra SPIN;\n"
              "SET: mov.u32 %r1, 1; st.shared.u32 [flag], %r1;",
              {0}, {1, 64, SIZE_MAX, 5000});
  EXPECT_TRUE(run.found(ReportKind::BudgetSpent));
}

TEST(Checkers, CollectivesReachedByPartOfAWarp) {
  std::string half = "mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 16;\n";
  EXPECT_TRUE(runBody(half + "@%p0 bra SKIP; bar.sync 0;\nSKIP: bar.sync 1;", {0}, {1, 32})
                  .found(ReportKind::PartialWarp));
  EXPECT_TRUE(runBody(half + "@%p0 bar.sync 0;", {0}, {1, 32}).found(ReportKind::PartialWarp));
  EXPECT_TRUE(runBody(half + "@%p0 shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;", {0}, {1, 32})
                  .found(ReportKind::PartialWarp));
  EXPECT_TRUE(runBody(half + "shfl.sync.bfly.b32 %r1, %r0, 1, 31, 0xffff;", {0}, {1, 32})
                  .found(ReportKind::PartialWarp));
  EXPECT_TRUE(runBody(half + "@%p0 shfl.sync.bfly.b32 %r1, %r0, 1, 31, 0xffff;", {0}, {1, 32})
                  .result.clean());
}

TEST(Checkers, ShuffleFromALaneThatDoesNotTakePart) {
  BodyRun run =
      runBody("mov.u32 %r0, %tid.x; shfl.sync.bfly.b32 %r1, %r0, 16, 31, -1;", {0}, {1, 20});
  EXPECT_TRUE(run.found(ReportKind::ShuffleFromAbsentLane));
}

TEST(Checkers, WarpsAtDifferentBarriers) {
  BodyRun run =
      runBody("mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 32; @%p0 bra LOW; bar.sync 1; bra END;\n"
              "LOW: bar.sync 2;\nEND:",
              {0}, {1, 64});
  EXPECT_TRUE(run.found(ReportKind::BarrierMismatch));
  EXPECT_TRUE(runBody("bar.sync 1, 32;", {0}, {1, 64}).found(ReportKind::BarrierMismatch));
  EXPECT_TRUE(runBody("bar.sync 1, 64;", {0}, {1, 64}).result.clean());
}

TEST(Checkers, TrapAndRunningPastTheEnd) {
  EXPECT_TRUE(runBody("trap;", {0}).found(ReportKind::Trapped));
  Machine machine;
  std::string error;
  LoadedModule *module = machine.load(
      ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { .reg .b32 %a; mov.u32 %a, 1; }",
      "t.ptx", error);
  ASSERT_TRUE(module) << error;
  LaunchResult result = machine.launch(*module, module->module.kernels[0], {}, {});
  EXPECT_FALSE(result.completed);
  ASSERT_EQ(result.reports.size(), 1u);
  EXPECT_EQ(result.reports[0].kind, ReportKind::PastTheEnd);
}

TEST(Checkers, FindingsAreCountedOncePerPlace) {
  BodyRun run = runBody("mov.u32 %r3, 0;\nLOOP: add.u32 %r1, %r0, 1; add.u32 %r3, %r3, 1;\n"
                        "setp.lt.u32 %p0, %r3, 10; @%p0 bra LOOP;",
                        {0});
  ASSERT_EQ(run.result.reports.size(), 1u);
  EXPECT_EQ(run.result.reports[0].count, 10u);
}

TEST(Checkers, LaunchesOfAWrongShapeAreRefused) {
  Machine machine;
  std::string error;
  LoadedModule *module = machine.load(
      ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u32 n) .reqntid 64 { ret; }",
      "t.ptx", error);
  ASSERT_TRUE(module) << error;
  const Kernel &kernel = module->module.kernels[0];
  auto refusal = [&](LaunchShape shape, size_t bytes = 4) {
    LaunchResult result = machine.launch(*module, kernel, shape, std::vector<uint8_t>(bytes));
    EXPECT_EQ(result.refused, !result.error.empty());
    return result.error;
  };
  EXPECT_EQ(refusal({{1, 1, 1}, {64, 1, 1}, 0}), "");
  EXPECT_NE(refusal({{1, 1, 1}, {32, 1, 1}, 0}).find("expected the kernel's .reqntid 64,1,1"),
            std::string::npos);
  EXPECT_NE(refusal({{1, 1, 1}, {65536, 65536, 1}, 0}).find("expected 1 to 1024 threads"),
            std::string::npos);
  EXPECT_NE(refusal({{1, 0, 1}, {64, 1, 1}, 0}).find("grid 1,0,1"), std::string::npos);
  EXPECT_NE(refusal({{1, 1, 1}, {64, 1, 1}, 300000}).find("shared memory of 300000 bytes"),
            std::string::npos);
  EXPECT_NE(refusal({{1, 1, 1}, {64, 1, 1}, 0}, 8).find("parameters of 8 bytes, expected 4"),
            std::string::npos);
}

} // namespace
} // namespace llmc::ptx::test
