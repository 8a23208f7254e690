// SPDX-License-Identifier: Apache-2.0
// `llmc inspect` on the demo model, as it is and with altered tables.
#include "runtime/engine/Inspect.h"
#include "passes/codegen/artifact/Xxh64.h"
#include "test/frontends/Support.h"
#include "test/tools/llmc/DemoModel.h"
#include "test/tools/llmc/Program.h"
#include <gtest/gtest.h>
#include <regex>

namespace llmc::test {
namespace {

const char *weightsOf(const DemoModel &demo) {
  return reinterpret_cast<const char *>(&demo.artifact().weights_delta) +
         demo.artifact().weights_delta;
}

uint64_t hashOf(const char *bytes, uint64_t size) {
  artifact::Xxh64 hash;
  hash.add(bytes, size);
  return hash.value();
}

// The demo's tables hold no hashes; here they do.
void alterHashes(DemoModel &demo) {
  const llmc_artifact &artifact = demo.artifact();
  for (uint32_t i = 0; i < artifact.n_weights; ++i) {
    const llmc_weight &weight = artifact.weights[i];
    demo.alter(weight.hash, hashOf(weightsOf(demo) + weight.offset, weight.bytes));
  }
  demo.alter(artifact.weights_hash, hashOf(weightsOf(demo), artifact.weights_bytes));
}

TEST(Inspect, OverviewHasEveryField) {
  const Outcome outcome = llmc({"inspect", demoPath()});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  for (const char *line :
       {"name +demo", "abi +1",
        "levels +x86-64 for generic \\(used here\\), impossible for generic", "layers +2",
        "hidden +16", "vocabulary +40", "max positions +1000 tokens", "max sequences +8", "eos +39",
        "graphs +prefill 8 commands, decode 8 commands, verify 9",
        "kernels +6\n  embed\n  project\n", "caches +2\n  layers.0 to layers.1: f32, 1 heads",
        "weights +6, 13.0 KiB \\(13312 bytes\\), inside", "rows arena +192 bytes \\* max_rows",
        "outputs arena +256 bytes \\* max_outputs", "kv +16384 bytes \\* chunks of 64 tokens"})
    EXPECT_TRUE(std::regex_search(outcome.out, std::regex(std::string("(^|\n)") + line)))
        << line << "\n"
        << outcome.out;
}

TEST(Inspect, SessionBytesAreExact) {
  const Outcome outcome = llmc({"inspect", demoPath()});
  std::smatch found;
  ASSERT_TRUE(std::regex_search(outcome.out, found,
                                std::regex("session .*\\((\\d+) bytes\\) for 1 sequence of 1000")));
  // The same question, asked of the engine with as many threads.
  tool::ModelOptions options;
  options.path = demoPath();
  Result<tool::LoadedModel> loaded = tool::loadModel(options, nullptr);
  ASSERT_TRUE(loaded);
  llmc_session_options sizes = {};
  sizes.struct_size = sizeof sizes;
  sizes.max_sequences = 1;
  sizes.max_tokens = 1000;
  uint64_t bytes = 0;
  ASSERT_EQ(llmc_session_bytes(loaded->model.get(), &sizes, &bytes, nullptr), LLMC_OK);
  EXPECT_EQ(found[1], std::to_string(bytes));
}

TEST(Inspect, CommandTableShowsGridChunkDependencyAndOperands) {
  const Outcome outcome = llmc({"inspect", demoPath(), "--commands", "decode"});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_TRUE(std::regex_search(outcome.out,
                                std::regex("\n1 +layers.0.qkv +project +rows x 3 +4 +0 +rows\\+0 "
                                           "weight:layers.0.q\\+k\\+v rows\\+64 kv:layers.0\n")))
      << outcome.out;
  EXPECT_FALSE(contains(outcome.out, "accept")); // verify has it
}

TEST(Inspect, WeightsAndManifest) {
  const Outcome outcome = llmc({"inspect", demoPath(), "--weights", "--manifest"});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_TRUE(std::regex_search(outcome.out,
                                std::regex("\nlayers.1.o +rows<f32> +16 +16 +9728 +1024 +0{16}\n")))
      << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "{\"model\": \"demo\"}\n"));
}

TEST(Inspect, VerifyAcceptsWeightsThatHaveTheirHashes) {
  TemporaryFolder folder;
  DemoModel demo;
  alterHashes(demo);
  demo.writeCopy(folder.file("m.so"));
  const Outcome outcome = llmc({"inspect", folder.file("m.so"), "--verify"});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "verified: 6 weights")) << outcome.out;
}

TEST(Inspect, VerifyNamesTheFirstWeightWithAnotherBit) {
  TemporaryFolder folder;
  for (const uint32_t damaged : {0u, 3u, 5u}) {
    DemoModel demo;
    alterHashes(demo);
    const llmc_weight &weight = demo.artifact().weights[damaged];
    const char &byte = weightsOf(demo)[weight.offset + weight.bytes - 1];
    demo.alter(byte, static_cast<char>(byte ^ 1));
    demo.writeCopy(folder.file("m.so"));
    const Outcome outcome = llmc({"inspect", folder.file("m.so"), "--verify"});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_TRUE(contains(outcome.error, "m.so: weight " + std::string(weight.name) +
                                            ": error: found bytes of hash "))
        << outcome.error;
  }
}

TEST(Inspect, ProcessorThatIsTooOldIsAnError) {
  const Outcome outcome = llmc({"inspect", demoPath("demo_weak_cpu")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.error, "error: found a processor without")) << outcome.error;
}

} // namespace
} // namespace llmc::test
