// SPDX-License-Identifier: Apache-2.0
// From the caller's rows to the step descriptor.
#include "runtime/engine/Error.h"
#include "runtime/engine/Step.h"

namespace llmc {
namespace {

constexpr uint32_t kMostVerifyRows = 8;

struct Request {
  const char *rows;
  uint32_t stride;
  uint32_t entries;

  const llmc_rows &operator[](uint32_t index) const {
    return *reinterpret_cast<const llmc_rows *>(rows + static_cast<size_t>(index) * stride);
  }
};

bool wantsOutput(const llmc_rows &rows, uint32_t token) {
  switch (rows.outputs) {
  case LLMC_OUTPUTS_LAST:
    return token + 1 == rows.n_tokens;
  case LLMC_OUTPUTS_ALL:
    return true;
  case LLMC_OUTPUTS_MARKED:
    return rows.marks[token] != 0;
  default:
    return false;
  }
}

llmc_status checkEntry(const llmc_session &session, const Request &request, uint32_t index,
                       llmc_error *error) {
  const llmc_rows &rows = request[index];
  if (rows.struct_size != request.stride)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "step: rows %u: error: found struct_size %u, expected %u as in rows 0", index,
                rows.struct_size, request.stride);
  if (!rows.sequence || rows.sequence->session != &session || !rows.sequence->used)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "step: rows %u: error: found no live sequence of this session, expected one",
                index);
  for (uint32_t i = 0; i < index; ++i)
    if (request[i].sequence == rows.sequence)
      return fail(error, LLMC_INVALID_ARGUMENT,
                  "step: rows %u: error: found the sequence of rows %u again, expected each once; "
                  "put its tokens together",
                  index, i);
  if (!rows.n_tokens || !rows.tokens || rows.outputs > LLMC_OUTPUTS_MARKED ||
      (rows.outputs == LLMC_OUTPUTS_MARKED && !rows.marks))
    return fail(
        error, LLMC_INVALID_ARGUMENT,
        "step: rows %u: error: found %u tokens, outputs %u, %s, expected at least one token, "
        "outputs 0 to 3, marks with 3",
        index, rows.n_tokens, rows.outputs, rows.marks ? "marks" : "no marks");
  const uint32_t longest = session.model.artifact->limits.max_positions;
  if (rows.n_tokens > longest - rows.sequence->length)
    return fail(
        error, LLMC_SESSION_FULL,
        "step: rows %u: error: found %u tokens after %u, expected at most %u in a sequence; "
        "compile the model with a larger --max-seq",
        index, rows.n_tokens, rows.sequence->length, longest);
  return LLMC_OK;
}

llmc_status checkTokens(const llmc_session &session, const Request &request, uint32_t index,
                        llmc_error *error) {
  const llmc_rows &rows = request[index];
  const uint32_t vocabulary = session.model.artifact->limits.vocabulary;
  for (uint32_t i = 0; i < rows.n_tokens; ++i)
    if (static_cast<uint32_t>(rows.tokens[i]) >= vocabulary)
      return fail(error, LLMC_INVALID_ARGUMENT,
                  "step: rows %u, token %u: error: found token id %d, expected 0 to %u", index, i,
                  rows.tokens[i], vocabulary - 1);
  return LLMC_OK;
}

llmc_status checkTotals(const llmc_session &session, const Request &request, llmc_error *error) {
  const SessionShape &shape = session.shape;
  uint64_t tokens = 0, outputs = 0;
  for (uint32_t i = 0; i < request.entries; ++i) {
    if (llmc_status status = checkEntry(session, request, i, error))
      return status;
    tokens += request[i].n_tokens;
    if (tokens > shape.maxRows)
      return fail(error, LLMC_INVALID_ARGUMENT,
                  "step: error: found %llu or more tokens, expected at most max_rows %u; split the "
                  "step, or use llmc_prefill",
                  static_cast<unsigned long long>(tokens), shape.maxRows);
    if (llmc_status status = checkTokens(session, request, i, error))
      return status;
    for (uint32_t t = 0; t < request[i].n_tokens; ++t)
      outputs += wantsOutput(request[i], t);
  }
  if (outputs > shape.maxOutputs)
    return fail(
        error, LLMC_INVALID_ARGUMENT,
        "step: error: found %llu rows of logits asked for, expected at most max_outputs %u; "
        "make the session with a larger max_outputs",
        static_cast<unsigned long long>(outputs), shape.maxOutputs);
  if (tokens > shape.maxTokens - session.heldTokens)
    return fail(
        error, LLMC_SESSION_FULL,
        "step: error: found %llu tokens for a session that holds %u of %u, expected at most "
        "%u; release or truncate a sequence, or make the session with a larger max_tokens",
        static_cast<unsigned long long>(tokens), session.heldTokens, shape.maxTokens,
        shape.maxTokens - session.heldTokens);
  return LLMC_OK;
}

llmc_graph_kind suitableKind(const Request &request) {
  bool one = true, few = true;
  for (uint32_t i = 0; i < request.entries; ++i) {
    one &= request[i].n_tokens == 1;
    few &= request[i].n_tokens >= 2 && request[i].n_tokens <= kMostVerifyRows;
  }
  return one ? LLMC_GRAPH_DECODE : few ? LLMC_GRAPH_VERIFY : LLMC_GRAPH_PREFILL;
}

llmc_status chooseGraph(llmc_session &session, const Request &request,
                        const llmc_step_options *options, llmc_error *error) {
  const llmc_model &model = session.model;
  const uint32_t n_graphs = model.artifact->n_graphs;
  if (options && (options->struct_size < sizeof *options || options->graph > LLMC_STEP_VERIFY))
    return fail(
        error, LLMC_INVALID_ARGUMENT,
        "step options: error: found struct_size %u, graph %u, expected at least %zu and 0 to %d",
        options->struct_size, options->graph, sizeof *options, LLMC_STEP_VERIFY);
  if (options && options->graph != LLMC_STEP_AUTO) {
    session.graph = model.graphOf(static_cast<llmc_graph_kind>(options->graph - 1));
    if (session.graph < n_graphs)
      return LLMC_OK;
    return fail(error, LLMC_INVALID_ARGUMENT,
                "step options: error: found graph %u, which this model was compiled without",
                options->graph);
  }
  session.graph = model.graphOf(suitableKind(request));
  if (session.graph == n_graphs)
    session.graph = model.graphOf(LLMC_GRAPH_PREFILL);
  if (session.graph == n_graphs)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "step: error: found no graph for these rows in the model, expected prefill");
  return LLMC_OK;
}

void fillRows(llmc_session &session, const llmc_rows &rows, uint32_t entry) {
  StepArrays &arrays = session.arrays;
  llmc_step &step = session.step;
  llmc_sequence &sequence = *rows.sequence;
  arrays.sequenceBase[entry] = sequence.base;
  arrays.sequencePage[entry] =
      static_cast<int32_t>(sequence.index * session.shape.pagesPerSequence);
  arrays.sequenceRow[entry] = static_cast<int32_t>(step.n_outputs);
  for (uint32_t i = 0; i < rows.n_tokens; ++i) {
    const uint32_t row = step.n_rows++;
    const int32_t slot = static_cast<int32_t>(sequence.length + i);
    arrays.tokens[row] = rows.tokens[i];
    arrays.positions[row] = sequence.base + slot;
    arrays.slots[row] = slot;
    arrays.rowSequence[row] = static_cast<int32_t>(entry);
    if (wantsOutput(rows, i))
      arrays.outputRows[step.n_outputs++] = static_cast<int32_t>(row);
  }
  arrays.sequenceRow[entry + 1] = static_cast<int32_t>(step.n_outputs);
}

void fillStep(llmc_session &session, const Request &request) {
  const StepArrays &arrays = session.arrays;
  session.step = {sizeof(llmc_step),
                  LLMC_MASK_CAUSAL,
                  0,
                  request.entries,
                  0,
                  session.shape.pageChunks,
                  0,
                  0,
                  arrays.tokens,
                  nullptr,
                  arrays.positions,
                  arrays.slots,
                  arrays.rowSequence,
                  arrays.outputRows,
                  arrays.sequenceRow,
                  arrays.sequenceBase,
                  arrays.sequencePage,
                  session.pageTable};
  for (uint32_t i = 0; i < request.entries; ++i) {
    llmc_sequence &sequence = *request[i].sequence;
    session.participants[i] = &sequence;
    sequence.pending = request[i].n_tokens;
    growPages(session, sequence, sequence.length + sequence.pending);
    fillRows(session, request[i], i);
  }
}

} // namespace

llmc_status planStep(llmc_session &session, const llmc_rows *rows, uint32_t entries,
                     const llmc_step_options *options, llmc_error *error) {
  if (!rows || !entries || entries > session.shape.maxSequences)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "step: error: found rows of %u sequences, expected 1 to max_sequences %u",
                rows ? entries : 0, session.shape.maxSequences);
  if (rows->struct_size < sizeof *rows || rows->struct_size % alignof(llmc_rows))
    return fail(error, LLMC_INVALID_ARGUMENT,
                "step: rows 0: error: found struct_size %u, expected %zu", rows->struct_size,
                sizeof *rows);
  const Request request = {reinterpret_cast<const char *>(rows), rows->struct_size, entries};
  if (llmc_status status = checkTotals(session, request, error))
    return status;
  if (llmc_status status = chooseGraph(session, request, options, error))
    return status;
  fillStep(session, request);
  return LLMC_OK;
}

} // namespace llmc
