// SPDX-License-Identifier: Apache-2.0
// What the writer writes is sealed: one changed byte outside the weights is refused by the engine
// or has no meaning, and none ends the process.
#include "test/passes/codegen/artifact/ElfView.h"
#include "test/passes/codegen/artifact/ToyModel.h"

#include "llmc/llmc.h"
#include "llmc/seal.h"
#include <fcntl.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

using namespace llmc::artifact;
using namespace llmc::artifact::test;

namespace {

int readBytes(void *user, uint64_t offset, void *to, size_t bytes) {
  const std::string &file = *static_cast<std::string *>(user);
  if (offset > file.size() || bytes > file.size() - offset)
    return 0;
  memcpy(to, file.data() + offset, bytes);
  return 1;
}

llmc_status openModel(const std::string &path, llmc_error *error) {
  llmc_context *context = nullptr;
  llmc_model *model = nullptr;
  llmc_status status = llmc_context_create(nullptr, &context, error);
  if (!status)
    status = llmc_model_open(context, path.c_str(), nullptr, &model, error);
  llmc_model_destroy(model);
  llmc_context_destroy(context);
  return status;
}

constexpr int kUnnamed = 99;

// Opens in a child, so that a crash is seen: the status, or kUnnamed where a message does not begin
// with the file. Negative: the signal that ended the child.
int openInChild(const std::string &path) {
  const pid_t child = fork();
  if (!child) {
    llmc_error error = {sizeof error, LLMC_OK, ""};
    const llmc_status status = openModel(path, &error);
    _exit(status && strncmp(error.message, path.c_str(), path.size()) ? kUnnamed : status);
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  return WIFEXITED(ended) ? WEXITSTATUS(ended) : -WTERMSIG(ended);
}

class SealTest : public testing::Test {
protected:
  // A sealed file and what its seal says.
  void write(bool weightsSeparate = false) {
    ArtifactRequest made{tables, weights};
    made.levels = toyLevels();
    made.path = path;
    made.weightsSeparate = weightsSeparate;
    llmc::Result<ArtifactSummary> result = writeArtifact(made);
    ASSERT_TRUE(result.ok()) << result.error().str();
    std::string bytes = readFile(path);
    uint64_t hash = 0;
    ASSERT_EQ(llmc_seal_compute(readBytes, &bytes, &seal, &place, &hash), LLMC_SEAL_FOUND);
    EXPECT_EQ(seal.hash, hash);
    EXPECT_EQ(seal.abi_version, LLMC_ABI_VERSION);
  }

  // The file with one byte changed by `mask`, opened, and repaired.
  int openChanged(uint64_t offset, unsigned mask) {
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    unsigned char byte = 0;
    EXPECT_EQ(pread(file, &byte, 1, off_t(offset)), 1);
    const unsigned char changed = byte ^ mask;
    EXPECT_EQ(pwrite(file, &changed, 1, off_t(offset)), 1);
    const int status = openInChild(path);
    EXPECT_EQ(pwrite(file, &byte, 1, off_t(offset)), 1);
    close(file);
    return status;
  }

  TestFolder folder;
  const std::string path = folder.path("model.so");
  Tables tables = toyTables();
  ToyWeights weights;
  llmc_seal seal = {};
  uint64_t place = 0; // of the hash
};

TEST_F(SealTest, CoversEverythingLoadedButTheWeights) {
  write();
  EXPECT_EQ(seal.covered_loads, ElfView(path).loads.size() - 1);
  EXPECT_EQ(openInChild(path), LLMC_OK);
  write(/*weightsSeparate=*/true);
  EXPECT_EQ(seal.covered_loads, ElfView(path).loads.size());
  EXPECT_EQ(openInChild(path), LLMC_OK);
}

TEST_F(SealTest, AChangedByteOfCodeOrTablesIsRefused) {
  write();
  const ElfView elf(path);
  const auto &header = *reinterpret_cast<const Elf64_Ehdr *>(elf.bytes.data());
  const uint64_t headers = header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr);
  const uint64_t note = place - sizeof(llmc_seal_head) - offsetof(llmc_seal, hash);
  std::mt19937 random(3);
  std::vector<uint64_t> covered;
  for (size_t i = 0; i + 1 < elf.loads.size(); ++i)
    for (uint64_t at = 0; at < elf.loads[i].p_filesz; ++at) {
      const uint64_t offset = elf.loads[i].p_offset + at;
      // A note that is not recognised is no seal, and files without one open.
      if (offset >= headers && (offset < note || offset >= place))
        covered.push_back(offset);
    }
  ASSERT_GT(covered.size(), 3000u);
  for (int i = 0; i < 200; ++i) {
    const uint64_t offset = covered[random() % covered.size()];
    EXPECT_EQ(openChanged(offset, 1 + random() % 255), LLMC_BAD_ARTIFACT) << "offset " << offset;
  }
  for (uint64_t offset = place; offset < place + sizeof seal.hash; ++offset)
    EXPECT_EQ(openChanged(offset, 1), LLMC_BAD_ARTIFACT) << "offset " << offset;
  EXPECT_EQ(openInChild(path), LLMC_OK); // repaired
}

TEST_F(SealTest, AChangedHeaderNeverEndsTheProcess) {
  write();
  const ElfView elf(path);
  std::mt19937 random(5);
  int refused = 0;
  auto change = [&](uint64_t offset) {
    const int status = openChanged(offset, 1 + random() % 255);
    EXPECT_GE(status, 0) << "offset " << offset << ": signal " << -status;
    EXPECT_NE(status, kUnnamed) << "offset " << offset;
    refused += status > 0;
  };
  const uint64_t first = elf.loads[0].p_filesz; // headers, the note, dynamic symbols
  for (uint64_t offset = 0; offset < place + sizeof seal.hash && offset < first;
       offset += 1 + random() % 4)
    change(offset);
  EXPECT_GT(refused, 50);
  const uint64_t weightsEnd = elf.loads.back().p_offset + elf.loads.back().p_filesz;
  for (int i = 0; i < 100; ++i) // sections and symbols, which nobody loads
    EXPECT_EQ(openChanged(weightsEnd + random() % (elf.bytes.size() - weightsEnd), 1), LLMC_OK);
}

TEST_F(SealTest, AStrippedFileOpens) {
  write();
  ASSERT_EQ(system((TEST_STRIP " " + path).c_str()), 0);
  EXPECT_EQ(openInChild(path), LLMC_OK);
}

TEST_F(SealTest, ObjectsCarryNoNote) {
  ArtifactRequest made{tables, weights};
  made.levels = toyLevels();
  made.path = folder.path("model.o");
  made.kind = ArtifactKind::Object;
  ASSERT_TRUE(writeArtifact(made).ok());
  EXPECT_EQ(readFile(made.path).find(".note.llmc"), std::string::npos);
}

} // namespace
