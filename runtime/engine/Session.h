// SPDX-License-Identifier: Apache-2.0
// A session: activation arenas, a pool of KV pages, and sequences that own pages. Everything is one
// block of memory whose layout is computed before anything is asked for, so that llmc_session_bytes
// is exact and a step allocates nothing.
#pragma once

#include "runtime/engine/Crew.h"
#include "runtime/engine/Model.h"

struct llmc_sequence {
  llmc_session *session;
  bool used;
  uint32_t index;   // row of the page table
  uint32_t length;  // tokens
  uint32_t pending; // tokens of the step being run
  uint32_t n_pages;
  int32_t base; // logical position of slot 0
};

namespace llmc {

// The options with all defaults filled in, and what follows from them.
struct SessionShape {
  uint32_t maxTokens;
  uint32_t maxSequences;
  uint32_t maxRows;
  uint32_t maxOutputs;
  uint32_t pageChunks;
  uint32_t pageTokens;
  uint32_t pagesPerSequence;
  uint32_t n_pages;
  uint32_t helpers;
};

llmc_status shapeSession(const llmc_model &model, const llmc_session_options *options,
                         SessionShape *shape, llmc_error *error);

// Arrays of the step descriptor, filled anew for each step.
struct StepArrays {
  int32_t *tokens;
  int32_t *positions;
  int32_t *slots;
  int32_t *rowSequence;
  int32_t *outputRows;
  int32_t *sequenceRow;
  int32_t *sequenceBase;
  int32_t *sequencePage;
};

// Keeps a second thread out of a session.
class Turn {
public:
  explicit Turn(std::atomic<bool> &busy)
      : busy(busy), mine(!busy.exchange(true, std::memory_order_acquire)) {}
  ~Turn() {
    if (mine)
      busy.store(false, std::memory_order_release);
  }
  bool isMine() const { return mine; }

private:
  std::atomic<bool> &busy;
  const bool mine;
};

// A wish to stop, raised by any thread or signal handler. It is granted to one step: the running
// one or the next.
class CancelWish {
public:
  void raise(const llmc_artifact &artifact, llmc_run *run);
  // Takes the wish away; true if there was one.
  bool take() { return wished.exchange(false); }
  // Between these two, raise() may reach the run. begin() is false, and the run not reachable, when
  // the wish came before.
  bool begin();
  void end();

private:
  std::atomic<bool> wished{false};
  std::atomic<bool> running{false};
  std::atomic<uint32_t> raising{0};
};

} // namespace llmc

struct llmc_session {
  llmc_session(llmc_model &model, const llmc::SessionShape &shape, uint64_t bytes)
      : model(model), shape(shape), bytes(bytes) {
    model.retain();
  }

  llmc_model &model;
  const llmc::SessionShape shape;
  const uint64_t bytes; // of the block that starts with this struct
  llmc::Crew *crew = nullptr;
  std::atomic<bool> busy{false};
  llmc::CancelWish cancelWish;

  llmc_memory memory{};
  llmc_run *run = nullptr;
  llmc_sequence *sequences = nullptr; // [maxSequences]
  uint32_t *pageTable = nullptr;      // [maxSequences, pagesPerSequence]
  uint32_t *freePages = nullptr;      // a stack
  uint32_t n_freePages = 0;
  uint32_t heldTokens = 0;                // of all sequences
  llmc_sequence **participants = nullptr; // [maxSequences], those of the step
  llmc::StepArrays arrays{};
  llmc_step step{};
  uint32_t graph = 0; // of the step
};

namespace llmc {

// Gives a sequence the pages that `tokens` tokens need, or takes those away that they do not need.
void growPages(llmc_session &session, llmc_sequence &sequence, uint32_t tokens);
void shrinkPages(llmc_session &session, llmc_sequence &sequence, uint32_t tokens);
llmc_status failBusy(llmc_error *error);

} // namespace llmc
