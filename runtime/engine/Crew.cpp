// SPDX-License-Identifier: Apache-2.0
// Handing out tickets, joining a step, and leaving the memory to whoever is last.
#include "runtime/engine/Crew.h"
#include "runtime/engine/ArtifactCheck.h"
#include "runtime/engine/Core.h"
#include "runtime/engine/Pause.h"

namespace llmc {

uint64_t Crew::bytes(uint32_t helpers) {
  return sizeof(Crew) + static_cast<uint64_t>(helpers) * sizeof(Ticket);
}

Crew *Crew::create(const Allocator &allocator, uint32_t helpers) {
  static_assert(sizeof(Crew) % alignof(Ticket) == 0, "tickets follow the crew");
  void *memory = allocator.allocate(bytes(helpers));
  if (!memory)
    return nullptr;
  Crew *crew = new (memory) Crew(allocator, helpers);
  for (uint32_t i = 0; i < helpers; ++i) {
    Ticket *ticket = new (crew->tickets() + i) Ticket{crew, {false}, {}};
    ticket->task.run = help;
    ticket->task.argument = ticket;
  }
  return crew;
}

void Crew::release() {
  if (references.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  const Allocator keep = allocator;
  keep.release(this, bytes(helpers));
}

void Crew::handOutTickets(llmc_context &context) {
  for (uint32_t i = 0; i < size.helpers(); ++i) {
    Ticket &ticket = tickets()[i];
    if (ticket.outstanding.exchange(true, std::memory_order_acquire))
      continue;
    references.fetch_add(1, std::memory_order_relaxed);
    if (context.hasHostPool)
      context.hostPool.submit(context.hostPool.user, help, &ticket);
    else
      context.ownPool.submit(&ticket.task);
  }
}

uint32_t Crew::work(llmc_context &context, const llmc_artifact &of, llmc_run *run) {
  if (!helpers)
    return of.run_work(run);
  const uint64_t begin = ticksNow();
  artifact = &of;
  late = 0;
  const uint32_t status = threads() == 1 ? of.run_work(run) : workTogether(context, run);
  size.note(ticksNow() - begin, late);
  return status;
}

uint32_t Crew::workTogether(llmc_context &context, llmc_run *run) {
  current = run;
  ownThreads = !context.hasHostPool;
  callersCore.store(currentCore(), std::memory_order_relaxed);
  door.store(kOpen, std::memory_order_release);
  handOutTickets(context);
  const uint32_t status = artifact->run_work(run);
  door.fetch_and(~kOpen, std::memory_order_acq_rel);
  Backoff backoff;
  while (door.load(std::memory_order_acquire))
    backoff.wait();
  return status;
}

bool Crew::enter() {
  uint32_t seen = door.load(std::memory_order_relaxed);
  while (seen & kOpen)
    if (door.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                   std::memory_order_relaxed))
      return true;
  return false;
}

void Crew::help(void *argument) {
  Ticket *ticket = static_cast<Ticket *>(argument);
  Crew *crew = ticket->crew;
  if (crew->enter()) {
    const int core = crew->callersCore.load(std::memory_order_relaxed);
    if (crew->ownThreads && core == currentCore())
      moveOffCore(core); // the caller waits for it
    if (hasHelp(*crew->artifact))
      crew->artifact->run_help(crew->current);
    else
      crew->artifact->run_work(crew->current);
    crew->door.fetch_sub(1, std::memory_order_release);
  }
  ticket->outstanding.store(false, std::memory_order_release);
  crew->release();
}

} // namespace llmc
