// SPDX-License-Identifier: Apache-2.0
#include "frontends/safetensors/SafetensorsSource.h"

#include "../../dialects/model/TinyConfig.h"
#include "../Support.h"

#include <gtest/gtest.h>
#include <unistd.h>

using namespace llmc;
using namespace llmc::safetensors;
using test::TemporaryFolder;
using test::TestTensor;

static std::string errorOf(const std::string &path) {
  Result<Checkpoint> checkpoint = Checkpoint::open(path);
  return checkpoint ? "opened" : checkpoint.error().str();
}

static const TestTensor one = test::f32Tensor("a", {2}, {1, 2});
static const TestTensor two = test::f32Tensor("b", {1}, {3});

// Two shards and an index; `index` replaces what the right one would be.
static void writeShards(const TemporaryFolder &folder,
                        test::Json map = {{"a", "1.safetensors"}, {"b", "2.safetensors"}}) {
  folder.write("1.safetensors", test::safetensorsFile({one}));
  folder.write("2.safetensors", test::safetensorsFile({two}));
  folder.write("model.safetensors.index.json",
               test::Json{{"metadata", {{"total_size", 12}}}, {"weight_map", map}}.dump());
}

TEST(Checkpoint, OpensOneFile) {
  TemporaryFolder folder;
  folder.write("x.safetensors", test::safetensorsFile({one, two}));
  Result<Checkpoint> checkpoint = Checkpoint::open(folder.file("x.safetensors"));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().str();
  EXPECT_EQ(checkpoint->entries().size(), 2u);
  EXPECT_NE(checkpoint->find("b"), nullptr);
  EXPECT_EQ(checkpoint->find("c"), nullptr);
}

TEST(Checkpoint, OpensShardsByFolderAndByIndex) {
  TemporaryFolder folder;
  writeShards(folder);
  for (const std::string &path : {folder.path, folder.file("model.safetensors.index.json")}) {
    Result<Checkpoint> checkpoint = Checkpoint::open(path);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().str();
    EXPECT_EQ(checkpoint->entries().size(), 2u);
  }
}

TEST(Checkpoint, AFolderWithoutWeightsSaysWhatIsMissing) {
  TemporaryFolder folder;
  EXPECT_EQ(errorOf(folder.path), folder.path +
                                      ": error: found no weights, expected model.safetensors or "
                                      "model.safetensors.index.json");
}

TEST(Checkpoint, AMissingShardIsNamedWithItsIndex) {
  TemporaryFolder folder;
  writeShards(folder, {{"a", "1.safetensors"}, {"b", "3.safetensors"}});
  EXPECT_EQ(errorOf(folder.path),
            folder.file("3.safetensors") +
                ": error: found no such file, expected a shard of the model\n" +
                folder.file("model.safetensors.index.json") +
                ": /weight_map: note: the index lists it; download all of its files");
}

TEST(Checkpoint, AnIndexCannotPointOutsideItsFolder) {
  for (const char *shard : {"../1.safetensors", "/etc/passwd", "sub/1.safetensors", "..", "",
                            "a\\b", "./1.safetensors"}) {
    TemporaryFolder folder;
    writeShards(folder, {{"a", shard}, {"b", "2.safetensors"}});
    std::string error = errorOf(folder.path);
    EXPECT_NE(error.find("/weight_map/a: error: found \""), std::string::npos) << error;
    EXPECT_NE(error.find("expected the name of a file in the index's own folder"),
              std::string::npos)
        << error;
  }
}

TEST(Checkpoint, TheIndexAndItsShardsMustAgree) {
  TemporaryFolder folder;
  writeShards(folder, {{"a", "2.safetensors"}, {"b", "2.safetensors"}});
  EXPECT_NE(errorOf(folder.path).find("2.safetensors: tensor 'a': error: found no such tensor"),
            std::string::npos);
  writeShards(folder, {{"a", "1.safetensors"}, {"c", "2.safetensors"}});
  EXPECT_NE(
      errorOf(folder.path)
          .find("2.safetensors: tensor 'b': error: found a tensor that the index does not place"),
      std::string::npos);
}

TEST(Checkpoint, AbsurdHeaderLengthsAreRefused) {
  TemporaryFolder folder;
  std::string path = folder.file("model.safetensors");
  folder.write("model.safetensors", "abc");
  EXPECT_EQ(errorOf(path),
            path + ": header length: error: found a file of 3 bytes, expected at least 8");
  folder.write("model.safetensors", test::safetensorsFile(UINT64_MAX, "{}", ""));
  EXPECT_EQ(errorOf(path),
            path +
                ": header length: error: found 18446744073709551615, expected 2 to 2 (the file has "
                "10 bytes)");
}

// Binding: weights of the tiny config under canonical names.
static std::vector<TestTensor> canonicalTensors(const model::ModelConfig &config) {
  std::vector<TestTensor> tensors = test::randomTensors(config, 5);
  std::vector<model::WeightSpec> specs = model::canonicalWeights(config);
  for (size_t i = 0; i < tensors.size(); ++i)
    tensors[i].name = specs[i].name;
  return tensors;
}

static Result<std::unique_ptr<model::WeightSource>> bound(const TemporaryFolder &folder,
                                                          const std::vector<TestTensor> &tensors,
                                                          const model::ModelConfig &config) {
  folder.write("model.safetensors", test::safetensorsFile(tensors));
  Result<Checkpoint> checkpoint = Checkpoint::open(folder.path);
  if (!checkpoint)
    return checkpoint.takeError();
  return bindWeights(std::move(*checkpoint), config);
}

TEST(BindWeights, ReadsTheStoredValues) {
  TemporaryFolder folder;
  model::ModelConfig config = model::tinyConfig();
  auto source = bound(folder, canonicalTensors(config), config);
  ASSERT_TRUE(source.ok()) << source.error().str();
  model::RandomWeightSource expected(config, 5);
  std::vector<float> found(3 * 24), wanted(3 * 24);
  ASSERT_TRUE((*source)->readRows("layers.1.gate", 36, 3, found.data()).ok());
  ASSERT_TRUE(expected.readRows("layers.1.gate", 36, 3, wanted.data()).ok());
  EXPECT_EQ(found, wanted);
  EXPECT_FALSE((*source)->readRows("layers.1.gate", 38, 3, found.data()).ok());
  EXPECT_FALSE((*source)->readRows("layers.9.gate", 0, 1, found.data()).ok());
  EXPECT_NE(*(*source)->hash("embed"), *(*source)->hash("lm_head"));
}

TEST(BindWeights, ReadsHalfPrecisionInSeveralPieces) {
  TemporaryFolder folder;
  model::ModelConfig config = model::tinyConfig(1);
  config.vocabSize = 20000; // 480000 elements: more than one piece
  std::vector<TestTensor> tensors = canonicalTensors(config);
  TestTensor &embed = tensors[0];
  embed.type = "BF16";
  embed.bytes.clear();
  for (int i = 0; i < 20000 * 24; ++i)
    embed.bytes += {static_cast<char>(i), 0x3F}; // 1/2 and upwards by the low byte
  auto source = bound(folder, tensors, config);
  ASSERT_TRUE(source.ok()) << source.error().str();
  EXPECT_EQ((*source)->find("embed")->elementType, model::ElementType::BF16);
  std::vector<float> values(20000 * 24);
  ASSERT_TRUE((*source)->readRows("embed", 0, 20000, values.data()).ok());
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t bits = 0x3F000000u | static_cast<uint32_t>(i & 255) << 16;
    float expected;
    memcpy(&expected, &bits, 4);
    ASSERT_EQ(values[i], expected) << i;
  }
}

TEST(BindWeights, RefusesMissingMisshapenForeignAndExtraTensors) {
  model::ModelConfig config = model::tinyConfig();
  auto errorWith = [&](auto change) {
    TemporaryFolder folder;
    std::vector<TestTensor> tensors = canonicalTensors(config);
    change(tensors);
    auto source = bound(folder, tensors, config);
    std::string text = source ? "bound" : source.error().str();
    return text.substr(text.find(": ") == std::string::npos ? 0 : text.find(": ") + 2);
  };
  EXPECT_EQ(errorWith([](auto &t) { t.erase(t.begin() + 2); }),
            "tensor 'layers.0.q': error: found no such tensor, expected one of shape [30, 24]");
  EXPECT_EQ(errorWith([](auto &t) { t[2].shape = {24, 30}; }),
            "tensor 'layers.0.q': error: found shape [24, 30], expected [30, 24] from the model's "
            "config");
  EXPECT_EQ(errorWith([](auto &t) { t[2].type = "I32"; }),
            "tensor 'layers.0.q': error: found element type I32, expected F32, F16 or BF16");
  EXPECT_EQ(
      errorWith([](auto &t) { t.push_back(test::f32Tensor("layers.0.q_bias", {2}, {1, 2})); }),
      "tensor 'layers.0.q_bias': error: found a tensor of shape [2] that the model's config does "
      "not use, "
      "expected only the config's weights");
  EXPECT_EQ(errorWith([](auto &t) {
              t.push_back(test::f32Tensor("x.rotary_emb.inv_freq", {2}, {1, 2}));
            }),
            "bound");
}

TEST(BindWeights, AFileThatShrinksIsAnErrorNotGarbage) {
  TemporaryFolder folder;
  model::ModelConfig config = model::tinyConfig();
  auto source = bound(folder, canonicalTensors(config), config);
  ASSERT_TRUE(source.ok());
  ASSERT_EQ(truncate(folder.file("model.safetensors").c_str(), 3000), 0);
  std::vector<float> row(24);
  Status status = (*source)->readRows("lm_head", 66, 1, row.data());
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("found the end of the file, expected 96 more bytes"),
            std::string::npos);
}
