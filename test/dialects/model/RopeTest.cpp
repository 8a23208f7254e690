// SPDX-License-Identifier: Apache-2.0
// Inverse frequencies and magnitudes against those that transformers 5.24.0 with torch 2.15.0
// computes (LlamaRotaryEmbedding(config).inv_freq and attention_scaling, printed with nine digits).
// The bound is two units in the last place of fp32: the two take powers by different routines.
#include "dialects/model/ModelConfig.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace llmc::model;

static void expectFrequencies(const RopeConfig &rope, int64_t headDim,
                              const std::vector<float> &expected, float magnitude) {
  RopeFrequencies found = ropeFrequencies(rope, headDim);
  ASSERT_EQ(found.inverseFrequencies.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found.inverseFrequencies[i], expected[i], 2.4e-7f * expected[i]) << "pair " << i;
  EXPECT_FLOAT_EQ(found.magnitude, magnitude);
}

TEST(RopeFrequencies, Default) {
  RopeConfig rope;

  expectFrequencies(rope, 16,
                    {1.0f, 0.316227764f, 0.100000001f, 0.0316227786f, 0.00999999978f,
                     0.00316227786f, 0.00100000005f, 0.000316227786f},
                    1.0f);
}

TEST(RopeFrequencies, DefaultOdd) {
  RopeConfig rope;
  rope.theta = 1e6;
  expectFrequencies(rope, 10,
                    {1.0f, 0.0630957335f, 0.00398107152f, 0.000251188554f, 1.58489293e-05f}, 1.0f);
}

TEST(RopeFrequencies, Linear) {
  RopeConfig rope;
  rope.kind = RopeKind::Linear;
  rope.factor = 3;
  expectFrequencies(rope, 16,
                    {0.333333343f, 0.105409257f, 0.0333333351f, 0.0105409259f, 0.00333333318f,
                     0.00105409266f, 0.000333333359f, 0.000105409265f},
                    1.0f);
}

TEST(RopeFrequencies, DivisorsDivide) {
  RopeConfig rope;
  RopeFrequencies plain = ropeFrequencies(rope, 8);
  rope.frequencyDivisors = {1, 2, 8, 1e30};
  RopeFrequencies divided = ropeFrequencies(rope, 8);
  rope.kind = RopeKind::Linear;
  rope.factor = 4;
  RopeFrequencies both = ropeFrequencies(rope, 8);
  for (size_t i = 0; i < 4; ++i) {
    float divisor = static_cast<float>(rope.frequencyDivisors[i]);
    EXPECT_EQ(divided.inverseFrequencies[i], plain.inverseFrequencies[i] / divisor);
    EXPECT_EQ(both.inverseFrequencies[i], divided.inverseFrequencies[i] / 4);
  }
}

TEST(RopeFrequencies, Llama3) {
  RopeConfig rope;
  rope.kind = RopeKind::Llama3;
  rope.theta = 5e5;
  rope.factor = 8;
  rope.originalMaxPositions = 8192;
  expectFrequencies(rope, 64,
                    {1.0f,
                     0.663601279f,
                     0.440366626f,
                     0.292227834f,
                     0.193922758f,
                     0.128687382f,
                     0.0853971019f,
                     0.0566696189f,
                     0.0376060307f,
                     0.0249554086f,
                     0.0165604409f,
                     0.0109895291f,
                     0.00729266508f,
                     0.00483942125f,
                     0.00321144611f,
                     0.00137189368f,
                     0.000524846022f,
                     0.000178507791f,
                     7.78465546e-05f,
                     5.16590699e-05f,
                     3.42810235e-05f,
                     2.2748929e-05f,
                     1.50962178e-05f,
                     1.00178686e-05f,
                     6.64786967e-06f,
                     4.41153452e-06f,
                     2.92749974e-06f,
                     1.94269251e-06f,
                     1.28917316e-06f,
                     8.55496921e-07f,
                     5.6770881e-07f,
                     3.7673226e-07f},
                    1.0f);
}

TEST(RopeFrequencies, Yarn) {
  RopeConfig rope;
  rope.kind = RopeKind::Yarn;
  rope.factor = 4;
  rope.originalMaxPositions = 256;
  expectFrequencies(rope, 32,
                    {1.0f, 0.502090454f, 0.248464689f, 0.120668955f, 0.0571428537f, 0.0261087008f,
                     0.011293849f, 0.00444569858f, 0.00249999994f, 0.00140585331f, 0.000790569466f,
                     0.000444569858f, 0.000250000012f, 0.000140585325f, 7.90569466e-05f,
                     4.44569851e-05f},
                    1.13862944f);
}

TEST(RopeFrequencies, YarnExplicit) {
  RopeConfig rope;
  rope.kind = RopeKind::Yarn;
  rope.theta = 1e5;
  rope.factor = 2.5;
  rope.originalMaxPositions = 128;
  rope.attentionFactor = 1.25;
  rope.betaFast = 16;
  rope.betaSlow = 2;
  rope.truncate = false;
  expectFrequencies(rope, 24,
                    {1.0f, 0.303764641f, 0.0757452101f, 0.022493653f, 0.00861773733f,
                     0.00330161699f, 0.00126491114f, 0.00048461117f, 0.000185663492f,
                     7.11311732e-05f, 2.725169e-05f, 1.04406263e-05f},
                    1.25f);
}

TEST(RopeFrequencies, YarnMscale) {
  RopeConfig rope;
  rope.kind = RopeKind::Yarn;
  rope.factor = 40;
  rope.originalMaxPositions = 64;
  rope.mscale = 1;
  rope.mscaleAllDim = 0.8;
  expectFrequencies(rope, 16,
                    {1.0f, 0.213453725f, 0.0349999964f, 0.000790569466f, 0.000250000012f,
                     7.90569466e-05f, 2.49999994e-05f, 7.90569447e-06f},
                    1.05696626f);
}

TEST(RopeFrequencies, YarnSameEnd) {
  RopeConfig rope;
  rope.kind = RopeKind::Yarn;
  rope.factor = 4;
  rope.originalMaxPositions = 4;
  expectFrequencies(rope, 4, {1.0f, 0.00249999994f}, 1.13862944f);
}

TEST(RopeFrequencies, Dynamic) {
  RopeConfig rope;
  rope.kind = RopeKind::Dynamic;
  rope.factor = 2;
  rope.originalMaxPositions = 1024;
  expectFrequencies(rope, 16,
                    {1.0f, 0.316227764f, 0.100000001f, 0.0316227786f, 0.00999999978f,
                     0.00316227786f, 0.00100000005f, 0.000316227786f},
                    1.0f);
}

TEST(RopeFrequencies, RotaryDimsMayBeFewerThanTheHead) {
  RopeConfig rope;
  rope.rotaryDims = 10;
  RopeFrequencies partial = ropeFrequencies(rope, 16);
  rope.rotaryDims = 0;
  EXPECT_EQ(partial.inverseFrequencies, ropeFrequencies(rope, 10).inverseFrequencies);
}
