// SPDX-License-Identifier: Apache-2.0
// Exact rounding to the float formats PTX knows, in all four directions, without touching the
// host's rounding mode. Sums, products, quotients and roots of narrow floats are formed in double
// and, where inexact, rounded to odd, so that the one rounding to the narrow format is the right
// one.
#ifndef LLMC_TOOLS_PTX_INTERPRETER_FLOATFORMAT_H
#define LLMC_TOOLS_PTX_INTERPRETER_FLOATFORMAT_H

#include "tools/ptx-interpreter/Types.h"

namespace llmc::ptx {

enum class Rounding : uint8_t { NearestEven, Zero, Down, Up };

/// `significand` * 2^`exponent` in the format of `type` (f16, bf16, f32, f64).
uint64_t roundSignificand(bool negative, uint64_t significand, int exponent, ScalarType type,
                          Rounding rounding);

/// A double in the format of `type`; NaN becomes the format's canonical NaN.
uint64_t roundDouble(double value, ScalarType type, Rounding rounding);

/// The cell of a float type as a double (exact).
double cellToDouble(uint64_t cell, ScalarType type);

/// The canonical NaN that PTX arithmetic returns.
uint64_t canonicalNaN(ScalarType type);

/// Arithmetic with one rounding for f16, bf16 and f32; for f64 only NearestEven is meaningful.
uint64_t addRounded(double left, double right, ScalarType type, Rounding rounding);
uint64_t multiplyRounded(double left, double right, ScalarType type, Rounding rounding);
uint64_t fusedRounded(double left, double right, double addend, ScalarType type, Rounding rounding);
uint64_t divideRounded(double left, double right, ScalarType type, Rounding rounding);
uint64_t rootRounded(double value, ScalarType type, Rounding rounding);

/// A float rounded to a whole number in the given direction; NearestEven is PTX's `rni`.
double roundToWhole(double value, Rounding rounding);

} // namespace llmc::ptx

#endif
