// SPDX-License-Identifier: Apache-2.0
// `llmc import`: the model.json says what the folder says.
#include "frontends/Open.h"
#include "frontends/json/ModelJson.h"
#include "test/frontends/Support.h"
#include "test/tools/llmc/Program.h"
#include <filesystem>
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

// Every weight of both, value by value.
void expectSameWeights(const OpenedModel &left, const OpenedModel &right) {
  for (const model::WeightSpec &spec : model::canonicalWeights(left.config)) {
    const model::TensorInfo *info = left.weights->find(spec.name);
    const model::TensorInfo *other = right.weights->find(spec.name);
    ASSERT_TRUE(info && other) << spec.name;
    std::vector<float> a(static_cast<size_t>(info->rows() * info->columns())), b(a.size());
    ASSERT_TRUE(left.weights->readRows(spec.name, 0, info->rows(), a.data()));
    ASSERT_TRUE(right.weights->readRows(spec.name, 0, info->rows(), b.data()));
    EXPECT_EQ(a, b) << spec.name;
  }
}

TEST(Import, DescriptionOpensWithTheSameConfigAndWeights) {
  for (const char *family : {"llama", "mistral", "qwen2", "qwen3"}) {
    TemporaryFolder folder, other;
    tinyFolder(family).write(folder);
    const std::string file = other.file("model.json");
    const Outcome outcome = llmc({"import", folder.path, "-o", file});
    ASSERT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_TRUE(contains(outcome.out, "weights stay in " + folder.path)) << outcome.out;
    Result<OpenedModel> direct = openModel(folder.path), imported = openModel(file);
    ASSERT_TRUE(direct) << direct.error().str();
    ASSERT_TRUE(imported) << imported.error().str();
    EXPECT_EQ(json::writeModelJson(direct->config, {}), json::writeModelJson(imported->config, {}));
    expectSameWeights(*direct, *imported);
  }
}

TEST(Import, WeightsAreNamedFromTheFolderOfTheDescription) {
  TemporaryFolder outer;
  TemporaryFolder folder;
  tinyFolder("llama").write(folder);
  std::filesystem::rename(folder.path, outer.file("hf"));
  std::filesystem::create_directory(folder.path); // what the guard removes
  ASSERT_EQ(llmc({"import", outer.file("hf"), "-o", outer.file("model.json")}).code, 0);
  const Json json = Json::parse(readFile(outer.file("model.json")), nullptr, false);
  EXPECT_EQ(json["weights"]["safetensors"], "hf");
}

TEST(Import, ReplacesOnlyWhenForced) {
  TemporaryFolder folder;
  tinyFolder("llama").write(folder);
  folder.write("model.json", "mine");
  const std::string file = folder.file("model.json");
  const Outcome outcome = llmc({"import", folder.path, "-o", file});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.error, "model.json: error: found a file of that name"))
      << outcome.error;
  EXPECT_EQ(readFile(file), "mine");
  EXPECT_EQ(llmc({"import", folder.path, "-o", file, "--force"}).code, 0);
  EXPECT_NE(readFile(file), "mine");
}

TEST(Import, BrokenFolderLeavesNothing) {
  TemporaryFolder folder;
  folder.write("config.json", "{\"model_type\": ");
  const Outcome outcome = llmc({"import", folder.path, "-o", folder.file("model.json")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.error, "config.json: ")) << outcome.error;
  EXPECT_FALSE(std::filesystem::exists(folder.file("model.json")));
  EXPECT_EQ(llmc({"import", folder.file("config.json"), "-o", folder.file("m.json")}).code, 1);
}

TEST(Import, SchemaIsJson) {
  const Outcome outcome = llmc({"import", "--schema"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(Json::parse(outcome.out, nullptr, false)["properties"].contains("hidden_size"));
}

} // namespace
} // namespace llmc::test
