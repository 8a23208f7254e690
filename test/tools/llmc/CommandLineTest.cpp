// SPDX-License-Identifier: Apache-2.0
// Exit codes, help, and which commands go to the compiler.
#include "test/frontends/Support.h"
#include "test/tools/llmc/Program.h"
#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

TEST(CommandLine, WrongUsageIsTwoWithOneLineThatNamesTheMistake) {
  const std::vector<std::pair<std::vector<std::string>, const char *>> cases = {
      {{}, "found no command"},
      {{"walk"}, "walk"},
      {{"run"}, "model"},
      {{"run", demoPath()}, "neither of --prompt, --prompt-file, --prompt-ids"},
      {{"run", demoPath(), "--prompt-ids", "1", "--prompt-ids-file", "f"},
       "both of --prompt-ids and --prompt-ids-file"},
      {{"run", demoPath(), "--prompt-ids", "1", "--prompt", "a"},
       "both of --prompt and --prompt-ids"},
      {{"run", demoPath(), "--prompt-ids", "1", "--chat"},
       "found --chat or --system with --prompt-ids"},
      {{"run", demoPath(), "--chat", "--print-ids"}, "in a conversation"},
      {{"run", demoPath(), "--prompt-ids", "1,x"}, "id 2: found \"x\""},
      {{"run", demoPath(), "--prompt-ids", "1,"}, "id 2: found \"\""},
      {{"run", demoPath(), "--prompt-ids", "1", "--threads", "0"}, "--threads"},
      {{"run", demoPath(), "--prompt-ids", "1", "--max-new-tokens", "-1"}, "--max-new-tokens"},
      {{"run", demoPath(), "--prompt-ids", "1", "--temperature", "cold"}, "expected a number"},
      {{"run", demoPath(), "--prompt-ids", "1", "--temperature", "nan"}, "expected a number of 0"},
      {{"run", demoPath(), "--prompt-ids", "1", "--temperature", "-1"}, "expected a number of 0"},
      {{"run", demoPath(), "--prompt-ids", "1", "--top-k", "5"},
       "found --top-k with temperature 0"},
      {{"run", demoPath(), "--prompt-ids", "1", "--top-p", "0"}, "expected a number above 0"},
      {{"run", demoPath(), "--prompt-ids", "1", "--min-p", "2"}, "expected a number from 0 to 1"},
      {{"run", demoPath(), "--prompt-ids", "1", "--sampler-order", "mine"}, "--sampler-order"},
      {{"run", demoPath(), "--prompt-ids", "1", "--speculate", "magic"}, "--speculate"},
      {{"run", demoPath(), "--prompt-ids", "1", "--top-q", "3"}, "--top-q"},
      {{"bench", demoPath(), "--repeat", "0"}, "--repeat"},
      {{"inspect", demoPath(), "--commands", "backwards"}, "backwards"},
      {{"import"}, "folder"},
      {{"import", "folder"}, "--output"},
  };
  for (const auto &[arguments, expected] : cases) {
    const Outcome outcome = llmc(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.error;
    EXPECT_TRUE(contains(outcome.error, expected)) << outcome.error;
    EXPECT_TRUE(contains(outcome.error, ": error: ")) << outcome.error;
    EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(CommandLine, HelpFitsAScreenAndHasAnExample) {
  for (const char *command : {"run", "eval", "bench", "explain", "inspect", "import"}) {
    const Outcome outcome = llmc({command, "--help"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_TRUE(contains(outcome.out, std::string("\n  llmc ") + command + " ")) << outcome.out;
    // `run` has the most to tell.
    const long most = command == std::string_view("run") ? 32 : 25;
    EXPECT_LE(std::count(outcome.out.begin(), outcome.out.end(), '\n'), most) << outcome.out;
    for (size_t at = 0; at < outcome.out.size();) {
      const size_t end = outcome.out.find('\n', at);
      EXPECT_LE(end - at, 100u) << outcome.out.substr(at, end - at);
      at = end + 1;
    }
  }
}

TEST(CommandLine, HelpListsAllCommands) {
  const Outcome outcome = llmc({"--help"});
  EXPECT_EQ(outcome.code, 0);
  for (const char *command : {"compile", "run", "bench", "explain", "inspect", "import", "compare"})
    EXPECT_TRUE(contains(outcome.out, std::string("\n  ") + command + " ")) << command;
  EXPECT_EQ(llmc({"--version"}).out.rfind("llmc ", 0), 0u);
}

TEST(CommandLine, LlmcIsNotLinkedToTheCompiler) {
  const Outcome outcome = runProgram("/usr/bin/ldd", {LLMC_PROGRAM});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "libc.so")) << outcome.out;
  EXPECT_FALSE(contains(outcome.out, "LLVM")) << outcome.out;
  EXPECT_FALSE(contains(outcome.out, "MLIR")) << outcome.out;
}

class HandOver : public testing::Test {
protected:
  HandOver() { std::filesystem::copy_file(LLMC_PROGRAM, folder.file("llmc")); }

  void addCompiler() {
    folder.write("llmc-compiler", "#!/bin/sh\nprintf '<%s>' \"$@\"\nexit 7\n");
    std::filesystem::permissions(folder.file("llmc-compiler"), std::filesystem::perms::owner_all);
  }
  Outcome run(const std::vector<std::string> &arguments) {
    return runProgram(folder.file("llmc"), arguments);
  }

  TemporaryFolder folder;
};

TEST_F(HandOver, CompilerBesideLlmcGetsAllArgumentsUnchanged) {
  addCompiler();
  const std::vector<std::vector<std::string>> cases = {
      {"compile", "a b", "-o", "", "--emit=tile"},
      {"compile", "--help"},
      {"compare", "m.so", "in"},
      {"run", "in", "--prompt-ids", "1,2", "--reference"},
  };
  for (const std::vector<std::string> &arguments : cases) {
    std::string expected;
    for (const std::string &argument : arguments)
      expected += "<" + argument + ">";
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.out, expected);
    EXPECT_EQ(outcome.code, 7);
  }
}

TEST_F(HandOver, RunWithoutReferenceStaysHere) {
  addCompiler();
  EXPECT_EQ(run({"run", demoPath(), "--prompt-ids", "1"}).code, 0);
}

TEST_F(HandOver, MissingCompilerIsNamed) {
  const Outcome outcome = run({"compile", "in", "-o", "out"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.error, folder.file("llmc-compiler") + ": error: found no program"))
      << outcome.error;
}

} // namespace
} // namespace llmc::test
