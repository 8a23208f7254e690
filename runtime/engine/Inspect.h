// SPDX-License-Identifier: Apache-2.0
// For our own tools: an artefact's tables, a step run command range by command range, and the
// memory between. Not installed.
#pragma once

#include "llmc/abi.h"
#include "llmc/llmc.h"

namespace llmc::inspect {

const llmc_artifact &artifactOf(const llmc_model *model);
// The level in use, an index into artifact.levels.
uint32_t levelOf(const llmc_model *model);
// Start of the packed weights; NULL for a model without any.
const void *weightsOf(const llmc_model *model);

// One step, set up once. Commands run in any number of ranges, in order; then keep() appends the
// rows to their sequences, or the destructor undoes the step. Holds the session's turn: other calls
// on the session get LLMC_BUSY until it is gone.
class SteppedRun {
public:
  SteppedRun(const SteppedRun &) = delete;
  SteppedRun &operator=(const SteppedRun &) = delete;
  SteppedRun() = default;
  ~SteppedRun();

  llmc_status begin(llmc_session *session, const llmc_rows *rows, uint32_t entries,
                    const llmc_step_options *options, llmc_error *error);
  // Commands [first, end). With a clock, times[i] of each command that ran is set and of all others
  // cleared; `times` is [n_commands].
  llmc_status run(uint32_t first, uint32_t end, uint64_t (*clock)(void), llmc_command_time *times,
                  llmc_error *error);
  void keep();

  // The graph chosen, an index into artifact.graphs, and the descriptor that kernels see.
  uint32_t graph() const;
  const llmc_step &step() const;
  // First byte of an operand, as kernels see it: of row 0, output 0, the weight, or of the cache in
  // page 0.
  void *operandAddress(uint32_t operand) const;
  llmc_step_result result() const;

private:
  llmc_session *session = nullptr;
  bool planned = false;
};

// Chunk `chunk` (64 tokens) of a sequence: start of the block that holds all caches; add
// cache.offset. NULL beyond its pages.
void *chunkAddress(const llmc_sequence *sequence, uint32_t chunk);

} // namespace llmc::inspect
