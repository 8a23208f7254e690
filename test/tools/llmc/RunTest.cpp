// SPDX-License-Identifier: Apache-2.0
// `llmc run` on the demo model: the ids and logits that the engine gives token by token, whatever
// the options; errors before anything is run.
#include "test/frontends/Support.h"
#include "test/tools/llmc/DemoModel.h"
#include "test/tools/llmc/Program.h"
#include "tools/llmc/JunkMemory.h"
#include "tools/llmc/TokenIds.h"
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

std::vector<std::string> command(const std::string &ids, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"run", demoPath(), "--prompt-ids", ids};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// Longer than two KV chunks of 64.
std::vector<int32_t> longPrompt() {
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < 150; ++i)
    ids.push_back(i * 7 % 40);
  return ids;
}

TEST(Run, LastLineHasTheGreedyIds) {
  const DemoModel demo;
  const Outcome outcome = llmc(command("3,1,2", {"--max-new-tokens", "12"}));
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(outcome.lastLine(), tool::joinIds(demo.greedy({3, 1, 2}, 12)));
}

TEST(Run, CopiedWeightsGiveTheSameIds) {
  const Outcome mapped = llmc({"run", demoPath(), "--prompt-ids", "1,2,3"});
  const Outcome copied = llmc({"run", demoPath(), "--prompt-ids", "1,2,3", "--weights", "copy"});
  EXPECT_EQ(copied.code, 0) << copied.error;
  EXPECT_EQ(copied.lastLine(), mapped.lastLine());
}

TEST(Run, ThirtyTwoNewTokensAreTheDefault) {
  const Outcome outcome = llmc(command("5"));
  EXPECT_EQ(tool::parseIds(outcome.lastLine()).ids.size(), 32u);
}

TEST(Run, NoNewTokensIsAnEmptyLine) {
  const Outcome outcome = llmc(command("1,2", {"--max-new-tokens", "0"}));
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(outcome.out, "\n");
}

TEST(Run, TimesGoToStandardError) {
  const Outcome outcome = llmc(command("1,2", {"--max-new-tokens", "4"}));
  EXPECT_TRUE(contains(outcome.error, "prompt: 2 tokens")) << outcome.error;
  EXPECT_TRUE(contains(outcome.error, "new: 4 tokens")) << outcome.error;
  EXPECT_TRUE(contains(outcome.error, "tok/s")) << outcome.error;
}

TEST(Run, PromptFromAFileOrStandardInput) {
  TemporaryFolder folder;
  folder.write("ids", "3, 1\n2\n");
  const std::string expected = llmc(command("3,1,2")).out;
  EXPECT_EQ(llmc({"run", demoPath(), "--prompt-ids-file", folder.file("ids")}).out, expected);
  EXPECT_EQ(llmc({"run", demoPath(), "--prompt-ids-file", "-"}, "3 1 2").out, expected);
}

TEST(Run, StopsAfterAnEosIdUnlessTold) {
  TemporaryFolder folder;
  DemoModel demo;
  const std::vector<int32_t> greedy = demo.greedy({3, 1, 2}, 8);
  demo.alter(demo.artifact().limits.eos[0], greedy[2]);
  demo.writeCopy(folder.file("m.so"));
  const std::vector<std::string> base = {"run",   folder.file("m.so"), "--prompt-ids",
                                         "3,1,2", "--max-new-tokens",  "8"};
  std::vector<std::string> ignoring = base;
  ignoring.push_back("--ignore-eos");
  EXPECT_EQ(llmc(base).lastLine(), tool::joinIds({greedy[0], greedy[1], greedy[2]}));
  EXPECT_EQ(llmc(ignoring).lastLine(), tool::joinIds(greedy));
}

TEST(Run, LogitsAreNpyOfPromptByVocabulary) {
  TemporaryFolder folder;
  const DemoModel demo;
  const Outcome outcome = llmc(command("3,1,2,9,9", {"--logits-out", folder.file("l.npy")}));
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  const std::string bytes = readFile(folder.file("l.npy"));
  ASSERT_GT(bytes.size(), 10u);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\1\0", 8));
  const size_t start = 10 + static_cast<unsigned char>(bytes[8]) +
                       256 * static_cast<size_t>(static_cast<unsigned char>(bytes[9]));
  EXPECT_EQ(start % 64, 0u);
  EXPECT_TRUE(contains(bytes.substr(0, start),
                       "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 40), }"));
  const std::vector<float> expected = demo.logits({3, 1, 2, 9, 9});
  ASSERT_EQ(bytes.size() - start, expected.size() * sizeof(float));
  EXPECT_EQ(memcmp(&bytes[start], expected.data(), expected.size() * sizeof(float)), 0);
}

TEST(Run, ChunksThreadsAndJunkDoNotChangeABit) {
  TemporaryFolder folder;
  const std::string ids = tool::joinIds(longPrompt());
  const std::string file = folder.file("l.npy");
  const Outcome plain = llmc(command(ids, {"--logits-out", file}));
  ASSERT_EQ(plain.code, 0) << plain.error;
  const std::string logits = readFile(file);
  for (const char *chunk : {"1", "7", "64", "1000"})
    for (const char *threads : {"1", "2"}) {
      std::filesystem::remove(file);
      const Outcome outcome = llmc(command(ids, {"--logits-out", file, "--prefill-chunk", chunk,
                                                 "--threads", threads, "--kv-junk", chunk}));
      EXPECT_EQ(outcome.code, 0) << outcome.error;
      EXPECT_EQ(outcome.out, plain.out) << chunk << " " << threads;
      EXPECT_TRUE(readFile(file) == logits) << chunk << " " << threads;
    }
}

// ---- Sampling and speculation ----

TEST(Run, ASeedGivesTheSameIdsAndAnotherOthers) {
  const std::vector<std::string> warm = {"--temperature",    "1.2", "--top-k",     "20",
                                         "--top-p",          "0.9", "--seed",      "3",
                                         "--max-new-tokens", "40",  "--ignore-eos"};
  const Outcome first = llmc(command("3,1,2", warm));
  EXPECT_EQ(first.code, 0) << first.error;
  std::vector<std::string> threads = warm, other = warm, ordered = warm;
  threads.insert(threads.end(), {"--threads", "1", "--prefill-chunk", "1"});
  EXPECT_EQ(llmc(command("3,1,2", threads)).out, first.out);
  other[7] = "4";
  EXPECT_NE(llmc(command("3,1,2", other)).out, first.out);
  // A temperature before top-p keeps more than one after it.
  ordered[1] = "3";
  ordered[5] = "0.5";
  const std::string hot = llmc(command("3,1,2", ordered)).out;
  ordered.insert(ordered.end(), {"--sampler-order", "llama.cpp"});
  EXPECT_NE(llmc(command("3,1,2", ordered)).out, hot);
}

TEST(Run, PenaltiesChangeGreedyIds) {
  const std::string plain = llmc(command("3,1,2", {"--ignore-eos"})).out;
  for (const char *option : {"--repeat-penalty", "--frequency-penalty", "--presence-penalty"})
    EXPECT_NE(llmc(command("3,1,2", {"--ignore-eos", option, "2.5"})).out, plain) << option;
}

TEST(Run, SpeculationGivesTheSameIds) {
  const std::string ids = tool::joinIds(longPrompt());
  for (const std::vector<std::string> &more :
       {std::vector<std::string>{"--ignore-eos", "--max-new-tokens", "256"},
        {"--ignore-eos", "--max-new-tokens", "256", "--temperature", "0.8", "--top-k", "10"}}) {
    std::vector<std::string> drafting = more;
    drafting.insert(drafting.end(), {"--speculate", "ngram"});
    const Outcome plain = llmc(command(ids, more)), outcome = llmc(command(ids, drafting));
    EXPECT_EQ(outcome.out, plain.out);
    EXPECT_TRUE(contains(outcome.error, "drafts: ")) << outcome.error;
    EXPECT_FALSE(contains(plain.error, "drafts: ")) << plain.error;
  }
}

TEST(Run, ModelWithoutATokenizerNamesItself) {
  TemporaryFolder folder;
  folder.write("prompt", "hello");
  for (const std::vector<std::string> &more :
       {std::vector<std::string>{"--prompt", "hello"}, {"--prompt-file", folder.file("prompt")}}) {
    std::vector<std::string> arguments = {"run", demoPath()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = llmc(arguments);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_TRUE(contains(outcome.error, "demo.so: error: ") && contains(outcome.error, "tokenizer"))
        << outcome.error;
  }
}

TEST(Run, TextsThatCannotBeAreNamed) {
  TemporaryFolder folder;
  folder.write("latin", "caf\xe9 au lait");
  folder.write("empty", "");
  const std::vector<std::pair<std::vector<std::string>, const char *>> cases = {
      {{"--prompt-file", folder.file("latin")},
       "latin: byte 4: error: found 0xe9, expected UTF-8 text"},
      {{"--prompt", "a\xed\xa0\x80"}, "--prompt: byte 2: error: found 0xed"},
      {{"--prompt-file", folder.file("empty")}, "empty: error: found an empty text"},
      {{"--prompt", ""}, "--prompt: error: found an empty text"},
      {{"--prompt-file", "/no/such"}, "/no/such: error: cannot be read"},
  };
  for (const auto &[more, expected] : cases) {
    std::vector<std::string> arguments = {"run", demoPath()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = llmc(arguments);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_TRUE(contains(outcome.error, expected)) << outcome.error;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(Run, JunkMemoryIsFullOfJunkOfItsSeed) {
  tool::JunkMemory first(1), again(1), other(2);
  std::vector<std::string> blocks;
  for (tool::JunkMemory *memory : {&first, &again, &other}) {
    const llmc_allocator allocator = memory->allocator();
    char *block = static_cast<char *>(allocator.allocate(allocator.user, 1001, 64));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
    blocks.emplace_back(block, 1001);
    allocator.release(allocator.user, block, 1001, 64);
  }
  EXPECT_EQ(blocks[0], blocks[1]);
  EXPECT_NE(blocks[0], blocks[2]);
  EXPECT_LT(std::count(blocks[0].begin(), blocks[0].end(), '\0'), 20);
}

TEST(Run, BadRequestsAreNamedBeforeAnythingRuns) {
  const std::vector<std::pair<std::vector<std::string>, const char *>> cases = {
      {command("1,2,40"), "--prompt-ids: id 3: error: found 40, expected 0 to 39"},
      {command("-1"), "--prompt-ids: id 1: error: found -1, expected 0 to 39"},
      {command("99999999999"), "id 1: error: found 99999999999, expected 0 to 39"},
      {command(""), "--prompt-ids: error: found no ids"},
      {command("1", {"--max-new-tokens", "1000"}),
       "found 1 prompt tokens and 1000 new ones, expected at most 1000"},
      {{"run", demoPath(), "--prompt-ids-file", "/no/such"}, "/no/such: error: cannot be read"},
      {{"run", "/no/such.so", "--prompt-ids", "1"}, "/no/such.so: error: "},
      {{"run", DEMO_FOLDER, "--prompt-ids", "1"}, "found a model that is not compiled"},
      {{"run", demoPath("demo_named"), "--prompt-ids", "1"}, "found no function llmc_query"},
      {command("1", {"--logits-out", "/no/such/l.npy"}),
       "/no/such/l.npy: error: cannot be created"},
  };
  for (const auto &[arguments, expected] : cases) {
    const Outcome outcome = llmc(arguments);
    EXPECT_EQ(outcome.code, 1) << expected;
    EXPECT_TRUE(contains(outcome.error, expected)) << outcome.error;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(Run, ControlBytesOfAnIdsFileAreEscaped) {
  TemporaryFolder folder;
  folder.write("ids", "1,\x1b[31m");
  const Outcome outcome = llmc({"run", demoPath(), "--prompt-ids-file", folder.file("ids")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.error, "ids: id 2: error: found \"\\x1B[31m\"")) << outcome.error;
}

TEST(Run, ModelWithAName) {
  EXPECT_EQ(llmc({"run", demoPath("demo_named"), "--name", "small", "--prompt-ids", "1"}).code, 0);
}

TEST(Run, CutShortModelIsAnError) {
  TemporaryFolder folder;
  const std::string whole = readFile(demoPath());
  for (const size_t size : {size_t(0), size_t(10), size_t(64), size_t(4096)}) {
    folder.write("cut.so", whole.substr(0, size));
    const Outcome outcome = llmc({"run", folder.file("cut.so"), "--prompt-ids", "1"});
    EXPECT_EQ(outcome.code, 1) << size;
    EXPECT_TRUE(contains(outcome.error, "cut.so: ") && contains(outcome.error, "error: found "))
        << outcome.error;
  }
}

TEST(Run, FullDiskLeavesNothingBehind) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("disk"));
  // A limit of four blocks on file sizes stands for the disk.
  const std::string ids = tool::joinIds(longPrompt());
  const Outcome outcome = runProgram(
      LLMC_PROGRAM, command(ids, {"--logits-out", folder.file("disk/l.npy")}), "", "ulimit -f 4;");
  EXPECT_EQ(outcome.code, 1) << outcome.error;
  EXPECT_TRUE(contains(outcome.error, "disk/l.npy: error: cannot be written")) << outcome.error;
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("disk")));
}

TEST(Run, FullStandardOutputIsAnError) {
  const Outcome outcome = runProgram(
      "/bin/sh", {"-c", LLMC_PROGRAM " run " + demoPath() + " --prompt-ids 1 >/dev/full"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.error, "standard output: error: ")) << outcome.error;
}

} // namespace
} // namespace llmc::test
