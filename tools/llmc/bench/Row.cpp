// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/bench/Row.h"
#include "runtime/engine/Inspect.h"
#include <algorithm>

namespace llmc::tool {
namespace {

using ceilings::Ceilings;

constexpr size_t kTimedDecodeSteps = 4; // they are all alike

struct Run {
  double seconds = 0;
  std::vector<StepRan> steps;
  Ceilings ceilings; // between before and after
  bool isSteady = true;
  Work work;
  double bound = 0; // seconds, summed over commands
};

Ceilings between(const Ceilings &before, const Ceilings &after) {
  const auto mean = [](double a, double b) { return (a + b) / 2; };
  return {mean(before.read, after.read), after.streams, mean(before.readWeights, after.readWeights),
          mean(before.f32, after.f32), mean(before.int8, after.int8)};
}

// Whether what binds the work is nearly the same before and after.
bool isSteady(const Work &work, const Ceilings &before, const Ceilings &after) {
  const bool reads = readSeconds(work, before) >= arithmeticSeconds(work, before);
  const auto secondsAt = [&](const Ceilings &ceilings) {
    return reads ? readSeconds(work, ceilings) : arithmeticSeconds(work, ceilings);
  };
  const double first = secondsAt(before), second = secondsAt(after);
  return std::max(first, second) <= (1 + kMostMovement) * std::min(first, second);
}

class RowMeter {
public:
  RowMeter(Workload &workload, const RowKey &key, const Judge &judge)
      : workload(workload), key(key), judge(judge), ground(judge.ground) {
    ground.keysAndValues = workload.keysAndValues();
  }

  Status warmUp() {
    if (Result<std::vector<StepRan>> ran = workload.run(); !ran)
      return ran.takeError();
    if (Status status = workload.checkLogits(); !status)
      return status;
    return measure(last);
  }

  Result<Run> run() {
    Result<std::vector<StepRan>> ran = workload.run();
    if (!ran)
      return ran.takeError();
    const Ceilings before = last;
    if (Status status = measure(last); !status)
      return status.takeError();
    Run run;
    run.steps = std::move(*ran);
    run.ceilings = between(before, last);
    for (const StepRan &step : run.steps) {
      run.seconds += step.seconds;
      for (const Work &work : judge.works.commands(step.graph, step.shape)) {
        run.work += work;
        run.bound += boundSeconds(work, run.ceilings);
      }
    }
    run.isSteady = isSteady(judge.works.isEmpty() ? guess() : run.work, before, last);
    return run;
  }

private:
  Status measure(Ceilings &ceilings) const {
    Result<Ceilings> measured = measureCeilings(ground, key.threads);
    if (!measured)
      return measured.takeError();
    ceilings = *measured;
    return {};
  }

  // What binds a model without a cost table.
  Work guess() const {
    Work work;
    (key.isPrefill ? work.f32 : work.bytes) = 1;
    return work;
  }

  Workload &workload;
  const RowKey &key;
  const Judge &judge;
  ceilings::Ground ground;
  Ceilings last;
};

template <typename Value> double medianOf(const std::vector<Run> &runs, const Value &valueOf) {
  std::vector<double> values;
  for (const Run &run : runs)
    values.push_back(valueOf(run));
  return median(std::move(values));
}

void summarise(const std::vector<Run> &runs, double tokens, Row &row) {
  std::vector<double> seconds, steps;
  for (const Run &run : runs) {
    seconds.push_back(run.seconds);
    row.rates.push_back(tokens / run.seconds);
    for (const StepRan &step : run.steps)
      steps.push_back(step.seconds);
  }
  row.seconds = spreadOf(seconds);
  row.rate = spreadOf(row.rates);
  row.step50 = median(steps);
  row.step99 = percentile(steps, 0.99);
  row.work = runs[0].work;
  row.ceilings.read = medianOf(runs, [](const Run &run) { return run.ceilings.read; });
  row.ceilings.readWeights = medianOf(runs, [](const Run &run) { return run.ceilings.readWeights; });
  row.ceilings.f32 = medianOf(runs, [](const Run &run) { return run.ceilings.f32; });
  row.ceilings.int8 = medianOf(runs, [](const Run &run) { return run.ceilings.int8; });
  row.ceilings.streams = runs.back().ceilings.streams;
  row.ofRead = medianOf(
      runs, [](const Run &run) { return readSeconds(run.work, run.ceilings) / run.seconds; });
  row.ofPeak = medianOf(
      runs, [](const Run &run) { return arithmeticSeconds(run.work, run.ceilings) / run.seconds; });
  row.ofBound = medianOf(runs, [](const Run &run) { return run.bound / run.seconds; });
}

double linearsOfPeak(const std::vector<CommandCost> &costs, const Ceilings &ceilings) {
  double atPeak = 0, taken = 0;
  for (const CommandCost &cost : costs)
    if (cost.isLinear) {
      atPeak += arithmeticSeconds(cost.work, ceilings);
      taken += cost.microseconds * 1e-6;
    }
  return taken > 0 ? atPeak / taken : 0;
}

// Command by command, after the runs: a clock between the commands costs time.
Status timeRow(Workload &workload, const std::vector<StepRan> &shapes, const Judge &judge,
               const RowOptions &options, Row &row) {
  const size_t most = row.key.isPrefill ? shapes.size() : kTimedDecodeSteps;
  std::vector<std::vector<TimedStep>> positions; // steps that are alike
  std::vector<double> idle;
  for (uint32_t i = 0; i < options.repeats; ++i) {
    Result<std::vector<TimedStep>> timed = workload.timeSteps(most);
    if (!timed)
      return timed.takeError();
    positions.resize(row.key.isPrefill ? timed->size() : 1);
    for (size_t step = 0; step < timed->size(); ++step) {
      positions[row.key.isPrefill ? step : 0].push_back((*timed)[step]);
      row.boundaries = boundariesOf((*timed)[step]);
      idle.push_back(row.boundaries.seconds);
    }
    row.timed = std::move(*timed);
  }
  row.boundaries.seconds = median(std::move(idle));
  std::vector<CommandCost> costs;
  for (size_t i = 0; i < positions.size(); ++i)
    addCosts(costs, positions[i], judge.works.commands(shapes[i].graph, shapes[i].shape),
             judge.works.linears(shapes[i].graph));
  row.costs = costTable(costs, options.byKind, row.ceilings);
  row.linearsOfPeak = linearsOfPeak(costs, row.ceilings);
  return {};
}

} // namespace

Judge judgeOf(const LoadedModel &loaded) {
  const llmc_artifact &artifact = inspect::artifactOf(loaded.model.get());
  const uint64_t level = artifact.levels[inspect::levelOf(loaded.model.get())].features;
  // A model compiled for fewer instructions is held against those; one that says nothing against
  // all that there are.
  const uint64_t allowed = level ? level : UINT64_MAX;
  return {WorkTable::of(loaded),
          {{inspect::weightsOf(loaded.model.get()), artifact.weights_bytes},
           artifact.cpu_features() & allowed}};
}

Result<Row> measureRow(Workload &workload, const RowKey &key, const Judge &judge,
                       const RowOptions &options) {
  RowMeter meter(workload, key, judge);
  if (Status status = meter.warmUp(); !status)
    return status.takeError();
  std::vector<Run> steady, unsteady;
  while (steady.size() < options.repeats && unsteady.size() < options.repeats) {
    Result<Run> run = meter.run();
    if (!run)
      return run.takeError();
    (run->isSteady ? steady : unsteady).push_back(std::move(*run));
  }
  Row row;
  row.key = key;
  row.kept = static_cast<uint32_t>(steady.size());
  row.discarded = static_cast<uint32_t>(unsteady.size());
  row.knowsWork = !judge.works.isEmpty();
  const std::vector<Run> &counted = steady.empty() ? unsteady : steady;
  summarise(counted, static_cast<double>(workload.tokens()), row);
  if (Status status = timeRow(workload, counted[0].steps, judge, options, row); !status)
    return status.takeError();
  return row;
}

} // namespace llmc::tool
