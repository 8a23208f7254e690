// SPDX-License-Identifier: Apache-2.0
// Layout of a session's block, making it and giving it back.
#include "runtime/engine/Session.h"
#include "runtime/engine/Error.h"
#include "runtime/engine/Pause.h"
#include <algorithm>
#include <type_traits>

using namespace llmc;

namespace {

// Offsets of the parts of the block. Run once to learn the size and once more to place the
// pointers.
class Layout {
public:
  explicit Layout(char *block) : block(block) {}

  template <typename T> void place(T *&pointer, uint64_t count, uint64_t elementBytes) {
    if (count && elementBytes > (kLargest - bytes) / count)
      overflowed = true;
    if (overflowed)
      return;
    if (block)
      pointer = reinterpret_cast<T *>(block + bytes);
    bytes += (count * elementBytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  template <typename T> void place(T *&pointer, uint64_t count) {
    place(pointer, count, sizeof(T));
  }
  uint64_t size() const { return bytes; }
  bool fits() const { return !overflowed; }

private:
  static constexpr uint64_t kLargest = 1ull << 62;
  char *block;
  uint64_t bytes = 0;
  bool overflowed = false;
};

uint64_t workspaceBytes(const llmc_artifact &artifact) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < artifact.n_graphs; ++i)
    most = std::max(most, artifact.run_bytes(&artifact, i));
  return most;
}

// `session` may be unplaced: then only sizes are computed.
Layout layOut(const llmc_artifact &artifact, const SessionShape &shape, llmc_session *session,
              char *block) {
  Layout layout(block);
  llmc_session *self = nullptr;
  llmc_sequence *sequences = nullptr, **participants = nullptr;
  uint32_t *pageTable = nullptr, *freePages = nullptr;
  StepArrays arrays{};
  char *run = nullptr, *rows = nullptr, *outputs = nullptr, *kv = nullptr;
  layout.place(self, 1);
  layout.place(sequences, shape.maxSequences);
  layout.place(participants, shape.maxSequences);
  layout.place(pageTable, static_cast<uint64_t>(shape.maxSequences) * shape.pagesPerSequence);
  layout.place(freePages, shape.n_pages);
  for (int32_t **array : {&arrays.tokens, &arrays.positions, &arrays.slots, &arrays.rowSequence})
    layout.place(*array, shape.maxRows);
  layout.place(arrays.outputRows, shape.maxOutputs);
  layout.place(arrays.sequenceRow, static_cast<uint64_t>(shape.maxSequences) + 1);
  layout.place(arrays.sequenceBase, shape.maxSequences);
  layout.place(arrays.sequencePage, shape.maxSequences);
  layout.place(run, 1, workspaceBytes(artifact));
  layout.place(rows, shape.maxRows, artifact.rows_arena_bytes);
  layout.place(outputs, shape.maxOutputs, artifact.outputs_arena_bytes);
  layout.place(kv, shape.n_pages, shape.pageChunks * artifact.chunk_bytes);
  if (!session)
    return layout;
  session->sequences = sequences;
  session->participants = participants;
  session->pageTable = pageTable;
  session->freePages = freePages;
  session->arrays = arrays;
  session->run = reinterpret_cast<llmc_run *>(run);
  session->memory = {
      sizeof(llmc_memory),   shape.maxRows, shape.maxOutputs, shape.n_pages, rows, outputs, kv,
      session->model.weights};
  return layout;
}

llmc_status measure(const llmc_model &model, const SessionShape &shape, uint64_t *bytes,
                    llmc_error *error) {
  const Layout layout = layOut(*model.artifact, shape, nullptr, nullptr);
  if (!layout.fits())
    return fail(
        error, LLMC_INVALID_ARGUMENT,
        "session options: error: found %u rows, %u outputs and %u pages, expected fewer than "
        "2^62 bytes in all",
        shape.maxRows, shape.maxOutputs, shape.n_pages);
  *bytes = layout.size();
  return LLMC_OK;
}

void fillTables(llmc_session &session) {
  const SessionShape &shape = session.shape;
  for (uint32_t i = 0; i < shape.maxSequences; ++i)
    new (&session.sequences[i]) llmc_sequence{&session, false, i, 0, 0, 0, 0};
  // The lowest page is on top, so that short sessions touch little memory.
  for (uint32_t i = 0; i < shape.n_pages; ++i)
    session.freePages[i] = shape.n_pages - 1 - i;
  session.n_freePages = shape.n_pages;
  session.step = {};
}

} // namespace

extern "C" llmc_status llmc_session_bytes(const llmc_model *model,
                                          const llmc_session_options *options, uint64_t *bytes,
                                          llmc_error *error) {
  if (!model || !bytes)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "session bytes: error: found a missing model or result, expected both");
  SessionShape shape;
  if (llmc_status status = shapeSession(*model, options, &shape, error))
    return status;
  if (llmc_status status = measure(*model, shape, bytes, error))
    return status;
  *bytes += Crew::bytes(shape.helpers);
  return LLMC_OK;
}

extern "C" llmc_status llmc_session_create(llmc_model *model, const llmc_session_options *options,
                                           llmc_session **session, llmc_error *error) {
  if (session)
    *session = nullptr;
  if (!model || !session)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "session: error: found a missing model or result, expected both");
  SessionShape shape;
  uint64_t bytes = 0;
  if (llmc_status status = shapeSession(*model, options, &shape, error))
    return status;
  if (llmc_status status = measure(*model, shape, &bytes, error))
    return status;
  const Allocator &allocator = model->context.allocator;
  char *block = static_cast<char *>(allocator.allocate(bytes));
  Crew *crew = block ? Crew::create(allocator, shape.helpers) : nullptr;
  if (!crew) {
    allocator.release(block, bytes);
    return fail(error, LLMC_OUT_OF_MEMORY,
                "session: error: no memory for %llu bytes; ask for fewer tokens, rows or outputs",
                static_cast<unsigned long long>(bytes + Crew::bytes(shape.helpers)));
  }
  preferHugePages(block, bytes); // a step goes through keys and values of all its tokens
  llmc_session *made = new (block) llmc_session(*model, shape, bytes);
  made->crew = crew;
  layOut(*model->artifact, shape, made, block);
  fillTables(*made);
  *session = made;
  return LLMC_OK;
}

extern "C" void llmc_session_destroy(llmc_session *session) {
  if (!session)
    return;
  llmc_model &model = session->model;
  const uint64_t bytes = session->bytes;
  session->crew->release();
  session->~llmc_session();
  model.context.allocator.release(session, bytes);
  model.release();
}

namespace llmc {

llmc_status failBusy(llmc_error *error) {
  return fail(error, LLMC_BUSY,
              "session: error: found another thread inside, expected one at a time; make a session "
              "for each thread");
}

void CancelWish::raise(const llmc_artifact &artifact, llmc_run *run) {
  raising.fetch_add(1);
  wished.store(true);
  if (running.load())
    artifact.run_cancel(run);
  raising.fetch_sub(1);
}

bool CancelWish::begin() {
  running.store(true);
  if (!wished.load())
    return true;
  end();
  return false;
}

void CancelWish::end() {
  running.store(false);
  Backoff backoff;
  while (raising.load()) // Else a late run_cancel would hit the next step.
    backoff.wait();
}

} // namespace llmc

extern "C" void llmc_session_cancel(llmc_session *session) {
  if (session)
    session->cancelWish.raise(*session->model.artifact, session->run);
}
