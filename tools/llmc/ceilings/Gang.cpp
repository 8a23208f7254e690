// SPDX-License-Identifier: Apache-2.0
// Everybody waits until all are there, so that none starts while another still wakes up.
#include "tools/llmc/ceilings/Gang.h"
#include "tools/llmc/Clock.h"
#include <algorithm>
#include <cstring>
#include <sched.h>

namespace llmc::ceilings {
namespace {

// A core that the awaited thread may need is given away after a while.
template <typename Condition> void waitUntil(const Condition &holds) {
  for (uint32_t turn = 0; !holds(); ++turn) {
    __builtin_ia32_pause();
    if (turn % 1024 == 1023)
      sched_yield();
  }
}

} // namespace

Result<std::unique_ptr<Gang>> Gang::start(uint32_t threads) {
  std::unique_ptr<Gang> gang(new Gang);
  for (uint32_t i = 0; i < threads; ++i)
    gang->members.push_back({gang.get(), i, {}, 0, 0});
  for (uint32_t i = 1; i < threads; ++i) {
    Member &member = gang->members[i];
    if (const int code = pthread_create(&member.thread, nullptr, memberMain, &member))
      return errorAt("--threads", "",
                     "found room for " + std::to_string(i) + " threads (" + strerror(code) +
                         "), expected " + std::to_string(threads) + "; ask for fewer");
    ++gang->started;
  }
  return gang;
}

Gang::~Gang() {
  work = nullptr;
  round.fetch_add(1, std::memory_order_release);
  for (uint32_t i = 1; i <= started; ++i)
    pthread_join(members[i].thread, nullptr);
}

void Gang::take(Member &member) {
  ready.fetch_add(1, std::memory_order_acq_rel);
  waitUntil([&] { return ready.load(std::memory_order_acquire) >= members.size(); });
  member.begin = tool::secondsNow();
  (*work)(member.index);
  member.end = tool::secondsNow();
  finished.fetch_add(1, std::memory_order_release);
}

void *Gang::memberMain(void *argument) {
  Member &member = *static_cast<Member *>(argument);
  Gang &gang = *member.gang;
  for (uint32_t seen = 0;; ++seen) {
    waitUntil([&] { return gang.round.load(std::memory_order_acquire) != seen; });
    if (!gang.work)
      return nullptr;
    gang.take(member);
  }
}

double Gang::run(const std::function<void(uint32_t)> &given) {
  work = &given;
  ready.store(0, std::memory_order_relaxed);
  finished.store(0, std::memory_order_relaxed);
  round.fetch_add(1, std::memory_order_release);
  take(members[0]);
  waitUntil([&] { return finished.load(std::memory_order_acquire) == members.size(); });
  double begin = members[0].begin, end = members[0].end;
  for (const Member &member : members) {
    begin = std::min(begin, member.begin);
    end = std::max(end, member.end);
  }
  return end - begin;
}

} // namespace llmc::ceilings
