// SPDX-License-Identifier: Apache-2.0
#include "frontends/gguf/GGUFSource.h"

#include "GGUFFile.h"
#include "frontends/gguf/OpenFile.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using model::GroupRows;
using model::TensorInfo;

namespace {

struct Opened {
  TemporaryFolder folder;
  std::unique_ptr<model::WeightSource> weights;

  explicit Opened(const GGUFFile &file) {
    folder.write("m.gguf", file.bytes());
    Result<gguf::OpenedFile> opened = gguf::openFile(folder.file("m.gguf"));
    EXPECT_TRUE(opened) << opened.error().str();
    if (opened)
      weights = std::move(opened->weights);
  }
  std::vector<float> rows(const std::string &name, int64_t first, int64_t count) const {
    const TensorInfo *info = weights->find(name);
    std::vector<float> values(static_cast<size_t>(count * info->columns()), -99);
    Status status = weights->readRows(name, first, count, values.data());
    EXPECT_TRUE(status) << status.error().str();
    return values;
  }
};

const std::vector<const char *> architectures = {"llama", "qwen2", "qwen3"};

TEST(GGUFSource, HandsOutF32AsItWasDrawn) {
  for (const char *architecture : architectures) {
    TinyGGUF tiny = tinyGGUF(architecture);
    Opened opened(tiny.file);
    model::RandomWeightSource drawn(tiny.config, 3);
    for (const model::WeightSpec &spec : model::canonicalWeights(tiny.config)) {
      const TensorInfo *info = opened.weights->find(spec.name);
      ASSERT_NE(info, nullptr) << spec.name;
      EXPECT_EQ(info->shape, spec.shape);
      std::vector<float> expected(static_cast<size_t>(info->rows() * info->columns()));
      ASSERT_TRUE(drawn.readRows(spec.name, 0, info->rows(), expected.data()));
      EXPECT_EQ(opened.rows(spec.name, 0, info->rows()), expected) << spec.name;
    }
  }
}

// Rows of q and k are put back into Hugging Face's order, whatever the panel.
TEST(GGUFSource, PanelsAreTheSameRows) {
  TinyGGUF tiny = tinyGGUF("llama", Q4_1Tensor);
  Opened opened(tiny.file);
  std::vector<float> whole = opened.rows("layers.1.q", 0, 64), joined;
  for (int64_t first = 0; first < 64; first += 5)
    for (float value : opened.rows("layers.1.q", first, std::min<int64_t>(5, 64 - first)))
      joined.push_back(value);
  EXPECT_EQ(joined, whole);
  EXPECT_FALSE(opened.weights->readRows("layers.1.q", 60, 5, joined.data()));
}

TEST(GGUFSource, BiasesOfQAndKMoveWithTheirRows) {
  TinyGGUF tiny = tinyGGUF("llama");
  for (int layer = 0; layer < 2; ++layer)
    for (const auto &[name, count] : {std::pair("q", 64), {"k", 32}, {"v", 32}}) {
      std::string bytes;
      for (int i = 0; i < count; ++i)
        bytes += floatBytes(static_cast<float>(i));
      if (name != std::string("v"))
        bytes = pairedRows(bytes, 4, 16);
      tiny.file.tensors.push_back({"blk." + std::to_string(layer) + ".attn_" + name + ".bias",
                                   {uint64_t(count)},
                                   F32Tensor,
                                   bytes});
    }
  Opened opened(tiny.file);
  for (const char *name : {"layers.0.q_bias", "layers.1.k_bias", "layers.1.v_bias"}) {
    std::vector<float> values = opened.rows(name, 0, 1);
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(values[i], static_cast<float>(i)) << name;
  }
}

class BlockTypes : public testing::TestWithParam<GGUFType> {};

// A file of known codes gives these codes, and values that a line of arithmetic gives.
TEST_P(BlockTypes, GroupsAreHandedOutAsStored) {
  TinyGGUF tiny = tinyGGUF("qwen2", GetParam());
  GGUFTensor &down = *tiny.file.findTensor("blk.0.ffn_down.weight"); // 64 rows of 3 groups
  bool hasMinimum = GetParam() == Q4_1Tensor;
  int most = GetParam() == Q8_0Tensor ? 256 : 16, bias = hasMinimum ? 0 : most / 2;
  std::vector<uint8_t> codes;
  std::vector<uint16_t> scales, minimums;
  down.bytes.clear();
  for (int group = 0; group < 64 * 3; ++group) {
    for (int i = 0; i < 32; ++i)
      codes.push_back(static_cast<uint8_t>((group * 37 + i * 11 + i / 16) % most));
    scales.push_back(static_cast<uint16_t>(0x2C00 + group)); // about 1/16
    minimums.push_back(hasMinimum ? static_cast<uint16_t>(0xB800 + group) : 0);
    down.bytes +=
        ggufBlock(GetParam(), {codes.end() - 32, codes.end()}, scales.back(), minimums.back());
  }
  Opened opened(tiny.file);
  std::vector<uint8_t> foundCodes(10 * 96);
  std::vector<uint16_t> foundScales(10 * 3), foundMinimums(10 * 3);
  Status status =
      opened.weights->readGroups("layers.0.down", 7, 10,
                                 GroupRows{foundCodes.data(), foundScales.data(),
                                           hasMinimum ? foundMinimums.data() : nullptr});
  ASSERT_TRUE(status) << status.error().str();
  EXPECT_EQ(foundCodes, std::vector<uint8_t>(codes.begin() + 7 * 96, codes.begin() + 17 * 96));
  EXPECT_EQ(foundScales, std::vector<uint16_t>(scales.begin() + 21, scales.begin() + 51));
  EXPECT_EQ(foundMinimums, std::vector<uint16_t>(minimums.begin() + 21, minimums.begin() + 51));

  std::vector<float> values = opened.rows("layers.0.down", 7, 10);
  for (size_t i = 0; i < values.size(); ++i) {
    _Float16 scale, minimum;
    std::memcpy(&scale, &foundScales[i / 32], 2);
    std::memcpy(&minimum, &foundMinimums[i / 32], 2);
    double exact = double(scale) * (foundCodes[i] - bias) + double(minimum);
    ASSERT_EQ(values[i], static_cast<float>(exact)) << i;
  }
}

// Q and k of llama: the same permutation for groups and for floats.
TEST_P(BlockTypes, GroupsOfMovedRowsAreThoseOfTheirValues) {
  TinyGGUF tiny = tinyGGUF("llama", GetParam());
  Opened opened(tiny.file);
  std::vector<uint8_t> codes(32 * 64);
  std::vector<uint16_t> scales(32 * 2), minimums(32 * 2);
  ASSERT_TRUE(opened.weights->readGroups("layers.1.k", 0, 32,
                                         GroupRows{codes.data(), scales.data(), minimums.data()}));
  std::vector<float> values = opened.rows("layers.1.k", 0, 32);
  int bias = GetParam() == Q8_0Tensor ? 128 : GetParam() == Q4_0Tensor ? 8 : 0;
  for (size_t i = 0; i < values.size(); ++i) {
    _Float16 scale, minimum;
    std::memcpy(&scale, &scales[i / 32], 2);
    std::memcpy(&minimum, &minimums[i / 32], 2);
    ASSERT_EQ(values[i], float(scale) * float(codes[i] - bias) + float(minimum)) << i;
  }
}

TEST_P(BlockTypes, AScaleThatIsNoNumberIsAnErrorWithItsPlace) {
  TinyGGUF tiny = tinyGGUF("llama", GetParam());
  GGUFTensor &up = *tiny.file.findTensor("blk.1.ffn_up.weight"); // 96 rows of 2 groups
  size_t width = up.bytes.size() / (96 * 2);
  up.bytes[(5 * 2 + 1) * width + 1] = '\x7C'; // infinity or not a number
  Opened opened(tiny.file);
  std::vector<float> out(96 * 64);
  std::string expected = opened.folder.file("m.gguf") +
                         ": tensor 'blk.1.ffn_up.weight': row 5, group 1: error: found a scale or "
                         "minimum that is infinite or not a number, expected finite ones";
  Status status = opened.weights->readRows("layers.1.up", 4, 2, out.data());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, expected);
  std::vector<uint8_t> codes(96 * 64);
  std::vector<uint16_t> scales(96 * 2), minimums(96 * 2);
  status = opened.weights->readGroups("layers.1.up", 0, 96,
                                      GroupRows{codes.data(), scales.data(), minimums.data()});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, expected);
  EXPECT_TRUE(opened.weights->readRows("layers.1.up", 0, 5, out.data()));
}

INSTANTIATE_TEST_SUITE_P(all, BlockTypes, testing::Values(Q8_0Tensor, Q4_0Tensor, Q4_1Tensor),
                         [](const auto &info) {
                           return std::string(info.param == Q8_0Tensor   ? "Q8_0"
                                              : info.param == Q4_0Tensor ? "Q4_0"
                                                                         : "Q4_1");
                         });

TEST(GGUFSource, AMinimumThatIsNoNumberIsAnError) {
  TinyGGUF tiny = tinyGGUF("qwen3", Q4_1Tensor);
  tiny.file.findTensor("blk.0.attn_q.weight")->bytes[3] = '\xFE';
  Opened opened(tiny.file);
  std::vector<float> out(64);
  EXPECT_FALSE(opened.weights->readRows("layers.0.q", 0, 1, out.data()));
}

TEST(GGUFSource, HalvesAreExact) {
  for (GGUFType type : {F16Tensor, BF16Tensor}) {
    TinyGGUF tiny = tinyGGUF("qwen2", type);
    GGUFTensor &up = *tiny.file.findTensor("blk.1.ffn_up.weight");
    up.bytes.replace(0, 2, littleEndian(0xC100, 2));
    Opened opened(tiny.file);
    EXPECT_EQ(opened.rows("layers.1.up", 0, 1)[0], type == F16Tensor ? -2.5f : -8.0f);
    EXPECT_FALSE(opened.weights->readGroups("layers.1.up", 0, 1, GroupRows()));
  }
}

TEST(GGUFSource, HashesStoredBytes) {
  TinyGGUF tiny = tinyGGUF("llama", Q4_0Tensor);
  Opened first(tiny.file);
  tiny.file.findTensor("blk.0.attn_v.weight")->bytes[40] ^= 1;
  Opened second(tiny.file);
  for (const model::WeightSpec &spec : model::canonicalWeights(tiny.config))
    EXPECT_EQ(*first.weights->hash(spec.name) == *second.weights->hash(spec.name),
              spec.name != "layers.0.v")
        << spec.name;
}

TEST(GGUFSource, SaysWhatIsWrong) {
  auto messageOf = [](const GGUFFile &file) {
    TemporaryFolder folder;
    folder.write("m.gguf", file.bytes());
    Result<gguf::OpenedFile> opened = gguf::openFile(folder.file("m.gguf"));
    return opened ? "no error" : opened.error().message.substr(folder.file("m.gguf: ").size());
  };
  TinyGGUF tiny = tinyGGUF("llama");
  *tiny.file.findTensor("blk.1.ffn_up.weight") = {
      "blk.1.ffn_up.weight", {256, 24}, 12, std::string(24 * 144, '\0')};
  EXPECT_EQ(messageOf(tiny.file), "tensor 'blk.1.ffn_up.weight': error: found type Q4_K, expected "
                                  "F32, F16, Q4_0, Q4_1, Q8_0 or BF16");
  tiny = tinyGGUF("llama");
  *tiny.file.findTensor("output_norm.weight") = {
      "output_norm.weight", {64}, Q8_0Tensor, std::string(68, '\0')};
  EXPECT_EQ(messageOf(tiny.file), "tensor 'output_norm.weight': error: found type Q8_0, expected "
                                  "F32, F16 or BF16");
  tiny = tinyGGUF("llama");
  tiny.file.tensors.push_back({"blk.0.attn_q.scale", {1}, F32Tensor, std::string(4, '\0')});
  EXPECT_EQ(messageOf(tiny.file),
            "tensor 'blk.0.attn_q.scale': error: found a tensor of shape [1] that nothing reads, "
            "expected only the weights that the file's keys ask for");
}

} // namespace
