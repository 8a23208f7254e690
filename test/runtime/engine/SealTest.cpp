// SPDX-License-Identifier: Apache-2.0
// The seal: a damaged model.so is told before the dynamic loader sees it, a stripped one still
// opens.
#include "llmc/seal.h"
#include "test/runtime/engine/Support.h"
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace llmc::test {
namespace {

using Bytes = std::vector<char>;

int readBytes(void *user, uint64_t offset, void *to, size_t bytes) {
  const Bytes &file = *static_cast<Bytes *>(user);
  if (offset > file.size() || bytes > file.size() - offset)
    return 0;
  memcpy(to, file.data() + offset, bytes);
  return 1;
}

// The demo model with its hash put in, as the artefact writer does it.
Bytes sealedDemo() {
  std::ifstream file(DEMO_FOLDER "/demo_sealed.so", std::ios::binary);
  Bytes bytes(std::istreambuf_iterator<char>(file), {});
  llmc_seal seal;
  uint64_t place = 0, hash = 0;
  EXPECT_EQ(llmc_seal_compute(readBytes, &bytes, &seal, &place, &hash), LLMC_SEAL_FOUND);
  EXPECT_EQ(seal.hash, 0u);
  memcpy(bytes.data() + place, &hash, sizeof hash);
  return bytes;
}

class Seal : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(llmc_context_create(nullptr, &context, nullptr), LLMC_OK);
    path = ::testing::TempDir() + "llmc-seal-" + std::to_string(getpid()) + ".so";
  }
  void TearDown() override {
    llmc_context_destroy(context);
    unlink(path.c_str());
  }
  llmc_status open(const Bytes &bytes) {
    unlink(path.c_str());
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
    llmc_model *model = nullptr;
    error = newError();
    const llmc_status status = llmc_model_open(context, path.c_str(), nullptr, &model, &error);
    llmc_model_destroy(model);
    return status;
  }
  llmc_context *context = nullptr;
  std::string path;
  llmc_error error = newError();
};

TEST_F(Seal, WholeFileOpensAndAWrongHashIsTold) {
  Bytes bytes = sealedDemo();
  EXPECT_EQ(open(bytes), LLMC_OK) << error.message;
  std::ifstream unsealed(DEMO_FOLDER "/demo_sealed.so", std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(unsealed), {});
  EXPECT_EQ(open(bytes), LLMC_BAD_ARTIFACT);
  EXPECT_NE(strstr(error.message, ": seal: error: found hash "), nullptr) << error.message;
  EXPECT_NE(strstr(error.message, "expected 0000000000000000; the file is damaged"), nullptr);
}

// Each byte of what is loaded, changed alone: refused, or without meaning (a header field that the
// loader ignores). Bytes behind the segments (section headers) are not the seal's business.
TEST_F(Seal, AnyChangedByteOfTheSegmentsIsRefusedOrHarmless) {
  const Bytes whole = sealedDemo();
  const Elf64_Ehdr &header = *reinterpret_cast<const Elf64_Ehdr *>(whole.data());
  const size_t headers = header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr);
  const Elf64_Phdr *segments = reinterpret_cast<const Elf64_Phdr *>(whole.data() + header.e_phoff);
  llmc_seal seal;
  uint64_t place = 0, hash = 0;
  Bytes copy = whole;
  ASSERT_EQ(llmc_seal_compute(readBytes, &copy, &seal, &place, &hash), LLMC_SEAL_FOUND);
  uint32_t state = 7;
  int refused = 0, changed = 0;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    if (segments[i].p_type != PT_LOAD)
      continue;
    const size_t begin = segments[i].p_offset ? segments[i].p_offset : headers;
    for (size_t at = begin; at < segments[i].p_offset + segments[i].p_filesz;
         at += 1 + state % 97) {
      state = state * 1664525u + 1013904223u;
      if (at >= place - sizeof(llmc_seal_head) - offsetof(llmc_seal, hash) && at < place)
        continue; // a note that is not recognised is no seal, and unsealed files pass
      Bytes bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 + (state >> 16) % 255));
      ++changed;
      refused += open(bytes) == LLMC_BAD_ARTIFACT;
    }
  }
  EXPECT_GT(changed, 300);
  EXPECT_EQ(refused, changed);
  // In the headers: opening comes back, whatever the byte was (in a child, so that a crash is
  // seen).
  for (size_t at = 0; at < headers; at += 3) {
    Bytes bytes = whole;
    state = state * 1664525u + 1013904223u;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 + (state >> 16) % 255));
    const pid_t child = fork();
    if (!child) {
      open(bytes);
      _exit(0);
    }
    int ended = 0;
    ASSERT_EQ(waitpid(child, &ended, 0), child);
    unlink(path.c_str());
    EXPECT_TRUE(WIFEXITED(ended)) << "byte " << at << ", signal " << WTERMSIG(ended);
  }
}

TEST_F(Seal, StrippedFileStillOpens) {
  open(sealedDemo());
  ASSERT_EQ(system((std::string(DEMO_STRIP " ") + path).c_str()), 0);
  llmc_model *model = nullptr;
  EXPECT_EQ(llmc_model_open(context, path.c_str(), nullptr, &model, &error), LLMC_OK)
      << error.message;
  llmc_model_destroy(model);
}

} // namespace
} // namespace llmc::test
