// SPDX-License-Identifier: Apache-2.0
// Running a planned step, keeping or undoing it, and the public calls made of these.
#include "runtime/engine/Step.h"
#include "runtime/engine/Error.h"
#include <algorithm>

namespace llmc {

static llmc_status failCancelled(llmc_error *error) {
  return fail(error, LLMC_CANCELLED, "step: error: cancelled by llmc_session_cancel");
}

llmc_status runCommands(llmc_session &session, CommandRange range, uint64_t (*clock)(void),
                        llmc_command_time *times, llmc_error *error) {
  const llmc_artifact &artifact = *session.model.artifact;
  const llmc_run_options options = {sizeof options,
                                    session.graph,
                                    session.model.level,
                                    range.first,
                                    range.end,
                                    session.crew->threads(),
                                    clock,
                                    times,
                                    session.crew->lateness()};
  if (artifact.run_begin(&artifact, &session.memory, &session.step, &options, session.run))
    return fail(error, LLMC_INVALID_ARGUMENT,
                "step: error: the model refused commands %u to %u of graph %u, expected a range "
                "inside it",
                range.first, range.end, session.graph);
  uint32_t status = LLMC_RUN_CANCELLED;
  if (session.cancelWish.begin()) {
    status = session.crew->work(session.model.context, artifact, session.run);
    session.cancelWish.end();
  }
  if (status == LLMC_RUN_OK)
    return LLMC_OK;
  session.cancelWish.take();
  return failCancelled(error);
}

void keepStep(llmc_session &session) {
  for (uint32_t i = 0; i < session.step.n_sequences; ++i) {
    llmc_sequence &sequence = *session.participants[i];
    sequence.length += sequence.pending;
    session.heldTokens += sequence.pending;
    sequence.pending = 0;
  }
}

void undoStep(llmc_session &session) {
  // Backwards, so that the free pages are in the order they were in.
  for (uint32_t i = session.step.n_sequences; i-- > 0;) {
    llmc_sequence &sequence = *session.participants[i];
    sequence.pending = 0;
    shrinkPages(session, sequence, sequence.length);
  }
}

static const void *findResult(const llmc_session &session, llmc_result_kind kind) {
  const llmc_graph &graph = session.model.artifact->graphs[session.graph];
  for (uint32_t i = 0; i < graph.n_results; ++i)
    if (graph.results[i].kind == static_cast<uint32_t>(kind))
      return static_cast<const char *>(session.memory.outputs_arena) +
             graph.operands[graph.results[i].operand].offset * session.memory.max_outputs;
  return nullptr;
}

void fillResult(const llmc_session &session, llmc_step_result *result) {
  const llmc_artifact &artifact = *session.model.artifact;
  *result = {result->struct_size,
             artifact.graphs[session.graph].kind + 1,
             session.step.n_outputs,
             artifact.limits.vocabulary,
             static_cast<const float *>(findResult(session, LLMC_RESULT_LOGITS)),
             session.step.n_sequences,
             0,
             session.arrays.sequenceRow,
             static_cast<const int32_t *>(findResult(session, LLMC_RESULT_ACCEPTED))};
}

// The caller has the session's turn.
static llmc_status stepInTurn(llmc_session &session, const llmc_rows *rows, uint32_t entries,
                              const llmc_step_options *options, llmc_step_result *result,
                              llmc_error *error) {
  if (result && result->struct_size < sizeof *result)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "step result: error: found struct_size %u, expected at least %zu",
                result->struct_size, sizeof *result);
  if (llmc_status status = planStep(session, rows, entries, options, error))
    return status;
  if (llmc_status status = runCommands(session, {0, UINT32_MAX}, nullptr, nullptr, error)) {
    undoStep(session);
    return status;
  }
  keepStep(session);
  if (result)
    fillResult(session, result);
  return LLMC_OK;
}

// Before any work is done; what is wrong with single rows, planStep says.
static llmc_status checkPrefill(const llmc_session &session, const llmc_sequence &sequence,
                                uint32_t n_tokens, llmc_error *error) {
  if (sequence.session != &session || !sequence.used)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "prefill: error: found no live sequence of this session, expected one");
  const uint32_t room = std::min(session.shape.maxTokens - session.heldTokens,
                                 session.model.artifact->limits.max_positions - sequence.length);
  if (n_tokens > room)
    return fail(
        error, LLMC_SESSION_FULL,
        "prefill: error: found %u tokens, expected at most %u: the sequence holds %u of %u, "
        "the session %u of %u; make the session with a larger max_tokens",
        n_tokens, room, sequence.length, session.model.artifact->limits.max_positions,
        session.heldTokens, session.shape.maxTokens);
  return LLMC_OK;
}

} // namespace llmc

using namespace llmc;

extern "C" llmc_status llmc_session_step(llmc_session *session, const llmc_rows *rows,
                                         uint32_t n_entries, const llmc_step_options *options,
                                         llmc_step_result *result, llmc_error *error) {
  if (!session)
    return fail(error, LLMC_INVALID_ARGUMENT, "step: error: found no session, expected one");
  const Turn turn(session->busy);
  if (!turn.isMine())
    return failBusy(error);
  return stepInTurn(*session, rows, n_entries, options, result, error);
}

extern "C" llmc_status llmc_prefill(llmc_session *session, llmc_sequence *sequence,
                                    const int32_t *tokens, uint32_t n_tokens,
                                    llmc_step_result *result, llmc_error *error) {
  if (!session || !sequence || !tokens || !n_tokens)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "prefill: error: found a missing session or sequence, or no tokens, expected all "
                "three");
  const Turn turn(session->busy);
  if (!turn.isMine())
    return failBusy(error);
  if (llmc_status status = checkPrefill(*session, *sequence, n_tokens, error))
    return status;
  const uint32_t length = sequence->length;
  for (uint32_t done = 0; done < n_tokens;) {
    const uint32_t piece = std::min(n_tokens - done, session->shape.maxRows);
    const bool last = done + piece == n_tokens;
    const llmc_rows rows = {sizeof rows,
                            piece,
                            sequence,
                            tokens + done,
                            static_cast<uint32_t>(last ? LLMC_OUTPUTS_LAST : LLMC_OUTPUTS_NONE),
                            0,
                            nullptr};
    const llmc_status status =
        stepInTurn(*session, &rows, 1, nullptr, last ? result : nullptr, error);
    if (status) {
      session->heldTokens -= sequence->length - length;
      sequence->length = length;
      shrinkPages(*session, *sequence, length);
      return status;
    }
    done += piece;
  }
  return LLMC_OK;
}

extern "C" int32_t llmc_argmax(const float *logits, uint32_t count) {
  int32_t best = -1;
  for (uint32_t i = 0; logits && i < count; ++i)
    if (logits[i] == logits[i] && (best < 0 || logits[i] > logits[best]))
      best = static_cast<int32_t>(i);
  return best;
}
