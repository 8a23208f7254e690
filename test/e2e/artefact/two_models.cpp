// SPDX-License-Identifier: Apache-2.0
//
// Two compiled models linked into one program, each run by a thread of the host and one of libllmc. Built plain, and under
// ThreadSanitizer with executor, kernels and libllmc instrumented: clean, and with planted faults.
#include "test/e2e/compiled/Runner.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

extern "C" const struct llmc_artifact *first_llmc_query(uint32_t);
extern "C" const struct llmc_artifact *second_llmc_query(uint32_t);

using namespace llmc::test;

namespace {

int repeats = 30; // or as the argument says: a planted fault shows when threads meet in it
std::atomic<int> runs{0}, wrong{0};

void work(llmc_model_query query, const char *name) {
  Runner alone(query, name, {1}), shared(query, name, {2});
  if (!alone.ok() || !shared.ok()) {
    std::printf("%s: %s%s\n", name, alone.error().c_str(), shared.error().c_str());
    ++wrong;
    return;
  }
  llmc_sequence *one = alone.sequence(), *two = shared.sequence();
  for (int repeat = 0; repeat < repeats; ++repeat, ++runs) {
    const std::vector<int32_t> tokens = someTokens(60, alone.vocabulary(), uint64_t(repeat));
    const Logits expected = alone.feed(one, tokens, tokens.size());
    const size_t most = repeat % 3 == 0 ? tokens.size() : repeat % 3 == 1 ? 29 : 6;
    const std::string difference =
        differenceOf(shared.feed(two, tokens, most), expected, alone.vocabulary());
    if (!difference.empty() && wrong++ == 0)
      std::printf("%s: pieces of %zu: %s\n", name, most, difference.c_str());
    alone.truncate(one, 0);
    shared.truncate(two, 0);
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1)
    repeats = std::atoi(argv[1]);
  std::thread first(work, first_llmc_query, "first");
  work(second_llmc_query, "second");
  first.join();
  std::printf("%d runs done, %d wrong\n", runs.load(), wrong.load());
  return wrong.load() != 0;
}
