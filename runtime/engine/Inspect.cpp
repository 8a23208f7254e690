// SPDX-License-Identifier: Apache-2.0
// What tools see of models and steps.
#include "runtime/engine/Inspect.h"
#include "runtime/engine/Error.h"
#include "runtime/engine/Step.h"

namespace llmc::inspect {

const llmc_artifact &artifactOf(const llmc_model *model) { return *model->artifact; }
uint32_t levelOf(const llmc_model *model) { return model->level; }
const void *weightsOf(const llmc_model *model) { return model->weights; }

SteppedRun::~SteppedRun() {
  if (planned)
    undoStep(*session);
  if (session)
    session->busy.store(false, std::memory_order_release);
}

llmc_status SteppedRun::begin(llmc_session *given, const llmc_rows *rows, uint32_t entries,
                              const llmc_step_options *options, llmc_error *error) {
  if (!given || session)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "stepped run: error: found no session or a run that has begun, expected a session "
                "and a new run");
  if (given->busy.exchange(true, std::memory_order_acquire))
    return failBusy(error);
  session = given;
  const llmc_status status = planStep(*session, rows, entries, options, error);
  planned = status == LLMC_OK;
  return status;
}

llmc_status SteppedRun::run(uint32_t first, uint32_t end, uint64_t (*clock)(void),
                            llmc_command_time *times, llmc_error *error) {
  if (!planned)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "stepped run: error: found no step, expected begin() to have succeeded");
  return runCommands(*session, {first, end}, clock, times, error);
}

void SteppedRun::keep() {
  if (planned)
    keepStep(*session);
  planned = false;
}

uint32_t SteppedRun::graph() const { return session->graph; }
const llmc_step &SteppedRun::step() const { return session->step; }

void *SteppedRun::operandAddress(uint32_t index) const {
  const llmc_memory &memory = session->memory;
  const llmc_operand &operand = session->model.artifact->graphs[session->graph].operands[index];
  switch (operand.kind) {
  case LLMC_OPERAND_ROWS:
    return static_cast<char *>(memory.rows_arena) + operand.offset * memory.max_rows;
  case LLMC_OPERAND_OUTPUTS:
    return static_cast<char *>(memory.outputs_arena) + operand.offset * memory.max_outputs;
  case LLMC_OPERAND_WEIGHT:
    return const_cast<char *>(static_cast<const char *>(memory.weights)) + operand.offset;
  default:
    return static_cast<char *>(memory.kv) + operand.offset;
  }
}

llmc_step_result SteppedRun::result() const {
  llmc_step_result result{};
  result.struct_size = sizeof result;
  fillResult(*session, &result);
  return result;
}

void *chunkAddress(const llmc_sequence *sequence, uint32_t chunk) {
  const llmc_session &session = *sequence->session;
  const uint32_t page = chunk / session.shape.pageChunks;
  if (page >= sequence->n_pages)
    return nullptr;
  const size_t row = static_cast<size_t>(sequence->index) * session.shape.pagesPerSequence;
  const uint64_t block =
      static_cast<uint64_t>(session.pageTable[row + page]) * session.shape.pageChunks +
      chunk % session.shape.pageChunks;
  return static_cast<char *>(session.memory.kv) + block * session.model.artifact->chunk_bytes;
}

} // namespace llmc::inspect
