// SPDX-License-Identifier: Apache-2.0
//
// How far a compiled result may be from the reference's: one table, a row for each op, with
// reasons.
#pragma once

#include "dialects/llm/LLMDialect.h"
#include "dialects/llm/reference/Interpreter.h"
#include "tools/llmc/compiler/Compare.h"

namespace llmc::compare {

/// Error of one element: |found - expected| / (|expected| + r), r the root mean square of its line.
/// Relative to the element alone would condemn sums that cancel; relative to the line alone would
/// forgive small elements nothing but absolutely. The bound of a region is the sum of its ops',
/// since each rounds once more what the one before gave it.
double boundOf(mlir::Operation *op);
double boundOf(llm::FusedOp region);

/// A part of a tensor: columns [first, first + width) of each line.
struct Columns {
  int64_t first, width;
};

/// Compares element by element; NaN equals NaN alone. Integers must be equal. With a tolerance,
/// elements that are no farther off than it says are right as well.
WorstElement compareTensors(const reference::Tensor &found, const reference::Tensor &expected,
                            Columns columns, double bound,
                            const reference::Tensor *tolerance = nullptr);

/// `found`, which was rounded to bf16, as if it had not been: an element is the expected one where
/// rounding something within `bound` of that gives what was found, and left as it is elsewhere.
reference::Tensor unrounded(reference::Tensor found, const reference::Tensor &expected,
                            Columns columns, double bound);

/// The same of what was rounded to codes of 8 bits, heads of `width` with a scale each.
reference::Tensor withoutCodes(reference::Tensor found, const reference::Tensor &expected,
                               Columns columns, int64_t width, double bound);

/// A step of the codes for each value of a row that lies so near the middle of two codes (in steps)
/// that less than the last place of what comes before decides; 0 for the others. `group` values
/// share a scale.
reference::Tensor undecidedSteps(const reference::Tensor &row, double fromMiddle,
                                 int64_t group = llm::GroupType::kGroup);

/// What rounding may do to each element of `value`, which `region` yields, by the partial sums of
/// its dot products. They can be far larger than the result: real models have a few massive
/// activations that cancel. Needed only where the plain bound is not kept, since it costs a product
/// with the weights. Nothing for values that are no sums.
std::optional<reference::Tensor> toleranceOf(llm::FusedOp region, mlir::Value value,
                                             const reference::Environment &environment,
                                             const model::WeightSource &weights);

} // namespace llmc::compare
