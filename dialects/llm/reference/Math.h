// SPDX-License-Identifier: Apache-2.0
//
// What each `llm` op computes, as plain functions on tensors: no MLIR, no blocking, no tricks.
// Values between ops are f32; inside an op everything is computed in double and rounded once, so a
// result does not depend on the order of its sums (README.md says why).
#pragma once

#include "dialects/llm/reference/Tensor.h"

namespace llmc::reference {

enum class Activation { SiLU, GELUTanh, GELUErf, ReLU };

/// y[r, :] = x[rows[r], :]
Tensor gatherRows(const Tensor &x, const std::vector<int32_t> &rows);

/// y = w * (x / sqrt(mean(x^2) + eps)) over each of `groups` equal parts of a row.
Tensor rmsNorm(const Tensor &x, const Tensor &weight, float eps, int64_t groups);

/// 8-bit codes of each group of 32 columns and their scale, as the values that they stand for: `scale =
/// max(max |x| / 127, 2^-126)`, `code = round_to_even(x * (1 / scale))`, each operation rounded to f32.
Tensor quantize(const Tensor &x);
/// One group of it, of any size.
void quantizeGroup(const float *x, int64_t count, float *y);

/// y[r, n] = sum_k x[r, k] * w[n, k] (+ b[n]); `bias` may be null.
Tensor linear(const Tensor &x, const Tensor &weight, const Tensor *bias);

/// Columns [first, first + width) of each row.
Tensor columns(const Tensor &x, int64_t first, int64_t width);

Tensor add(const Tensor &a, const Tensor &b);

double activate(Activation activation, double x);

/// act(gate) * up
Tensor activate(Activation activation, const Tensor &gate, const Tensor &up);

/// Row `position` of a rope table: magnitude * [cos(position * f_0..), sin(position * f_0..)], 2 *
/// count values. The angle is a product in f32, cos and sin are rounded to f32 before the magnitude
/// multiplies them.
void ropeTableRow(const float *frequencies, int64_t count, float magnitude, int64_t position,
                  float *row);

/// Rotates the pairs (i, i + W/2) of each of `heads` heads; `table` holds one line [cos.., sin..]
/// for each row of x.
Tensor rope(const Tensor &x, const Tensor &table, int64_t heads);

/// The keys and values that one row sees, in logical order: for each the row of all key/value
/// heads.
struct VisibleKeys {
  std::vector<const float *> keys;
  std::vector<const float *> values;
  int64_t heads = 0;      ///< key/value heads
  int64_t keyWidth = 0;   ///< of one head
  int64_t valueWidth = 0; ///< of one head
};

/// One query head over keys from `from` to below `to`: the largest score, the sum of exponentials of what scores are below
/// it, and that sum's values. All 0 without keys. Rounded to f32, as they are where they leave an op, so that a row is the
/// same whether its one part is merged here or by an op of its own.
struct HeadAttention {
  float maximum = 0, sum = 0;
  std::vector<float> values;
};
HeadAttention attendHead(const float *query, const VisibleKeys &seen, int64_t kvHead, float scale, size_t from, size_t to);

/// The head's row of values from parts of its keys; those without keys (sum 0) are left out.
void mergeParts(const std::vector<HeadAttention> &parts, float *result);

/// softmax(scale * q . k) v for each of `heads` query heads of one row; query head h reads
/// key/value head h / (heads / G).
void attention(const float *query, const VisibleKeys &seen, int64_t heads, float scale,
               float *result);

/// The lowest index of the largest value.
int32_t argMax(const float *values, int64_t count);

/// For each sequence (accepted, next): logits of its outputs against the tokens of its output rows.
/// (0, -1) without outputs.
Tensor speculativeVerify(const Tensor &logits, const std::vector<int32_t> &outputTokens,
                         const std::vector<int32_t> &sequenceRow);

} // namespace llmc::reference
