// SPDX-License-Identifier: Apache-2.0
//
// How far a compiled result may be from the reference's: one table, a row for each op, with reasons.
#pragma once

#include "dialects/llm/LLMDialect.h"
#include "dialects/llm/reference/Tensor.h"
#include "tools/llmc/compiler/Compare.h"

namespace llmc::compare {

/// Error of one element: |found - expected| / (|expected| + r), r the root mean square of its line. Relative to the element
/// alone would condemn sums that cancel; relative to the line alone would forgive small elements nothing but absolutely.
/// The bound of a region is the sum of its ops', since each rounds once more what the one before gave it.
double boundOf(mlir::Operation *op);
double boundOf(llm::FusedOp region);

/// A part of a tensor: columns [first, first + width) of each line.
struct Columns {
  int64_t first, width;
};

/// Compares element by element; NaN equals NaN alone. Integers must be equal.
WorstElement compareTensors(const reference::Tensor &found, const reference::Tensor &expected, Columns columns, double bound);

} // namespace llmc::compare
