// SPDX-License-Identifier: Apache-2.0
#include "frontends/huggingface/OpenFolder.h"

#include "../Support.h"

#include <gtest/gtest.h>

using namespace llmc;
using huggingface::OpenedFolder;
using huggingface::openFolder;
using test::TemporaryFolder;
using test::TestTensor;
using test::TinyFolder;

TEST(OpenFolder, OpensEachFamilyWithItsTensors) {
  for (const char *family : {"llama", "mistral", "qwen2", "qwen3"}) {
    TemporaryFolder folder;
    test::tinyFolder(family).write(folder);
    Result<OpenedFolder> opened = openFolder(folder.path);
    ASSERT_TRUE(opened.ok()) << opened.error().str();
    EXPECT_EQ(opened->config.family, family);
    for (const model::WeightSpec &spec : model::canonicalWeights(opened->config)) {
      ASSERT_NE(opened->weights->find(spec.name), nullptr) << spec.name;
      EXPECT_EQ(opened->weights->find(spec.name)->shape, spec.shape) << spec.name;
    }
  }
}

TEST(OpenFolder, ReadsTheValueUnderItsOwnName) {
  TemporaryFolder folder;
  TinyFolder tiny = test::tinyFolder("qwen2");
  tiny.write(folder);
  Result<OpenedFolder> opened = openFolder(folder.path);
  ASSERT_TRUE(opened.ok()) << opened.error().str();
  model::RandomWeightSource expected(opened->config, 1);
  for (const char *name : {"layers.1.k_bias", "layers.0.mlp_norm", "final_norm"}) {
    std::vector<float> found(64), wanted(64);
    ASSERT_TRUE(opened->weights->readRows(name, 0, 1, found.data()).ok());
    ASSERT_TRUE(expected.readRows(name, 0, 1, wanted.data()).ok());
    EXPECT_EQ(found, wanted) << name;
  }
}

static TestTensor *findTensor(TinyFolder &folder, const std::string &name) {
  for (TestTensor &tensor : folder.tensors)
    if (tensor.name == name)
      return &tensor;
  return nullptr;
}

// tie_word_embeddings x what is stored: the tensors decide, the config only says what an equal head
// means.
TEST(OpenFolder, AHeadThatIsNotStoredIsTied) {
  for (bool tie : {false, true}) {
    TemporaryFolder folder;
    TinyFolder tiny = test::tinyFolder("llama");
    tiny.config["tie_word_embeddings"] = tie;
    tiny.tensors.pop_back();
    tiny.write(folder);
    Result<OpenedFolder> opened = openFolder(folder.path);
    ASSERT_TRUE(opened.ok()) << opened.error().str();
    EXPECT_TRUE(opened->config.tieWordEmbeddings);
    EXPECT_EQ(opened->weights->find("lm_head"), nullptr);
  }
}

TEST(OpenFolder, AHeadOfItsOwnIsNotTiedWhateverTheConfigSays) {
  for (bool tie : {false, true}) {
    TemporaryFolder folder;
    TinyFolder tiny = test::tinyFolder("llama");
    tiny.config["tie_word_embeddings"] = tie;
    tiny.write(folder);
    Result<OpenedFolder> opened = openFolder(folder.path);
    ASSERT_TRUE(opened.ok()) << opened.error().str();
    EXPECT_FALSE(opened->config.tieWordEmbeddings);
  }
}

TEST(OpenFolder, AHeadEqualToTheEmbeddingIsTiedIfTheConfigSaysSo) {
  for (bool tie : {false, true}) {
    TemporaryFolder folder;
    TinyFolder tiny = test::tinyFolder("llama");
    tiny.config["tie_word_embeddings"] = tie;
    findTensor(tiny, "lm_head.weight")->bytes =
        findTensor(tiny, "model.embed_tokens.weight")->bytes;
    tiny.write(folder);
    Result<OpenedFolder> opened = openFolder(folder.path);
    ASSERT_TRUE(opened.ok()) << opened.error().str();
    EXPECT_EQ(opened->config.tieWordEmbeddings, tie);
  }
}

TEST(OpenFolder, ABiasThatTheConfigDoesNotNameIsAnError) {
  TemporaryFolder folder;
  TinyFolder tiny = test::tinyFolder("llama");
  tiny.tensors.push_back(test::f32Tensor("model.layers.0.self_attn.q_proj.bias", {1}, {1}));
  tiny.write(folder);
  Result<OpenedFolder> opened = openFolder(folder.path);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(
      opened.error().message.find(
          "tensor 'model.layers.0.self_attn.q_proj.bias': error: found a tensor of shape [1]"),
      std::string::npos);
}

TEST(OpenFolder, AnEmptyGenerationConfigIsAnError) {
  TemporaryFolder folder;
  test::tinyFolder("llama").write(folder);
  folder.write("generation_config.json", "");
  Result<OpenedFolder> opened = openFolder(folder.path);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().message, folder.file("generation_config.json") +
                                        ": error: found an empty file, expected a JSON object");
}
