// SPDX-License-Identifier: Apache-2.0
// Prompts are prefilled one after the other, in steps of at most 256 tokens.
#include "tools/llmc/bench/Workload.h"
#include "tools/llmc/Clock.h"
#include "tools/llmc/Format.h"
#include <algorithm>

namespace llmc::tool {
namespace {

constexpr uint32_t kMostRows = 256;

// A linear congruential generator: the same prompts on every machine.
std::vector<int32_t> randomIds(uint32_t count, uint32_t vocabulary, uint64_t seed) {
  std::vector<int32_t> ids;
  for (uint64_t state = seed; ids.size() < count;) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    ids.push_back(static_cast<int32_t>((state >> 33) % vocabulary));
  }
  return ids;
}

Status checkSizes(const BenchOptions &options, const llmc_model_info &info) {
  const uint64_t length = uint64_t(options.promptLength) + options.generated;
  if (length > info.max_positions)
    return errorAt("--prompt-len", "",
                   formatted("found %u prompt tokens and %u new ones, expected at most %u in all; "
                             "compile with a larger --max-seq for longer ones",
                             options.promptLength, options.generated, info.max_positions));
  if (options.batch > info.max_sequences)
    return errorAt(
        "--batch", "",
        formatted("found %u, expected 1 to %u; compile with a larger --max-batch for more",
                  options.batch, info.max_sequences));
  if (length * options.batch > INT32_MAX)
    return errorAt("--batch", "",
                   formatted("found %u sequences of %llu tokens, expected at most %d tokens in all",
                             options.batch, static_cast<unsigned long long>(length), INT32_MAX));
  return {};
}

} // namespace

Result<Workload> Workload::prepare(const LoadedModel &loaded, const BenchOptions &options) {
  if (Status status = checkSizes(options, loaded.info); !status)
    return status.takeError();
  Workload workload(loaded, options);
  workload.maxRows = std::min(std::max(kMostRows, options.batch),
                              (options.promptLength + options.generated) * options.batch);
  llmc_session_options sizes = {};
  sizes.max_tokens = (options.promptLength + options.generated) * options.batch;
  sizes.max_sequences = options.batch;
  sizes.max_rows = workload.maxRows;
  Result<SessionOwner> session = makeSession(loaded, sizes);
  if (!session)
    return session.takeError();
  workload.session = std::move(*session);
  for (uint32_t i = 0; i < options.batch; ++i)
    workload.prompts.push_back(randomIds(options.promptLength, loaded.info.vocabulary, i + 1));
  workload.last.resize(options.batch);
  return workload;
}

Status Workload::begin() {
  CallError error;
  for (llmc_sequence *sequence : sequences)
    if (llmc_sequence_release(sequence, error.raw()))
      return error.take();
  sequences.clear();
  for (uint32_t i = 0; i < options->batch; ++i) {
    llmc_sequence *sequence = nullptr;
    if (llmc_sequence_create(session.get(), &sequence, error.raw()))
      return error.take();
    sequences.push_back(sequence);
  }
  return {};
}

Status Workload::prefill(size_t sequence, size_t firstToken) {
  CallError error;
  llmc_step_result result{};
  result.struct_size = sizeof result;
  const std::vector<int32_t> &prompt = prompts[sequence];
  if (llmc_prefill(session.get(), sequences[sequence], &prompt[firstToken],
                   static_cast<uint32_t>(prompt.size() - firstToken), &result, error.raw()))
    return error.take();
  Result<int32_t> token = pickToken(*loaded, result, 0);
  if (!token)
    return token.takeError();
  last[sequence] = *token;
  return {};
}

std::vector<llmc_rows> Workload::decodeRows() const {
  std::vector<llmc_rows> rows;
  for (size_t i = 0; i < sequences.size(); ++i)
    rows.push_back({sizeof(llmc_rows), 1, sequences[i], &last[i], LLMC_OUTPUTS_LAST, 0, nullptr});
  return rows;
}

Status Workload::decode() {
  CallError error;
  llmc_step_result result{};
  result.struct_size = sizeof result;
  const std::vector<llmc_rows> rows = decodeRows();
  if (llmc_session_step(session.get(), rows.data(), options->batch, nullptr, &result, error.raw()))
    return error.take();
  for (uint32_t i = 0; i < options->batch; ++i) {
    Result<int32_t> token = pickToken(*loaded, result, i);
    if (!token)
      return token.takeError();
    last[i] = *token;
  }
  return {};
}

Result<RunTimes> Workload::run() {
  if (Status status = begin(); !status)
    return status.takeError();
  RunTimes times;
  const double start = secondsNow();
  for (size_t i = 0; i < sequences.size(); ++i)
    if (Status status = prefill(i, 0); !status)
      return status.takeError();
  double before = secondsNow();
  times.firstTokens = before - start;
  for (uint32_t i = 1; i < options->generated; ++i) {
    if (Status status = decode(); !status)
      return status.takeError();
    const double now = secondsNow();
    times.betweenTokens.push_back(now - before);
    before = now;
  }
  times.endToEnd = before - start;
  return times;
}

Status Workload::timeSteps(TimedStep &prefillStep, TimedStep &decodeStep) {
  if (Status status = begin(); !status)
    return status;
  const uint32_t count = std::min(options->promptLength, maxRows);
  const llmc_rows rows = {sizeof rows,       count, sequences[0], prompts[0].data(),
                          LLMC_OUTPUTS_LAST, 0,     nullptr};
  if (Status status = timeCommands(*loaded, session.get(), {rows}, prefillStep); !status)
    return status;
  last[0] = 0;
  for (size_t i = 0; i < sequences.size(); ++i) {
    const size_t done = i ? 0 : count;
    if (done < prompts[i].size())
      if (Status status = prefill(i, done); !status)
        return status;
  }
  return timeCommands(*loaded, session.get(), decodeRows(), decodeStep);
}

} // namespace llmc::tool
