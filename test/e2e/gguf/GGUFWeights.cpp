// SPDX-License-Identifier: Apache-2.0
//
// The reader against make_gguf.py, which writes each model twice: as GGUF, and as a Hugging Face
// folder of what a reader must find in it. Every weight must be the same bits.
#include "frontends/Open.h"
#include "test/e2e/gguf/GGUFGoldens.h"

#include <cstring>
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

std::vector<float> valuesOf(const model::WeightSource &source, const std::string &name) {
  const model::TensorInfo *info = source.find(name);
  if (!info)
    return {};
  std::vector<float> values(size_t(info->rows() * info->columns()));
  Status status = source.readRows(name, 0, info->rows(), values.data());
  EXPECT_TRUE(status) << status.error().str();
  return values;
}

class GGUFWeights : public testing::TestWithParam<std::string> {};

TEST_P(GGUFWeights, areTheFoldersBits) {
  Result<OpenedModel> file = openModel(ggufFile(GetParam()));
  ASSERT_TRUE(file) << file.error().str();
  Result<OpenedModel> folder = openModel(ggufFolder(GetParam()));
  ASSERT_TRUE(folder) << folder.error().str();
  for (const model::WeightSpec &spec : model::canonicalWeights(folder->config)) {
    std::vector<float> found = valuesOf(*file->weights, spec.name),
                       expected = valuesOf(*folder->weights, spec.name);
    ASSERT_EQ(found.size(), expected.size()) << spec.name;
    EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)), 0)
        << spec.name;
  }
  EXPECT_EQ(file->config.layers.size(), folder->config.layers.size());
  EXPECT_EQ(file->config.layers[1].slidingWindow, folder->config.layers[1].slidingWindow);
  EXPECT_EQ(file->config.norm.epsilon, folder->config.norm.epsilon);
  EXPECT_EQ(file->config.rope.theta, folder->config.rope.theta);
  EXPECT_EQ(file->config.tieWordEmbeddings, folder->config.tieWordEmbeddings);
}

INSTANTIATE_TEST_SUITE_P(all, GGUFWeights, testing::ValuesIn(ggufNames()), [](const auto &info) {
  std::string name = info.param;
  for (char &letter : name)
    letter = letter == '-' ? '_' : letter;
  return name;
});

TEST(GGUFWeightsCount, eachTypeInEachArchitecture) { EXPECT_GE(ggufNames().size(), 24u); }

} // namespace
} // namespace llmc::test
