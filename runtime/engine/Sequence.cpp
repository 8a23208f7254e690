// SPDX-License-Identifier: Apache-2.0
// Sequences and the pages that they own. Bookkeeping only: no KV memory is touched here.
#include "runtime/engine/Error.h"
#include "runtime/engine/Session.h"

namespace llmc {

static uint32_t pagesOf(const llmc_session &session, uint32_t tokens) {
  return tokens / session.shape.pageTokens + (tokens % session.shape.pageTokens ? 1 : 0);
}

void growPages(llmc_session &session, llmc_sequence &sequence, uint32_t tokens) {
  uint32_t *pages =
      session.pageTable + static_cast<size_t>(sequence.index) * session.shape.pagesPerSequence;
  for (const uint32_t needed = pagesOf(session, tokens); sequence.n_pages < needed;)
    pages[sequence.n_pages++] = session.freePages[--session.n_freePages];
}

void shrinkPages(llmc_session &session, llmc_sequence &sequence, uint32_t tokens) {
  const uint32_t *pages =
      session.pageTable + static_cast<size_t>(sequence.index) * session.shape.pagesPerSequence;
  for (const uint32_t needed = pagesOf(session, tokens); sequence.n_pages > needed;)
    session.freePages[session.n_freePages++] = pages[--sequence.n_pages];
}

} // namespace llmc

using namespace llmc;

extern "C" llmc_status llmc_sequence_create(llmc_session *session, llmc_sequence **sequence,
                                            llmc_error *error) {
  if (sequence)
    *sequence = nullptr;
  if (!session || !sequence)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "sequence: error: found a missing session or result, expected both");
  const Turn turn(session->busy);
  if (!turn.isMine())
    return failBusy(error);
  for (uint32_t i = 0; i < session->shape.maxSequences; ++i) {
    llmc_sequence &candidate = session->sequences[i];
    if (candidate.used)
      continue;
    candidate = {session, true, i, 0, 0, 0, 0};
    *sequence = &candidate;
    return LLMC_OK;
  }
  return fail(error, LLMC_SESSION_FULL,
              "sequence: error: found all %u sequences of the session in use, expected one free; "
              "release one or make the session with a larger max_sequences",
              session->shape.maxSequences);
}

static llmc_status cutTo(llmc_sequence *sequence, uint32_t length, bool keep, llmc_error *error) {
  if (!sequence || !sequence->used)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "sequence: error: found none or one that was released, expected a live sequence");
  llmc_session &session = *sequence->session;
  const Turn turn(session.busy);
  if (!turn.isMine())
    return failBusy(error);
  if (length > sequence->length)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "sequence truncate: error: found length %u, expected at most the sequence's %u",
                length, sequence->length);
  session.heldTokens -= sequence->length - length;
  sequence->length = length;
  shrinkPages(session, *sequence, length);
  sequence->used = keep;
  return LLMC_OK;
}

extern "C" llmc_status llmc_sequence_release(llmc_sequence *sequence, llmc_error *error) {
  return cutTo(sequence, 0, false, error);
}

extern "C" llmc_status llmc_sequence_truncate(llmc_sequence *sequence, uint32_t length,
                                              llmc_error *error) {
  return cutTo(sequence, length, true, error);
}

extern "C" uint32_t llmc_sequence_length(const llmc_sequence *sequence) {
  return sequence && sequence->used ? sequence->length : 0;
}
