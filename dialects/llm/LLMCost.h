// SPDX-License-Identifier: Apache-2.0
//
// FLOPs and bytes of an op: the plain numbers that CostModelInterface returns. Formulas: corrected roofline table of
// the project's reference notes; a multiply-add counts two FLOPs.
#pragma once

#include <cstdint>

namespace llmc::llm {

/// The shape of a step that a cost is asked for.
struct StepShape {
  int64_t rows = 1;      ///< new tokens, all sequences together
  int64_t sequences = 1; ///< sequences taking part
  int64_t outputs = 1;   ///< rows whose logits are wanted
  int64_t context = 0;   ///< keys that the last row of a sequence sees
};

struct OpCost {
  double flops = 0;
  double weightBytes = 0;
  double activationBytes = 0;
  double kvBytes = 0;

  double bytes() const { return weightBytes + activationBytes + kvBytes; }
  double intensity() const { return bytes() > 0 ? flops / bytes() : 0; }
  OpCost &operator+=(const OpCost &other) {
    flops += other.flops, weightBytes += other.weightBytes;
    activationBytes += other.activationBytes, kvBytes += other.kvBytes;
    return *this;
  }
};

} // namespace llmc::llm
