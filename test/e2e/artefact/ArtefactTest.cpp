// SPDX-License-Identifier: Apache-2.0
//
// What a compiled model is as a file: needs nobody, holds no state, opens and closes without a trace, survives strip, does not grow
// with its layers, and refuses to open when it is damaged.
#include "test/e2e/Goldens.h"
#include "test/e2e/artefact/ElfView.h"
#include "test/e2e/compiled/CompileModel.h"
#include "test/e2e/compiled/Runner.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <malloc.h>
#include <random>
#include <unistd.h>

namespace llmc::test {
namespace {

class Artefact : public testing::Test {
protected:
  void SetUp() override {
    folder = std::string(LLMC_TEST_MODELS) + "/" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
    path = folder + "/model.so";
    ModelRequest request;
    request.input = goldenModel("llama-mha");
    request.output = path;
    Result<CompiledModel> compiled = compileModel(request);
    ASSERT_TRUE(compiled) << compiled.error().str();
  }
  void TearDown() override {
    std::error_code code;
    std::filesystem::remove_all(folder, code);
  }

  static Logits logitsOf(const std::string &path, std::string &error) {
    Runner runner(path, {2});
    Logits logits;
    if (runner.ok())
      logits = runner.feed(runner.sequence(), someTokens(70, runner.vocabulary(), 3), 64);
    error = runner.ok() ? "" : runner.error();
    return logits;
  }

  std::string folder, path;
};

TEST_F(Artefact, needsNobodyAndExportsOneFunction) {
  ElfView file(path);
  for (const Elf64_Phdr &segment : file.segments(PT_DYNAMIC))
    for (uint64_t at = 0; at < segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      const int64_t tag = file.at<Elf64_Dyn>(segment.p_offset + at)->d_tag;
      EXPECT_FALSE(tag == DT_NEEDED || tag == DT_RPATH || tag == DT_RUNPATH || tag == DT_TEXTREL)
          << "dynamic tag " << tag;
    }
  std::vector<std::string> symbols;
  for (const Elf64_Shdr &section : file.sections())
    if (section.sh_type == SHT_DYNSYM)
      for (uint64_t at = sizeof(Elf64_Sym); at < section.sh_size; at += sizeof(Elf64_Sym)) {
        const Elf64_Sym &symbol = *file.at<Elf64_Sym>(section.sh_offset + at);
        symbols.push_back(file.at<char>(file.sections()[section.sh_link].sh_offset) + symbol.st_name);
        EXPECT_NE(symbol.st_shndx, SHN_UNDEF) << symbols.back();
      }
  EXPECT_EQ(symbols, std::vector<std::string>{"llmc_query"});
}

TEST_F(Artefact, holdsNoStateButForRelocation) {
  ElfView file(path);
  ASSERT_EQ(file.segments(PT_GNU_RELRO).size(), 1u);
  const Elf64_Phdr sealed = file.segments(PT_GNU_RELRO)[0];
  for (const Elf64_Shdr &section : file.sections()) {
    const std::string name = file.nameOf(section);
    if (name == ".data" || name == ".bss") {
      EXPECT_EQ(section.sh_size, 0u) << name;
    }
    if ((section.sh_flags & SHF_ALLOC) && (section.sh_flags & SHF_WRITE) && section.sh_size) {
      EXPECT_GE(section.sh_addr, sealed.p_vaddr) << name;
      EXPECT_LE(section.sh_addr + section.sh_size, sealed.p_vaddr + sealed.p_memsz) << name;
    }
  }
}

TEST_F(Artefact, stripKeepsItWorking) {
  const std::string stripped = folder + "/stripped.so";
  const std::string command = std::string(LLMC_STRIP) + " -o " + stripped + " " + path;
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_LT(std::filesystem::file_size(stripped), std::filesystem::file_size(path));
  std::string error;
  const Logits expected = logitsOf(path, error);
  ASSERT_EQ(error, "");
  EXPECT_EQ(differenceOf(logitsOf(stripped, error), expected, 128), "") << error;
}

size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    ++count;
  return count;
}

TEST_F(Artefact, thousandCyclesLeaveNothing) {
  std::vector<double> milliseconds;
  auto cycle = [&](int number) {
    RunnerOptions options;
    options.threads = number % 10 ? 1 : 2;
    options.maxTokens = 64;
    options.maxRows = options.maxOutputs = 16;
    auto start = std::chrono::steady_clock::now();
    Runner runner(path, options);
    std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
    milliseconds.push_back(taken.count());
    ASSERT_TRUE(runner.ok()) << runner.error();
    ASSERT_EQ(runner.step({{runner.sequence(), {1, 2, 3}}}).size(), 3u * 128);
  };
  milliseconds.reserve(1200);
  for (int i = 0; i < 100; ++i)
    ASSERT_NO_FATAL_FAILURE(cycle(i));
  const size_t mappingsBefore = mappings(), bytesBefore = mallinfo2().uordblks;
  for (int i = 0; i < 1000; ++i)
    ASSERT_NO_FATAL_FAILURE(cycle(i));
  const size_t bytesAfter = mallinfo2().uordblks;
  EXPECT_EQ(mappings(), mappingsBefore);
  EXPECT_LE(bytesAfter, bytesBefore + 1000) << "a byte a cycle, or more";
  std::sort(milliseconds.begin(), milliseconds.end());
  std::printf("opening, session included: median %.3f ms, slowest %.3f ms\n",
              milliseconds[milliseconds.size() / 2], milliseconds.back());
}

TEST_F(Artefact, codeDoesNotGrowWithLayers) {
  CompiledModel few, many;
  for (CompiledModel *model : {&few, &many}) {
    RandomModel shape;
    shape.layers = model == &few ? 4 : 64;
    ModelRequest request;
    request.input = folder + "/random.json";
    request.output = folder + "/random.so";
    ASSERT_TRUE(writeRandomModel(shape, request.input).ok());
    Result<CompiledModel> compiled = compileModel(request);
    ASSERT_TRUE(compiled) << compiled.error().str();
    *model = *compiled;
    std::printf("%2lld layers: code %llu bytes, %zu kernels, %zu commands, code in %.2f s, all in %.2f s\n",
                (long long)shape.layers, (unsigned long long)model->codeBytes, model->kernels,
                model->commands, model->codeSeconds, model->seconds);
  }
  EXPECT_GT(many.commands, 10 * few.commands);
  EXPECT_LE(double(many.codeBytes), 1.2 * double(few.codeBytes));
  EXPECT_GE(double(many.codeBytes), 0.8 * double(few.codeBytes));
}

/// Opening a damaged model gives a status; when it opens, the damage must have been without meaning.
class Damaged : public Artefact {
protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(Artefact::SetUp());
    std::string error;
    expected = logitsOf(path, error);
    ASSERT_EQ(error, "");
  }
  void judge(const std::string &what) { // in place: `path` is damaged when this is called
    std::string error;
    const Logits found = logitsOf(path, error);
    ++tried;
    if (error.empty()) {
      EXPECT_EQ(differenceOf(found, expected, 128), "") << what;
      ++opened;
    } else {
      EXPECT_NE(error.find(": error: "), std::string::npos) << what << ": " << error;
      EXPECT_EQ(error.find('\n'), std::string::npos) << what << ": " << error;
    }
  }
  /// Where in the file the weights lie is not sealed, as weights are not: `llmc inspect --verify` hashes what is found there.
  static bool isPlaceOfWeights(uint64_t at) {
    return at / 8 == (sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_offset)) / 8;
  }
  Logits expected;
  int tried = 0, opened = 0;
};

TEST_F(Damaged, cutShort) {
  const uint64_t whole = std::filesystem::file_size(path);
  const uint64_t weights = ElfView(path).segments(PT_LOAD).back().p_offset;
  std::vector<uint64_t> sizes = {weights + 1, weights, weights - 1, 4096, 1024, 569, 568, 567,
                                 200,         65,      64,          63,   16,   4,   1,   0};
  for (uint64_t part = 1; part < 24; ++part)
    sizes.push_back(whole * part / 24);
  std::sort(sizes.rbegin(), sizes.rend());
  for (uint64_t size : sizes) {
    std::filesystem::resize_file(path, size);
    judge("cut to " + std::to_string(size) + " bytes");
  }
  EXPECT_EQ(opened, 0);
}

TEST_F(Damaged, bytesChanged) {
  const int file = open(path.c_str(), O_RDWR);
  ASSERT_GE(file, 0);
  const Elf64_Phdr tables = ElfView(path).segments(PT_LOAD)[2];
  std::mt19937_64 random(7);
  std::vector<uint64_t> places;
  for (uint64_t at = 0; at < 704; ++at) // ELF header, program headers, seal, symbols
    places.push_back(at);
  for (int i = 0; i < 200; ++i) // relocations, tables, code
    places.push_back(random() % (tables.p_offset + tables.p_filesz));
  for (uint64_t at : places) {
    if (isPlaceOfWeights(at))
      continue;
    char byte = 0;
    ASSERT_EQ(pread(file, &byte, 1, long(at)), 1);
    const char changed = char(byte ^ (1 << random() % 8));
    ASSERT_EQ(pwrite(file, &changed, 1, long(at)), 1);
    judge("byte " + std::to_string(at) + " changed to " + std::to_string(int(uint8_t(changed))));
    ASSERT_EQ(pwrite(file, &byte, 1, long(at)), 1);
  }
  close(file);
  std::printf("%d of %d changed bytes were without meaning\n", opened, tried);
  EXPECT_LT(opened, tried / 2);
}

TEST_F(Damaged, wordsOfTheHeadersReplaced) {
  const int file = open(path.c_str(), O_RDWR);
  ASSERT_GE(file, 0);
  std::mt19937_64 random(8);
  const uint64_t words[] = {0, 1, 0x7fffffffffffffffu, 0xffffffffffffffffu, 0x1000, 0x8000000000000000u};
  for (uint64_t at = 16; at < 568; at += 8) {
    if (isPlaceOfWeights(at))
      continue;
    uint64_t word = 0;
    ASSERT_EQ(pread(file, &word, 8, long(at)), 8);
    const uint64_t changed = random() % 4 ? words[random() % 6] : random();
    ASSERT_EQ(pwrite(file, &changed, 8, long(at)), 8);
    judge("word " + std::to_string(at) + " changed to " + std::to_string(changed));
    ASSERT_EQ(pwrite(file, &word, 8, long(at)), 8);
  }
  close(file);
  EXPECT_LT(opened, tried / 2);
}

} // namespace
} // namespace llmc::test
