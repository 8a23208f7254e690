// SPDX-License-Identifier: Apache-2.0
// The whole way to a shared object: it opens, steps, is self-contained, survives strip, and is the
// same bytes each time.
#include "test/passes/codegen/artifact/ElfView.h"
#include "test/passes/codegen/artifact/OpenedModel.h"
#include "test/passes/codegen/artifact/ToyModel.h"

#include "llmc/llmc.h"
#include "passes/codegen/artifact/Xxh64.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <thread>

using namespace llmc::artifact;
using namespace llmc::artifact::test;

namespace {

const std::vector<int32_t> kTokens = {4, 0, 10, 4, 7};

class ArtifactTest : public testing::Test {
protected:
  ArtifactRequest request(const std::string &name) {
    ArtifactRequest made{tables, weights};
    made.levels = toyLevels();
    made.path = folder.path(name);
    made.manifest = {"toy", R"({"max_seq": 16})", R"([{"op": "head"}])"};
    return made;
  }
  ArtifactSummary write(const ArtifactRequest &made) {
    llmc::Result<ArtifactSummary> result = writeArtifact(made);
    EXPECT_TRUE(result.ok()) << (result ? "" : result.error().str());
    return result ? *result : ArtifactSummary{};
  }

  TestFolder folder;
  Tables tables = toyTables();
  ToyWeights weights;
};

TEST_F(ArtifactTest, StepsOnEveryLevel) {
  ArtifactSummary summary = write(request("model.so"));
  EXPECT_EQ(folder.files(), std::vector<std::string>{"model.so"});
  EXPECT_GT(summary.codeBytes, 1000u);
  OpenedModel model(folder.path("model.so"));
  ASSERT_TRUE(model.artifact) << model.error;
  EXPECT_EQ(model.query(LLMC_ABI_VERSION + 1), nullptr);
  for (uint32_t level = 0; level < 2; ++level)
    EXPECT_EQ(model.logits(kTokens, level), expectedLogits(weights, kTokens)) << "level " << level;
}

TEST_F(ArtifactTest, OpensInTheEngine) {
  write(request("model.so"));
  llmc_error error = {sizeof error, LLMC_OK, ""};
  llmc_context *context = nullptr;
  llmc_model *model = nullptr;
  llmc_session *session = nullptr;
  llmc_sequence *sequence = nullptr;
  ASSERT_EQ(llmc_context_create(nullptr, &context, &error), LLMC_OK) << error.message;
  ASSERT_EQ(llmc_model_open(context, folder.path("model.so").c_str(), nullptr, &model, &error),
            LLMC_OK)
      << error.message;
  ASSERT_EQ(llmc_session_create(model, nullptr, &session, &error), LLMC_OK) << error.message;
  ASSERT_EQ(llmc_sequence_create(session, &sequence, &error), LLMC_OK) << error.message;
  llmc_step_result result = {};
  result.struct_size = sizeof result;
  ASSERT_EQ(
      llmc_prefill(session, sequence, kTokens.data(), uint32_t(kTokens.size()), &result, &error),
      LLMC_OK)
      << error.message;
  const std::vector<float> expected = expectedLogits(weights, kTokens);
  EXPECT_EQ(std::vector<float>(result.logits, result.logits + 11),
            std::vector<float>(expected.end() - 11, expected.end()));
  llmc_session_destroy(session);
  llmc_model_destroy(model);
  llmc_context_destroy(context);
}

TEST_F(ArtifactTest, NeedsNothingAndExportsOneFunction) {
  write(request("model.so"));
  ElfView elf(folder.path("model.so"));
  EXPECT_EQ(elf.needed, std::vector<std::string>{});
  EXPECT_EQ(elf.undefined, std::vector<std::string>{});
  EXPECT_EQ(elf.exported, std::vector<std::string>{"llmc_query"});
  for (const char *name : {".data", ".bss"})
    EXPECT_TRUE(!elf.section(name) || !elf.section(name)->sh_size) << name;
  EXPECT_EQ(elf.bytes.find(folder.path("")), std::string::npos) << "a path is inside";
}

TEST_F(ArtifactTest, WeightsAreTheLastSegment) {
  write(request("model.so"));
  ElfView elf(folder.path("model.so"));
  for (size_t i = 1; i < elf.loads.size(); ++i)
    EXPECT_GE(elf.loads[i].p_vaddr, elf.loads[i - 1].p_vaddr + elf.loads[i - 1].p_memsz);
  const Elf64_Phdr &last = elf.loads.back();
  EXPECT_EQ(last.p_flags, uint32_t(PF_R));
  EXPECT_EQ(last.p_filesz, tables.weightsBytes);
  EXPECT_EQ(last.p_vaddr % (2u << 20), 0u);
  EXPECT_EQ(last.p_offset % (2u << 20), 0u);
  ASSERT_TRUE(elf.section(".llmc.weights"));
  EXPECT_EQ(elf.section(".llmc.weights")->sh_offset, last.p_offset);
}

TEST_F(ArtifactTest, StripKeepsWeightsAndMeaning) {
  write(request("model.so"));
  const std::string before = ElfView(folder.path("model.so")).content(".llmc.weights");
  ASSERT_EQ(system((TEST_STRIP " " + folder.path("model.so")).c_str()), 0);
  ElfView elf(folder.path("model.so"));
  EXPECT_FALSE(elf.section(".symtab"));
  EXPECT_EQ(elf.content(".llmc.weights"), before);
  EXPECT_EQ(OpenedModel(folder.path("model.so")).logits(kTokens), expectedLogits(weights, kTokens));
}

TEST_F(ArtifactTest, SameRequestSameBytes) {
  TestFolder other;
  write(request("model.so"));
  ArtifactRequest second = request("model.so");
  second.path = other.path("elsewhere.so");
  write(second);
  EXPECT_TRUE(readFile(folder.path("model.so")) == readFile(second.path));
}

TEST_F(ArtifactTest, HashesAreOfThePackedBytes) {
  write(request("model.so"));
  OpenedModel model(folder.path("model.so"));
  const llmc_artifact &artifact = *model.artifact;
  const char *base =
      reinterpret_cast<const char *>(&artifact.weights_delta) + artifact.weights_delta;
  auto hash = [](const char *bytes, uint64_t size) {
    Xxh64 state;
    state.add(bytes, size);
    return state.value();
  };
  EXPECT_EQ(artifact.weights_hash, hash(base, artifact.weights_bytes));
  for (uint32_t i = 0; i < artifact.n_weights; ++i)
    EXPECT_EQ(artifact.weights[i].hash,
              hash(base + artifact.weights[i].offset, artifact.weights[i].bytes))
        << i;
  EXPECT_STREQ(artifact.weights[1].name, "head.a+head.b");
  EXPECT_STREQ(artifact.weights[1].format, "panel4<f32>");
}

TEST_F(ArtifactTest, ManifestTellsTheWholeStory) {
  write(request("model.so"));
  OpenedModel model(folder.path("model.so"));
  auto manifest = nlohmann::json::parse(
      std::string(model.artifact->manifest, model.artifact->manifest_bytes), nullptr, false);
  ASSERT_FALSE(manifest.is_discarded());
  EXPECT_EQ(manifest["abi_version"], LLMC_ABI_VERSION);
  EXPECT_EQ(manifest["target"][1]["features"][0], "avx2");
  EXPECT_EQ(manifest["limits"]["eos"], (std::vector<int>{3, 7}));
  EXPECT_EQ(manifest["memory"]["weights_bytes"], 896);
  EXPECT_EQ(manifest["quantisation"]["formats"][0]["format"], "panel4<f32>");
  EXPECT_TRUE(manifest["quantisation"]["relative_error"].empty()); // kept as stored
  EXPECT_EQ(manifest["options"]["max_seq"], 16);
  EXPECT_EQ(manifest["cost"][0]["op"], "head");
  EXPECT_EQ(manifest["source"]["tensors"].size(), 3u);
  EXPECT_NE(manifest["source"]["tensors"]["embed"], "0000000000000000");
}

TEST_F(ArtifactTest, SeparateWeightsLieBeside) {
  ArtifactRequest made = request("model.so");
  made.weightsSeparate = true;
  ArtifactSummary summary = write(made);
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"model.so", "model.so.weights"}));
  EXPECT_EQ(summary.weightsPath, folder.path("model.so.weights"));
  OpenedModel model(folder.path("model.so"));
  EXPECT_STREQ(model.artifact->weights_file, "model.so.weights");
  EXPECT_EQ(model.artifact->weights_delta, 0);
  const std::string file = readFile(summary.weightsPath);
  ASSERT_EQ(file.size(), LLMC_WEIGHTS_FILE_HEADER + tables.weightsBytes);
  uint64_t header[2];
  memcpy(header, file.data(), sizeof header);
  EXPECT_EQ(header[0], model.artifact->weights_hash);
  EXPECT_EQ(header[1], tables.weightsBytes);
  EXPECT_EQ(model.logits(kTokens, 0, file.data() + LLMC_WEIGHTS_FILE_HEADER),
            expectedLogits(weights, kTokens));
}

TEST_F(ArtifactTest, WithoutWeightsThereIsNoSegmentForThem) {
  tables.weights.clear();
  tables.weightsBytes = 0;
  ArtifactRequest made = request("model.so");
  made.weightsSeparate = true;
  EXPECT_EQ(write(made).weightsPath, "");
  EXPECT_EQ(folder.files(), std::vector<std::string>{"model.so"});
  EXPECT_FALSE(ElfView(folder.path("model.so")).section(".llmc.weights"));
  OpenedModel model(folder.path("model.so"));
  ASSERT_TRUE(model.artifact) << model.error;
  EXPECT_EQ(model.artifact->weights_delta, 0);
}

TEST_F(ArtifactTest, FourWritersAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { write(request("model" + std::to_string(i) + ".so")); });
  for (std::thread &thread : threads)
    thread.join();
  for (int i = 1; i < 4; ++i)
    EXPECT_TRUE(readFile(folder.path("model0.so")) ==
                readFile(folder.path("model" + std::to_string(i) + ".so")))
        << i;
}

TEST_F(ArtifactTest, ProgressEndsAtAllBytes) {
  ArtifactRequest made = request("model.so");
  uint64_t last = 0;
  made.progress = [&](uint64_t done, uint64_t total) {
    EXPECT_EQ(total, tables.weightsBytes);
    EXPECT_GE(done, last);
    last = done;
  };
  write(made);
  EXPECT_EQ(last, tables.weightsBytes);
}

} // namespace
