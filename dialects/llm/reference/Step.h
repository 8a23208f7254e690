// SPDX-License-Identifier: Apache-2.0
//
// The step descriptor of the reference: llmc_step of abi.h as plain vectors, without pages. Rows of
// several sequences may be mixed freely.
#pragma once

#include "dialects/model/Error.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace llmc::reference {

/// A sequence that takes part in a step. `handle` names its contents of the caches from step to
/// step.
struct StepSequence {
  uint64_t handle = 0;
  int32_t base = 0; ///< logical position of slot 0
};

struct Step {
  std::vector<int32_t>
      tokens; ///< [R]; may be left empty where embeddings are given and no op reads tokens
  std::vector<float> embeddings;    ///< [R, D] instead of tokens, else empty
  std::vector<int32_t> positions;   ///< [R]; what rope and masks use
  std::vector<int32_t> slots;       ///< [R]; where keys and values go
  std::vector<int32_t> rowSequence; ///< [R]; index into `sequences`
  std::vector<int32_t> outputRows;  ///< [O]; ascending rows whose logits are wanted
  std::vector<int32_t>
      sequenceRow; ///< [S + 1]; first output (index into outputRows) of each sequence
  std::vector<StepSequence> sequences;

  int64_t rows() const { return int64_t(positions.size()); }
  int64_t outputs() const { return int64_t(outputRows.size()); }
};

/// Arrays of unequal length, indices out of range, outputs that do not ascend.
Status checkStep(const Step &step);

enum class Wanted { None, Last, All };

/// Builds steps by appending rows of one sequence after the other; position = slot.
class StepBuilder {
public:
  /// `tokens` at positions first, first + 1, ... of the sequence `handle`; logits of the wanted
  /// ones.
  StepBuilder &add(uint64_t handle, const std::vector<int32_t> &tokens, int32_t first,
                   Wanted wanted);
  Step take() { return std::move(step); }

private:
  Step step;
};

} // namespace llmc::reference
