// SPDX-License-Identifier: Apache-2.0
// Rounding of weights: halves against every half there is, groups against their own definition.
#include "dialects/model/Quantize.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace llmc;
using namespace llmc::model;

namespace {

TEST(Halves, EachHalfSurvives) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = fromHalf(uint16_t(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(fromHalf(toHalf(value)))) << bits;
      continue;
    }
    ASSERT_EQ(toHalf(value), bits);
  }
}

// The nearest of two neighbours, and the even one in the middle.
TEST(Halves, RoundToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    double low = fromHalf(uint16_t(bits)), high = fromHalf(uint16_t(bits + 1));
    float middle = float((low + high) / 2);
    ASSERT_EQ(toHalf(middle), bits & 1 ? bits + 1 : bits);
    ASSERT_EQ(toHalf(std::nextafter(middle, 0.0f)), bits);
    ASSERT_EQ(toHalf(-std::nextafter(middle, 1e9f)), (bits + 1) | 0x8000);
  }
  EXPECT_EQ(toHalf(65520.0f), 0x7C00);
  EXPECT_EQ(toHalf(65519.0f), 0x7BFF);
  EXPECT_EQ(toHalf(std::numeric_limits<float>::infinity()), 0x7C00);
}

TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(toBFloat16(1.0f), 0x3F80);
  EXPECT_EQ(toBFloat16(1.00390625f), 0x3F80); // half a unit above an even one
  EXPECT_EQ(toBFloat16(1.01171875f), 0x3F82); // half a unit above an odd one
  EXPECT_EQ(toBFloat16(std::nextafter(1.00390625f, 2.0f)), 0x3F81);
  EXPECT_TRUE(std::isnan(fromBFloat16(toBFloat16(std::nanf("")))));
}

// Loops over many give what one at a time gives, at any address and of any length.
TEST(Halves, ManyAreEachAsOneAlone) {
  std::vector<float> values;
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 99991)
    values.push_back(floatOf(uint32_t(bits)));
  values.resize(values.size() - values.size() % 8 + 5);
  std::vector<char> halves(2 * values.size() + 1), brains(halves.size());
  toHalves(values.data(), values.size(), halves.data() + 1);
  toBFloat16s(values.data(), values.size(), brains.data() + 1);
  std::vector<float> fromHalf16(values.size()), fromBrain16(values.size());
  fromHalves(halves.data() + 1, values.size(), fromHalf16.data());
  fromBFloat16s(brains.data() + 1, values.size(), fromBrain16.data());
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t half, brain;
    std::memcpy(&half, halves.data() + 1 + 2 * i, 2);
    std::memcpy(&brain, brains.data() + 1 + 2 * i, 2);
    ASSERT_EQ(half, toHalf(values[i])) << bitsOf(values[i]);
    ASSERT_EQ(brain, toBFloat16(values[i])) << bitsOf(values[i]);
    ASSERT_EQ(bitsOf(fromHalf16[i]), bitsOf(fromHalf(half)));
    ASSERT_EQ(bitsOf(fromBrain16[i]), bitsOf(fromBFloat16(brain)));
  }
}

struct Codes {
  std::vector<uint8_t> codes;
  std::vector<uint16_t> scales, minimums;
  explicit Codes(int64_t columns)
      : codes(size_t(columns)), scales(size_t(columns / groupSize)),
        minimums(size_t(columns / groupSize)) {}
  GroupRows rows() { return {codes.data(), scales.data(), minimums.data()}; }
};

// Any value is at most half a step from what it becomes, and a step is what the format allows.
void expectWithinHalfAStep(GroupFormat format, float steps) {
  std::vector<float> values(64);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(float(i) * 1.7f) + 0.2f;
  Codes codes(64);
  quantizeRow(values.data(), 64, format, codes.rows());
  std::vector<float> back(64);
  dequantizeRow(codes.rows(), 64, format, back.data());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(back[i], values[i], 2.4f / steps) << i;
}

TEST(Groups, StayWithinAStep) {
  expectWithinHalfAStep({8, false}, 254);
  expectWithinHalfAStep({8, true}, 255);
  expectWithinHalfAStep({4, false}, 14);
  expectWithinHalfAStep({4, true}, 15);
}

// What a format can hold survives: codes times a power of two.
TEST(Groups, ExactValuesSurvive) {
  for (GroupFormat format : {GroupFormat{8, false}, GroupFormat{4, false}, GroupFormat{4, true}}) {
    std::vector<float> values(32);
    int most = (1 << format.bits) - 1;
    for (int i = 0; i < 32; ++i)
      values[size_t(i)] = 0.125f * float(i * most / 31 - format.bias()) + (format.hasMinimum ? -1 : 0);
    if (format.bits == 8)
      values[0] = -0.125f * 127; // symmetric 8-bit codes leave -128 unused
    Codes codes(32);
    quantizeRow(values.data(), 32, format, codes.rows());
    std::vector<float> back(32);
    dequantizeRow(codes.rows(), 32, format, back.data());
    EXPECT_EQ(back, values) << format.bits;
  }
}

TEST(Groups, ZerosStayZeros) {
  std::vector<float> values(32), back(32, 1.0f);
  for (GroupFormat format : {GroupFormat{8, false}, GroupFormat{4, false}, GroupFormat{4, true}}) {
    Codes codes(32);
    quantizeRow(values.data(), 32, format, codes.rows());
    dequantizeRow(codes.rows(), 32, format, back.data());
    EXPECT_EQ(back, values);
  }
}

class OneRow : public WeightSource {
public:
  explicit OneRow(std::vector<float> values) : values(std::move(values)) {
    info = {"w", {1, int64_t(this->values.size())}, ElementType::F32, "model: w"};
  }
  const TensorInfo *find(std::string_view name) const override {
    return name == "w" ? &info : nullptr;
  }
  Status readRows(std::string_view, int64_t, int64_t, float *out) const override {
    std::copy(values.begin(), values.end(), out);
    return {};
  }

private:
  std::vector<float> values;
  TensorInfo info;
};

TEST(ReadAs, RefusesWhatHasNoCode) {
  std::vector<float> values(32, 1.0f);
  values[7] = std::nanf("");
  OneRow source(values);
  std::vector<float> out(32);
  Status status = readRowsAs(source, "w", {ElementType::F32, GroupFormat{8, false}}, 0, 1, out.data());
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.takeError().message.find("found NaN, expected finite values"), std::string::npos);
}

TEST(ReadAs, TellsTheLoss) {
  std::vector<float> values(32);
  for (size_t i = 0; i < 32; ++i)
    values[i] = float(i) * 0.37f;
  OneRow source(values);
  std::vector<float> out(32);
  RoundingLoss loss;
  Format format{ElementType::F32, GroupFormat{4, true}};
  ASSERT_TRUE(readRowsAs(source, "w", format, 0, 1, out.data(), &loss).ok());
  double error = 0, squares = 0;
  for (size_t i = 0; i < 32; ++i) {
    error += (double(values[i]) - out[i]) * (double(values[i]) - out[i]);
    squares += double(values[i]) * values[i];
  }
  EXPECT_DOUBLE_EQ(loss.relative(), std::sqrt(error / squares));
  EXPECT_GT(loss.relative(), 0.005);
}

} // namespace
