// SPDX-License-Identifier: Apache-2.0
// Objects and archives: two models in one program by each linker at hand, and instrumented models.
#include "test/passes/codegen/artifact/ElfView.h"
#include "test/passes/codegen/artifact/OpenedModel.h"
#include "test/passes/codegen/artifact/ToyModel.h"
#include <array>
#include <gtest/gtest.h>

using namespace llmc::artifact;
using namespace llmc::artifact::test;

namespace {

// What a command prints, and its exit code.
std::pair<int, std::string> run(const std::string &command) {
  std::string output;
  FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> piece;
  while (size_t size = fread(piece.data(), 1, piece.size(), pipe))
    output.append(piece.data(), size);
  return {pclose(pipe), output};
}

class LinkedTest : public testing::Test {
protected:
  void write(const std::string &file, const std::string &name, const ToyWeights &source,
             bool instrumented = false) {
    ArtifactRequest request{tables, source};
    request.levels = instrumented ? std::vector<Level>{toyThreadSanitizerLevel()} : toyLevels();
    request.path = folder.path(file);
    request.kind = *kindOf(request.path);
    request.name = name;
    if (instrumented)
      request.executor = threadSanitizerExecutorObject();
    request.allowUndefined = instrumented;
    llmc::Result<ArtifactSummary> result = writeArtifact(request);
    ASSERT_TRUE(result.ok()) << result.error().str();
  }

  std::string linkCommand(const std::string &flags, const std::string &files) {
    return TEST_C_COMPILER " -std=c11 -D_DEFAULT_SOURCE -I" TEST_INCLUDE " " + flags + " -o " +
           folder.path("program") + " " TEST_FOLDER "/two_models.c " + files;
  }

  std::string expected() {
    std::string text;
    for (const ToyWeights *source : {&alpha, &beta}) {
      std::vector<float> logits = expectedLogits(*source, {4, 0, 10});
      for (size_t i = logits.size() - TOY_VOCABULARY; i < logits.size(); ++i) {
        char number[64];
        snprintf(number, sizeof number, "%a ", double(logits[i]));
        text += number;
      }
    }
    return text;
  }

  TestFolder folder;
  Tables tables = toyTables();
  ToyWeights alpha{1}, beta{2};
};

TEST_F(LinkedTest, TwoModelsInOneProgram) {
  write("alpha.o", "alpha", alpha);
  write("beta.a", "beta", beta);
  int linkers = 0;
  for (const char *flags :
       {"", "-fuse-ld=bfd -no-pie", "-fuse-ld=lld", "-fuse-ld=lld -static-pie -Wl,--gc-sections"}) {
    if (run(std::string("echo 'int main(void) { return 0; }' | " TEST_C_COMPILER " ") + flags +
            " -x c - -o " + folder.path("probe"))
            .first)
      continue; // this linker is not installed
    ++linkers;
    auto [status, messages] =
        run(linkCommand(flags, folder.path("alpha.o") + " " + folder.path("beta.a")));
    ASSERT_EQ(status, 0) << flags << ": " << messages;
    EXPECT_EQ(run(folder.path("program")), std::make_pair(0, expected())) << flags;
  }
  EXPECT_GT(linkers, 0);
}

TEST_F(LinkedTest, ObjectsShowTheirQueryAlone) {
  write("alpha.o", "alpha", alpha);
  auto [status, symbols] = run("nm --extern-only --format=just-symbols " + folder.path("alpha.o"));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(symbols, "alpha_llmc_query\n");
}

TEST_F(LinkedTest, ArchivesAreDeterministicAndReadable) {
  write("beta.a", "beta", beta);
  const std::string first = readFile(folder.path("beta.a"));
  write("beta.a", "beta", beta);
  EXPECT_TRUE(readFile(folder.path("beta.a")) == first);
  EXPECT_EQ(run("ar t " + folder.path("beta.a")), std::make_pair(0, std::string("model.o\n")));
  EXPECT_NE(
      run("nm --print-armap " + folder.path("beta.a")).second.find("beta_llmc_query in model.o"),
      std::string::npos);
}

TEST_F(LinkedTest, SharedObjectTakesTheName) {
  write("named.so", "alpha", alpha);
  EXPECT_EQ(ElfView(folder.path("named.so")).exported,
            std::vector<std::string>{"alpha_llmc_query"});
  EXPECT_EQ(OpenedModel(folder.path("named.so"), "alpha_llmc_query").logits({4, 0, 10}),
            expectedLogits(alpha, {4, 0, 10}));
}

TEST_F(LinkedTest, InstrumentedModelsRunUnderThreadSanitizer) {
  write("alpha.o", "alpha", alpha, /*instrumented=*/true);
  write("beta.o", "beta", beta, /*instrumented=*/true);
  write("model.so", "", alpha, /*instrumented=*/true);
  const std::vector<std::string> undefined = ElfView(folder.path("model.so")).undefined;
  EXPECT_FALSE(undefined.empty());
  for (const std::string &symbol : undefined)
    EXPECT_EQ(symbol.compare(0, 7, "__tsan_"), 0) << symbol;
  auto [status, messages] =
      run(linkCommand("-fsanitize=thread", folder.path("alpha.o") + " " + folder.path("beta.o")));
  ASSERT_EQ(status, 0) << messages;
  EXPECT_EQ(run(folder.path("program")), std::make_pair(0, expected()));
}

} // namespace
