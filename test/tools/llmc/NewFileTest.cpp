// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/NewFile.h"
#include "test/frontends/Support.h"
#include "test/tools/llmc/Program.h"
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace llmc::test {
namespace {

TEST(NewFile, AppearsWithCommitAndNotBefore) {
  TemporaryFolder folder;
  tool::NewFile file(folder.file("f"));
  ASSERT_TRUE(file.open());
  ASSERT_TRUE(file.write("text", 4));
  EXPECT_FALSE(std::filesystem::exists(folder.file("f")));
  ASSERT_TRUE(file.commit());
  EXPECT_EQ(readFile(folder.file("f")), "text");
}

TEST(NewFile, WithoutCommitTheOldFileStaysAndNothingElse) {
  TemporaryFolder folder;
  folder.write("f", "old");
  {
    tool::NewFile file(folder.file("f"));
    ASSERT_TRUE(file.open());
    ASSERT_TRUE(file.write("new", 3));
  }
  EXPECT_EQ(readFile(folder.file("f")), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path), {}), 1);
}

TEST(NewFile, RefusesWhatIsNotAFile) {
  TemporaryFolder folder;
  const Status status = tool::writeWholeFile(folder.path, "text");
  ASSERT_FALSE(status);
  EXPECT_TRUE(contains(status.error().message, "found something that is not a file"));
}

TEST(NewFile, ASignalLeavesNothing) {
  TemporaryFolder folder;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t child = fork();
    if (!child) {
      tool::NewFile file(folder.file("f"));
      if (!file.open())
        _exit(3);
      raise(signal);
      _exit(4);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path)) << "after signal " << signal;
  }
}

} // namespace
} // namespace llmc::test
