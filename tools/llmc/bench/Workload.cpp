// SPDX-License-Identifier: Apache-2.0
// Tokens are given, not picked: what a step costs does not depend on them, and picking is a
// sampler's work. For the same reason sequences get their depth without running it: their length is
// set, and their keys and values are some numbers.
#include "tools/llmc/bench/Workload.h"
#include "runtime/engine/Inspect.h"
#include "tools/llmc/Clock.h"
#include <algorithm>
#include <cstring>

namespace llmc::tool {
namespace {

constexpr uint32_t kMostRows = 256; // as a session has by default
// Small in every format that a cache may have: 0.0115 in f32 and in bf16, 60 times that in codes.
constexpr int kFill = 0x3c;

// A linear congruential generator: the same tokens on every machine.
std::vector<int32_t> randomIds(uint32_t count, uint32_t vocabulary) {
  std::vector<int32_t> ids;
  for (uint64_t state = 1; ids.size() < count;) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    ids.push_back(static_cast<int32_t>((state >> 33) % vocabulary));
  }
  return ids;
}

uint32_t graphIndex(const llmc_artifact &artifact, uint32_t stepGraph) {
  const uint32_t kind = stepGraph == LLMC_STEP_DECODE   ? uint32_t(LLMC_GRAPH_DECODE)
                        : stepGraph == LLMC_STEP_VERIFY ? uint32_t(LLMC_GRAPH_VERIFY)
                                                        : uint32_t(LLMC_GRAPH_PREFILL);
  uint32_t index = 0;
  while (index < artifact.n_graphs && artifact.graphs[index].kind != kind)
    ++index;
  return index;
}

} // namespace

Result<Workload> Workload::ofPrefill(const LoadedModel &loaded, uint32_t promptLength) {
  Workload workload(loaded, 0, 1);
  for (uint32_t done = 0; done < promptLength; done += kMostRows) {
    const uint32_t piece = std::min(promptLength - done, kMostRows);
    workload.steps.push_back({piece, done + piece == promptLength});
  }
  if (Status status = workload.prepare(std::min(promptLength, kMostRows)); !status)
    return status.takeError();
  return workload;
}

Result<Workload> Workload::ofDecode(const LoadedModel &loaded, uint32_t depth, uint32_t batch,
                                    uint32_t generated) {
  Workload workload(loaded, depth, batch);
  workload.steps.assign(generated, {1, true});
  if (Status status = workload.prepare(std::max(kMostRows, batch)); !status)
    return status.takeError();
  return workload;
}

uint64_t Workload::tokens() const {
  uint64_t count = 0;
  for (const StepSize &step : steps)
    count += uint64_t(step.tokens) * batch;
  return count;
}

Status Workload::prepare(uint32_t maxRows) {
  const uint64_t held = depth + tokens() / batch;
  llmc_session_options sizes = {};
  sizes.max_tokens = static_cast<uint32_t>(held * batch);
  sizes.max_sequences = batch;
  sizes.max_rows = static_cast<uint32_t>(std::min<uint64_t>(maxRows, held * batch));
  Result<SessionOwner> made = makeSession(*loaded, sizes);
  if (!made)
    return made.takeError();
  session = std::move(*made);
  result.struct_size = sizeof result;
  ids = randomIds(sizes.max_rows, loaded->info.vocabulary);
  CallError error;
  for (uint32_t i = 0; i < batch; ++i) {
    llmc_sequence *sequence = nullptr;
    if (llmc_sequence_create(session.get(), &sequence, error.raw()))
      return error.take();
    sequences.push_back(sequence);
    if (Status status = fill(sequence); !status)
      return status;
  }
  return {};
}

Status Workload::fill(llmc_sequence *sequence) {
  CallError error;
  for (uint32_t done = 0; done < depth;) {
    const uint32_t piece = std::min(depth - done, static_cast<uint32_t>(ids.size()));
    const llmc_rows rows = {sizeof rows,       piece, sequence, ids.data(),
                            LLMC_OUTPUTS_NONE, 0,     nullptr};
    inspect::SteppedRun run;
    if (run.begin(session.get(), &rows, 1, nullptr, error.raw()))
      return error.take();
    run.keep(); // without a command
    done += piece;
  }
  const size_t bytes = inspect::artifactOf(loaded->model.get()).chunk_bytes;
  for (uint32_t chunk = 0; chunk * LLMC_KV_CHUNK_TOKENS < depth; ++chunk)
    if (void *memory = inspect::chunkAddress(sequence, chunk))
      memset(memory, kFill, bytes);
  return {};
}

std::vector<ceilings::Stretch> Workload::keysAndValues() const {
  const size_t bytes = inspect::artifactOf(loaded->model.get()).chunk_bytes;
  std::vector<ceilings::Stretch> pages;
  for (llmc_sequence *sequence : sequences)
    for (uint32_t chunk = 0; chunk * LLMC_KV_CHUNK_TOKENS < depth; ++chunk)
      if (const void *memory = inspect::chunkAddress(sequence, chunk))
        pages.push_back({memory, bytes});
  return pages;
}

Status Workload::rewind() {
  CallError error;
  for (llmc_sequence *sequence : sequences)
    if (llmc_sequence_truncate(sequence, depth, error.raw()))
      return error.take();
  return {};
}

std::vector<llmc_rows> Workload::rowsOf(const StepSize &step) const {
  std::vector<llmc_rows> rows;
  for (size_t i = 0; i < sequences.size(); ++i) {
    const size_t first = step.tokens == 1 ? i % ids.size() : 0;
    const uint32_t outputs = step.output ? LLMC_OUTPUTS_LAST : LLMC_OUTPUTS_NONE;
    rows.push_back(
        {sizeof(llmc_rows), step.tokens, sequences[i], &ids[first], outputs, 0, nullptr});
  }
  return rows;
}

Result<std::vector<StepRan>> Workload::run() {
  if (Status status = rewind(); !status)
    return status.takeError();
  const llmc_artifact &artifact = inspect::artifactOf(loaded->model.get());
  std::vector<StepRan> ran;
  CallError error;
  int64_t context = depth;
  for (const StepSize &step : steps) {
    const std::vector<llmc_rows> rows = rowsOf(step);
    const double before = secondsNow();
    if (llmc_session_step(session.get(), rows.data(), batch, nullptr, &result, error.raw()))
      return error.take();
    const double after = secondsNow();
    context += step.tokens;
    StepRan now;
    now.graph = graphIndex(artifact, result.graph);
    now.shape.rows = int64_t(step.tokens) * batch;
    now.shape.sequences = batch;
    now.shape.outputs = step.output ? batch : 0;
    now.shape.context = context;
    now.seconds = after - before;
    ran.push_back(now);
  }
  return ran;
}

Result<std::vector<TimedStep>> Workload::timeSteps(size_t most) {
  if (Status status = rewind(); !status)
    return status.takeError();
  std::vector<TimedStep> timed(std::min(most, steps.size()));
  for (size_t i = 0; i < timed.size(); ++i)
    if (Status status = timeCommands(*loaded, session.get(), rowsOf(steps[i]), timed[i]); !status)
      return status.takeError();
  return timed;
}

Status Workload::checkLogits() const {
  for (uint32_t row = 0; row < result.n_outputs; ++row)
    if (Result<int32_t> token = pickToken(*loaded, result, row); !token)
      return token.takeError();
  return {};
}

} // namespace llmc::tool
