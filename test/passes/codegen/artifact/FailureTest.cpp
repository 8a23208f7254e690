// SPDX-License-Identifier: Apache-2.0
// Whatever goes wrong, the folder is as it was before, and the message says what and where.
#include "passes/codegen/artifact/FilePlan.h"
#include "passes/codegen/artifact/OutputFile.h"
#include "test/passes/codegen/artifact/ToyModel.h"
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llmc::artifact;
using namespace llmc::artifact::test;

namespace {

class FailureTest : public testing::Test {
protected:
  ArtifactRequest request(const std::string &file) {
    ArtifactRequest made{tables, weights};
    made.levels = toyLevels();
    made.path = folder.path(file);
    if (llmc::Result<ArtifactKind> kind = kindOf(made.path))
      made.kind = *kind;
    return made;
  }

  // The request fails with a message that holds `text`, and the folder holds `left`.
  void expectFailure(const ArtifactRequest &made, const std::string &text,
                     const std::vector<std::string> &left = {}) {
    llmc::Result<ArtifactSummary> result = writeArtifact(made);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_NE(result.error().str().find(text), std::string::npos) << result.error().str();
    EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
    EXPECT_EQ(folder.files(), left);
  }

  TestFolder folder;
  Tables tables = toyTables();
  ToyWeights weights;
};

TEST_F(FailureTest, ReadErrorInTheMiddleLeavesNothing) {
  for (const char *file : {"model.so", "model.o", "model.a"})
    for (bool separate : {false, true}) {
      ArtifactRequest made = request(file);
      made.weightsSeparate = separate;
      weights.readsUntilFailure = 2;
      expectFailure(made, "toy: head.b: error: found a disk that cannot be read");
    }
}

TEST_F(FailureTest, AnOlderModelStays) {
  std::ofstream(folder.path("model.so")) << "older";
  weights.readsUntilFailure = 0;
  expectFailure(request("model.so"), "cannot be read", {"model.so"});
  EXPECT_EQ(readFile(folder.path("model.so")), "older");
}

// The file size limit falls to what is already there once the weights are being written, as a disk
// that fills up would do.
TEST_F(FailureTest, DiskFullInTheMiddleLeavesNothing) {
  auto *before = signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  for (bool separate : {false, true}) {
    ArtifactRequest made = request("model.so");
    made.weightsSeparate = separate;
    made.progress = [&](uint64_t, uint64_t) {
      struct rlimit low = limit;
      low.rlim_cur = 100;
      setrlimit(RLIMIT_FSIZE, &low);
    };
    llmc::Result<ArtifactSummary> result = writeArtifact(made);
    setrlimit(RLIMIT_FSIZE, &limit);
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find("File too large"), std::string::npos)
        << result.error().message;
    EXPECT_EQ(folder.files(), std::vector<std::string>{});
  }
  signal(SIGXFSZ, before);
}

// A child process is interrupted while it packs.
TEST_F(FailureTest, InterruptLeavesNothing) {
  const pid_t child = fork();
  if (child == 0) {
    ArtifactRequest made = request("model.so");
    made.removeOnSignal = true;
    made.progress = [](uint64_t, uint64_t) { raise(SIGINT); };
    (void)writeArtifact(made).ok();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  EXPECT_EQ(folder.files(), std::vector<std::string>{});
}

TEST_F(FailureTest, RoomIsCheckedBeforeAnythingIsWritten) {
  llmc::Status disk = checkRoom(folder.path("model.so"), uint64_t(1) << 60, 1);
  ASSERT_FALSE(disk.ok());
  EXPECT_NE(disk.error().message.find(
                "bytes available on its disk, expected at least 1152921504606846976"),
            std::string::npos)
      << disk.error().message;
  struct rlimit limit, low;
  getrlimit(RLIMIT_FSIZE, &limit);
  low = limit;
  low.rlim_cur = 4096;
  setrlimit(RLIMIT_FSIZE, &low);
  llmc::Result<ArtifactSummary> result = writeArtifact(request("model.so"));
  setrlimit(RLIMIT_FSIZE, &limit);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("found a file size limit of 4096 bytes"), std::string::npos)
      << result.error().message;
  EXPECT_EQ(folder.files(), std::vector<std::string>{});
}

TEST_F(FailureTest, MissingKernelIsNamed) {
  for (const char *file : {"model.so", "model.o", "model.a"}) {
    ArtifactRequest made = request(file);
    made.levels[1].prefix = "third_";
    expectFailure(made, made.path + ": link: error: undefined ");
    expectFailure(made, "symbol: third_embed");
  }
}

TEST_F(FailureTest, AnObjectThatIsNoneIsRefused) {
  ArtifactRequest made = request("model.so");
  made.levels[0].objects.push_back(std::string("\177ELF\2\1\1 but not really", 24));
  expectFailure(made, "kernels-0-1.o");
  made.levels[0].objects.clear();
  expectFailure(made, "symbol: base_embed");
  EXPECT_TRUE(writeArtifact(request("model.so")).ok()) << "the linker works afterwards";
}

TEST_F(FailureTest, RequestsThatCannotBeRight) {
  ArtifactRequest named = request("model.so");
  named.name = "9lives";
  expectFailure(named, "--name: error: found '9lives', expected a C identifier");
  named.name = std::string(65, 'a');
  expectFailure(named, "expected a C identifier of at most 64");
  ArtifactRequest empty = request("model.so");
  empty.levels.clear();
  expectFailure(empty, "found 0 instruction set levels");
  expectFailure(request("no-such-folder/model.so"), "no-such-folder");
  ArtifactRequest unclear = request("model.so");
  unclear.manifest.cost = "{";
  expectFailure(unclear, "manifest: cost: error: found text that is not JSON");
  tables.weights[0].sources = {"elsewhere"};
  expectFailure(request("model.so"), "found no tensor 'elsewhere'");
}

TEST_F(FailureTest, AFolderIsNotReplaced) {
  std::filesystem::create_directory(folder.path("model.so"));
  expectFailure(request("model.so"), "found something that is not a file", {"model.so"});
}

TEST_F(FailureTest, OtherEndingsAreRefused) {
  for (const char *path : {"model", "model.dll", ".so", "model.so.gz"})
    EXPECT_FALSE(kindOf(path).ok()) << path;
}

TEST_F(FailureTest, FilePlansRefuseWhatNoLinkerOfOursWrites) {
  EXPECT_FALSE(planSharedObject("not an ELF file", 64).ok());
  EXPECT_FALSE(planObject(std::string(64, '\0'), 64).ok());
  const std::string noWeights = toyLevels()[0].objects.front();
  EXPECT_FALSE(planSharedObject(noWeights, 64).ok());
  EXPECT_FALSE(planObject(noWeights, 64).ok());
  FilePlan large{"", uint64_t(10000000000), ""};
  llmc::Result<FilePlan> archive = planArchive(large, "llmc_query");
  ASSERT_FALSE(archive.ok());
  EXPECT_NE(archive.error().message.find("expected at most 9999999999 in an archive"),
            std::string::npos);
}

} // namespace
