// SPDX-License-Identifier: Apache-2.0
// A field's place in the file follows from the segment that it is mapped from.
#include "test/tools/llmc/DemoModel.h"
#include "runtime/engine/Inspect.h"
#include "test/tools/llmc/Program.h"
#include <algorithm>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <link.h>

namespace llmc::test {
namespace {

constexpr size_t kNowhere = SIZE_MAX;

struct Search {
  uintptr_t address;
  size_t offset = kNowhere;
};

int findSegment(dl_phdr_info *info, size_t, void *data) {
  Search &search = *static_cast<Search *>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && search.address >= begin &&
        search.address < begin + segment.p_filesz)
      search.offset = segment.p_offset + (search.address - begin);
  }
  return search.offset != kNowhere;
}

} // namespace

DemoModel::DemoModel() : bytes(readFile(demoPath())) {
  tool::ModelOptions options;
  options.path = demoPath();
  options.threads = 1;
  Result<tool::LoadedModel> result = tool::loadModel(options, nullptr);
  if (!result) {
    ADD_FAILURE() << result.error().message;
    return;
  }
  loaded = std::move(*result);
}

const llmc_artifact &DemoModel::artifact() const { return inspect::artifactOf(loaded.model.get()); }

std::vector<float> DemoModel::logits(const std::vector<int32_t> &tokens) const {
  llmc_session_options sizes = {};
  sizes.max_tokens = static_cast<uint32_t>(tokens.size());
  Result<tool::SessionOwner> session = tool::makeSession(loaded, sizes);
  llmc_sequence *sequence = nullptr;
  llmc_sequence_create(session->get(), &sequence, nullptr);
  std::vector<float> values;
  for (const int32_t token : tokens) {
    llmc_step_result result{};
    result.struct_size = sizeof result;
    EXPECT_EQ(llmc_prefill(session->get(), sequence, &token, 1, &result, nullptr), LLMC_OK);
    values.insert(values.end(), result.logits, result.logits + result.vocabulary);
  }
  return values;
}

std::vector<int32_t> DemoModel::greedy(std::vector<int32_t> tokens, size_t count) const {
  std::vector<int32_t> found;
  const size_t vocabulary = artifact().limits.vocabulary;
  while (found.size() < count) {
    const std::vector<float> values = logits(tokens);
    const auto best = std::max_element(values.end() - static_cast<long>(vocabulary), values.end());
    found.push_back(static_cast<int32_t>(best - (values.end() - static_cast<long>(vocabulary))));
    tokens.push_back(found.back());
  }
  return found;
}

void DemoModel::alterBytes(const void *place, const void *value, size_t size) {
  Search search = {reinterpret_cast<uintptr_t>(place)};
  dl_iterate_phdr(findSegment, &search);
  ASSERT_NE(search.offset, kNowhere);
  ASSERT_LE(search.offset + size, bytes.size());
  memcpy(&bytes[search.offset], value, size);
}

void DemoModel::writeCopy(const std::string &path) const {
  std::ofstream(path, std::ios::binary) << bytes;
}

} // namespace llmc::test
