// SPDX-License-Identifier: Apache-2.0
// What the executor itself takes at each command: a table of commands whose kernels do nothing, or
// dawdle for a given time, run by one thread and by several. Prints nanoseconds for each command
// beyond the kernels' own time; medians over many runs.
extern "C" {
#include "runtime/executor/Executor.h"
}
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <time.h>
#include <vector>

namespace {

constexpr uint32_t kCommands = 300; // about those of a step of SmolLM2
constexpr int kRuns = 101;

uint64_t workTicks = 0;

double secondsNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double ticksPerSecond() {
  const double begin = secondsNow();
  const uint64_t first = __builtin_ia32_rdtsc();
  while (secondsNow() < begin + 0.05)
    ;
  return static_cast<double>(__builtin_ia32_rdtsc() - first) / (secondsNow() - begin);
}

void dawdle(void *const *, const uint16_t *, const llmc_step *, uint32_t, uint32_t) {
  const uint64_t begin = __builtin_ia32_rdtsc();
  while (__builtin_ia32_rdtsc() - begin < workTicks)
    ;
}

void nothing(void *const *, const uint16_t *, const llmc_step *, uint32_t, uint32_t) {}

// A chain of equal commands, each of which needs the one before it.
class Chain {
public:
  Chain(uint32_t chunks, bool works) : kernels{works ? dawdle : nothing} {
    for (uint32_t i = 0; i < kCommands; ++i)
      commands.push_back({0, 0, 0, LLMC_EXTENT_ONE, chunks, 1, static_cast<int32_t>(i) - 1, 0});
    graph.n_commands = kCommands;
    graph.commands = commands.data();
    level.kernels = kernels;
    artifact.n_graphs = artifact.n_levels = artifact.n_kernels = 1;
    artifact.graphs = &graph;
    artifact.levels = &level;
    artifact.limits.max_positions = artifact.limits.max_sequences = artifact.limits.vocabulary = 1;
    workspace.reset(static_cast<char *>(
        aligned_alloc(64, (llmc_executor_run_bytes(&artifact, 0) + 63) / 64 * 64)));
  }

  llmc_run *run() { return reinterpret_cast<llmc_run *>(workspace.get()); }
  void begin(uint32_t threads) {
    const int32_t zero = 0, starts[2] = {0, 0};
    const uint32_t page = 0;
    const llmc_memory memory = {sizeof memory, 1, 1, 1, nullptr, nullptr, nullptr, nullptr};
    const llmc_step step = {sizeof step, LLMC_MASK_CAUSAL,
                            1,           1,
                            0,           1,
                            0,           0,
                            &zero,       nullptr,
                            &zero,       &zero,
                            &zero,       &zero,
                            starts,      &zero,
                            &zero,       &page};
    llmc_run_options options{};
    options.struct_size = sizeof options;
    options.end_command = UINT32_MAX;
    options.threads = threads;
    if (llmc_executor_run_begin(&artifact, &memory, &step, &options, run())) {
      fprintf(stderr, "boundary: error: the executor refused the chain\n");
      exit(1);
    }
  }

private:
  struct Freed {
    void operator()(char *memory) const { free(memory); }
  };
  const llmc_kernel_fn kernels[1];
  std::vector<llmc_command> commands;
  llmc_graph graph{};
  llmc_level level{};
  llmc_artifact artifact{};
  std::unique_ptr<char, Freed> workspace;
};

// Threads that spin until told to join a run.
class Helpers {
public:
  explicit Helpers(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
      threads.emplace_back([this] { work(); });
  }
  ~Helpers() {
    call(nullptr);
    for (std::thread &thread : threads)
      thread.join();
  }
  void call(llmc_run *run) {
    current = run;
    inside = static_cast<uint32_t>(threads.size());
    ++generation;
  }
  void wait() {
    while (inside)
      __builtin_ia32_pause();
  }

private:
  void work() {
    for (uint32_t seen = 0;;) {
      while (generation == seen)
        __builtin_ia32_pause();
      seen = generation;
      if (!current)
        return;
      llmc_executor_run_work(current);
      --inside;
    }
  }
  std::vector<std::thread> threads;
  std::atomic<llmc_run *> current{nullptr};
  std::atomic<uint32_t> generation{0}, inside{0};
};

double medianOf(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

void measure(uint32_t threads, uint32_t chunks, double workSeconds) {
  Chain chain(chunks, workSeconds > 0);
  Helpers helpers(threads - 1);
  std::vector<double> begins, runs;
  for (int i = 0; i < kRuns; ++i) {
    const double start = secondsNow();
    chain.begin(threads);
    const double begun = secondsNow();
    if (threads > 1)
      helpers.call(chain.run());
    llmc_executor_run_work(chain.run());
    runs.push_back(secondsNow() - begun);
    helpers.wait();
    begins.push_back(begun - start);
  }
  const double rounds = (chunks + threads - 1) / threads;
  printf("%7u %6u %8.1f %14.1f %14.1f\n", threads, chunks, workSeconds * 1e6,
         medianOf(begins) / kCommands * 1e9,
         (medianOf(runs) / kCommands - rounds * workSeconds) * 1e9);
}

} // namespace

int main(int count, char **arguments) {
  const int most = count > 1 ? atoi(arguments[1]) : 2;
  if (count > 2 || most < 1 || most > 256) {
    fprintf(stderr, "usage: llmc-bench-boundary [THREADS], 1 to 256; found %d arguments\n",
            count - 1);
    return 1;
  }
  const double rate = ticksPerSecond();
  printf("threads chunks chunk us  begin ns/cmd    more ns/cmd\n");
  for (const double microseconds : {0.0, 2.0}) {
    workTicks = static_cast<uint64_t>(microseconds * 1e-6 * rate);
    for (uint32_t threads = 1; threads <= static_cast<uint32_t>(most); ++threads)
      for (const uint32_t chunks : {1u, 2u, 4u, 8u})
        measure(threads, chunks, microseconds * 1e-6);
  }
  return 0;
}
