// SPDX-License-Identifier: Apache-2.0
//
// One model, compiled with every schedule field that may not change a bit forced to several values, and with other layouts and
// fusions: the bits of the default.
#include "test/e2e/Goldens.h"
#include "test/e2e/bits/Schedules.h"
#include "test/e2e/compiled/CompileModel.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

namespace llmc::test {
namespace {

struct Variant {
  std::string schedule, kvLayout = "head_major", fuseNorm = "cost", kv = "auto";
  std::string text() const { return schedule + " " + kvLayout + " " + fuseNorm + " " + kv; }
};

class Variants : public testing::Test {
protected:
  void SetUp() override {
    std::filesystem::create_directories(LLMC_TEST_MODELS);
    path = std::string(LLMC_TEST_MODELS) + "/variant-" + std::to_string(getpid());
  }
  void TearDown() override {
    std::error_code code;
    for (const char *ending : {".so", "-other.so", ".json"})
      std::filesystem::remove(path + ending, code);
  }

  void compile(const std::string &model, const Variant &variant, const std::string &output) {
    ModelRequest request;
    request.input = model;
    request.output = output;
    request.schedule = variant.schedule;
    request.kv = variant.kv;
    request.kvLayout = variant.kvLayout;
    request.fuseNorm = variant.fuseNorm;
    Result<CompiledModel> compiled = compileModel(request);
    ASSERT_TRUE(compiled) << variant.text() << ": " << compiled.error().str();
  }

  /// Every variant gives the default's bits, through all graphs, on two threads. All with one format
  /// of the cache.
  void expectEqual(const std::string &model, size_t tokens, std::vector<Variant> variants,
                   const std::string &kv = "auto") {
    std::string error;
    for (Variant &variant : variants)
      variant.kv = kv;
    ASSERT_NO_FATAL_FAILURE(compile(model, {"", "head_major", "cost", kv}, path + ".so"));
    Canonical expected = canonical(path + ".so", tokens, 5, error);
    ASSERT_EQ(error, "");
    expected.path = path + "-other.so";
    for (const Variant &variant : variants) {
      ASSERT_NO_FATAL_FAILURE(compile(model, variant, expected.path));
      EXPECT_EQ(throughAllGraphs(expected, withRoomFor(tokens, 2)), "") << variant.text();
      EXPECT_EQ(inPieces(expected, {1}, 7, LLMC_STEP_AUTO), "") << variant.text();
    }
  }

  static std::vector<Variant> values(const char *field, std::vector<int> numbers) {
    std::vector<Variant> made;
    for (int number : numbers)
      made.push_back({std::string(field) + "=" + std::to_string(number)});
    return made;
  }

  /// Seeded: a field's value for all graphs, or for one; layouts and fusions as well.
  static std::vector<Variant> combinations(uint64_t seed, int count) {
    std::mt19937_64 random(seed);
    auto pick = [&](std::vector<const char *> of) { return std::string(of[random() % of.size()]); };
    std::vector<Variant> made;
    for (int i = 0; i < count; ++i) {
      Variant v;
      v.schedule = "linear:row_tile=" + pick({"1", "2", "3", "4", "5", "8"}) +
                   ",linear:k_tile=" + pick({"1", "4", "5", "8", "16", "64"}) +
                   ",linear:panels=" + pick({"1", "2", "3", "7"}) +
                   ",chunk=" + pick({"1", "2", "3", "16", "1000"}) + ",decode:linear:row_tile=" +
                   pick({"1", "2", "4"}) + ",verify:linear:panels=" + pick({"1", "2", "5"}) +
                   ",prefill:attention:chunk=" + pick({"1", "5", "64"}) +
                   ",attention:row_tile=" + pick({"1", "4", "16"});
      v.kvLayout = pick({"head_major", "token_major"});
      v.fuseNorm = pick({"cost", "always", "never"});
      made.push_back(v);
    }
    return made;
  }

  std::string toy() const { return goldenModel("llama-three-heads-65"); }
  std::string path;
};

TEST_F(Variants, rowTile) { expectEqual(toy(), 140, values("linear:row_tile", {1, 3, 4, 8})); }
TEST_F(Variants, attentionRowTile) {
  std::vector<Variant> variants = values("attention:row_tile", {1, 2, 8, 16});
  variants.push_back({"decode:attention:row_tile=4,prefill:attention:row_tile=1"});
  variants.push_back({"attention:row_tile=8", "token_major"});
  expectEqual(toy(), 140, variants);
}
TEST_F(Variants, attentionRowTileWithWindow) {
  std::vector<Variant> variants = values("attention:row_tile", {1, 2, 16});
  expectEqual(goldenModel("mistral-window-70"), 200, variants);
}
TEST_F(Variants, panels) { expectEqual(toy(), 140, values("linear:panels", {2, 3, 64})); }
TEST_F(Variants, kTile) { expectEqual(toy(), 140, values("linear:k_tile", {1, 7, 8, 32})); }
TEST_F(Variants, chunk) { expectEqual(toy(), 140, values("chunk", {1, 3, 16, 1000})); }
TEST_F(Variants, layoutsAndFusions) {
  expectEqual(toy(), 140,
              {{"", "token_major", "cost"},
               {"", "head_major", "always"},
               {"", "head_major", "never"},
               {"", "token_major", "never"}});
}
TEST_F(Variants, combinations1) { expectEqual(toy(), 140, combinations(1, 5)); }
TEST_F(Variants, combinations2) { expectEqual(toy(), 140, combinations(2, 5)); }
TEST_F(Variants, combinations3) { expectEqual(toy(), 140, combinations(3, 5)); }
TEST_F(Variants, combinations4) { expectEqual(toy(), 140, combinations(4, 5)); }

TEST_F(Variants, cacheInBF16) {
  std::vector<Variant> variants = combinations(6, 5);
  variants.push_back({"", "token_major", "never"});
  variants.push_back({"", "head_major", "always"});
  expectEqual(toy(), 140, variants, "bf16");
}

TEST_F(Variants, cacheInInt8) {
  std::vector<Variant> variants = combinations(7, 3);
  variants.push_back({"attention:row_tile=8", "token_major", "never"});
  variants.push_back({"attention:row_tile=1", "head_major", "always"});
  expectEqual(toy(), 140, variants, "int8");
}

// Rounded keys and values are other numbers: had they the bits of f32, nothing had been rounded.
TEST_F(Variants, roundedCachesAreNoticed) {
  std::string error;
  ASSERT_NO_FATAL_FAILURE(compile(toy(), {}, path + ".so"));
  Canonical expected = canonical(path + ".so", 140, 5, error);
  ASSERT_EQ(error, "");
  expected.path = path + "-other.so";
  for (const char *kv : {"bf16", "int8"}) {
    ASSERT_NO_FATAL_FAILURE(compile(toy(), {"", "head_major", "cost", kv}, expected.path));
    EXPECT_NE(throughAllGraphs(expected, {2}), "") << kv;
  }
}

// What the rows above could not tell apart, they could not test: another reduction tree shows.
TEST_F(Variants, anotherTreeIsNoticed) {
  std::string error;
  ASSERT_NO_FATAL_FAILURE(compile(toy(), {}, path + ".so"));
  Canonical expected = canonical(path + ".so", 140, 5, error);
  ASSERT_EQ(error, "");
  expected.path = path + "-other.so";
  for (const char *schedule : {"linear:k_split=2", "linear:k_split=3"}) {
    ASSERT_NO_FATAL_FAILURE(compile(toy(), {schedule}, expected.path));
    EXPECT_NE(throughAllGraphs(expected, {2}), "") << schedule;
  }
}

// Long enough for more parts than one: of four chunks of 64 keys each at least.
TEST_F(Variants, keysInParts) {
  std::string model = path + ".json";
  Status written = writeRandomModel({64, 96, 100, 2, 4, 2, 16, 700, 29}, model);
  ASSERT_TRUE(written.ok()) << written.error().str();
  std::vector<Variant> variants = values("attention:row_tile", {1, 16});
  variants.push_back({"", "token_major", "never"});
  expectEqual(model, 620, variants);
  expectEqual(model, 620, variants, "int8");
}

TEST_F(Variants, wide) {
  std::string model = path + ".json";
  Status written = writeRandomModel({512, 1024, 640, 2, 8, 2, 64, 512, 11}, model);
  ASSERT_TRUE(written.ok()) << written.error().str();
  std::vector<Variant> variants = combinations(5, 3);
  variants.push_back({"linear:k_tile=32,linear:row_tile=2,linear:panels=2,chunk=1"});
  expectEqual(model, 210, variants);
}

} // namespace
} // namespace llmc::test
