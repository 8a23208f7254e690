// SPDX-License-Identifier: Apache-2.0
// The helpers of a session: a fixed set of tickets handed to a thread pool at each step. A ticket
// that its pool has not run yet is not handed out again; whenever it is run, it joins the step of
// that moment, or finds the door closed and leaves. So a pool may run tasks late, in any order or
// never, and no step waits for a task that has not begun. Helpers that keep losing their core are
// left out for a while (CrewSize); a caller that is left alone keeps the door closed.
#pragma once

#include "llmc/abi.h"
#include "runtime/engine/Context.h"
#include "runtime/engine/CrewSize.h"

namespace llmc {

class Crew {
public:
  // Bytes of a crew with so many helpers, as create() asks for them.
  static uint64_t bytes(uint32_t helpers);
  static Crew *create(const Allocator &allocator, uint32_t helpers);

  // What the options of the next run are to say: how many threads work, and where they note that
  // others were late.
  uint32_t threads() const { return size.helpers() + 1; }
  uint64_t *lateness() { return &late; }
  // Runs a run prepared so to its end, with helpers of `context`; no thread touches `run`
  // afterwards.
  uint32_t work(llmc_context &context, const llmc_artifact &artifact, llmc_run *run);
  // The session's share of the crew; the memory goes when the last outstanding ticket has returned
  // too.
  void release();

private:
  struct Ticket {
    Crew *crew;
    std::atomic<bool> outstanding;
    ThreadPool::Task task;
  };
  // The door: kOpen while a step runs, plus the number of helpers inside.
  static constexpr uint32_t kOpen = 1u << 31;

  Crew(const Allocator &allocator, uint32_t helpers)
      : allocator(allocator), helpers(helpers), size(helpers) {}
  Ticket *tickets() { return reinterpret_cast<Ticket *>(this + 1); }
  void handOutTickets(llmc_context &context);
  uint32_t workTogether(llmc_context &context, llmc_run *run);
  bool enter();
  static void help(void *ticket);

  const Allocator allocator;
  const uint32_t helpers;
  CrewSize size;
  uint64_t late = 0; // of the step
  std::atomic<uint32_t> references{1};
  std::atomic<uint32_t> door{0};
  const llmc_artifact *artifact = nullptr; // of the current run
  llmc_run *current = nullptr;
  bool ownThreads = false; // helpers are the context's own
  std::atomic<int> callersCore{-1};
};

} // namespace llmc
