// SPDX-License-Identifier: Apache-2.0
#include "frontends/safetensors/Convert.h"
#include "dialects/model/Quantize.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace llmc::model;
using namespace llmc::safetensors;

TEST(FromF16, IsExactForNormalSubnormalAndSpecialValues) {
  EXPECT_EQ(fromHalf(0x3C00), 1.0f);
  EXPECT_EQ(fromHalf(0xC000), -2.0f);
  EXPECT_EQ(fromHalf(0x7BFF), 65504.0f);
  EXPECT_EQ(fromHalf(0x0400), 0x1p-14f);
  EXPECT_EQ(fromHalf(0x0001), 0x1p-24f);
  EXPECT_EQ(fromHalf(0x83FF), -1023 * 0x1p-24f);
  EXPECT_EQ(fromHalf(0x7C00), INFINITY);
  EXPECT_TRUE(std::isnan(fromHalf(0x7E00)));
  EXPECT_TRUE(std::signbit(fromHalf(0x8000)));
}

// The compiler's own half type is the second opinion, over all 65536 values.
TEST(FromF16, AgreesWithTheCompilerOnEveryValue) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    uint16_t half = static_cast<uint16_t>(bits);
    _Float16 value;
    memcpy(&value, &half, 2);
    float expected = static_cast<float>(value), found = fromHalf(half);
    ASSERT_TRUE(found == expected || (std::isnan(found) && std::isnan(expected))) << bits;
  }
}

TEST(FromBF16, IsTheUpperHalfOfAnF32) {
  EXPECT_EQ(fromBFloat16(0x3F80), 1.0f);
  EXPECT_EQ(fromBFloat16(0xC040), -3.0f);
  EXPECT_EQ(fromBFloat16(0x0001), 0x1p-133f);
}

TEST(ConvertToF32, ReadsUnalignedBytes) {
  unsigned char bytes[] = {0xFF, 0x00, 0x3C, 0x00, 0xC0};
  float out[2];
  convertToF32(bytes + 1, llmc::model::ElementType::F16, 2, out);
  EXPECT_EQ(out[0], 1.0f);
  EXPECT_EQ(out[1], -2.0f);
}
