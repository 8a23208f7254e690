// SPDX-License-Identifier: Apache-2.0
//
// Which steps are compared: the prompt in two parts, some decode steps, and the last tokens again
// through the verify graph. A second, short sequence takes part where the model allows two, and
// comes first: so rows are not positions, and pages of the prompt are not 0, 1, 2 ..., which would
// hide a kernel that does not look them up.
#include "tools/llmc/compiler/Compare.h"
#include "tools/llmc/compiler/CompareStep.h"

namespace llmc::compare {
namespace {

constexpr size_t kStepRows = 256;      ///< of a prefill step, together
constexpr size_t kCompanionTokens = 3; ///< prompt of the second sequence
constexpr size_t kVerifyTokens = 3;    ///< of a sequence, in the verify step

class Comparison {
public:
  Comparison(CompareState &state, std::vector<int32_t> prompt, int64_t newTokens)
      : state(state), newTokens(newTokens) {
    if (state.sequences.size() > 1)
      tokens.push_back(
          {prompt.rbegin(), prompt.rbegin() + std::min(prompt.size(), kCompanionTokens)});
    tokens.push_back(std::move(prompt));
  }

  Status run() {
    if (Status status = prefill(); !status || state.report.difference)
      return status;
    for (int64_t i = 0; i < newTokens; ++i)
      if (Status status = decode(i); !status || state.report.difference)
        return status;
    return verify();
  }

private:
  Status step(const StepPlan &plan, bool appends) {
    Result<std::vector<int32_t>> next = compareStep(state, plan);
    if (!next)
      return next.takeError();
    if (appends && !state.report.difference)
      for (size_t e = 0; e < plan.entries.size(); ++e)
        pending[plan.entries[e].sequence] = (*next)[e];
    return {};
  }

  /// The prompt in at least two parts where it can be parted, the companion with the first.
  Status prefill() {
    pending.resize(tokens.size());
    size_t main = tokens.size() - 1, total = tokens[main].size(), done = 0;
    size_t part = std::min((total + 1) / 2, kStepRows - kCompanionTokens);
    while (done < total && !state.report.difference) {
      size_t end = std::min(total, done + part);
      StepPlan plan{"prefill of tokens " + std::to_string(done) + " to " + std::to_string(end - 1),
                    LLMC_STEP_PREFILL,
                    state.drift ? LLMC_OUTPUTS_ALL : LLMC_OUTPUTS_LAST,
                    {}};
      if (done == 0 && main == 1)
        plan.entries.push_back({0, tokens[0]});
      plan.entries.push_back({main,
                              {tokens[main].begin() + std::ptrdiff_t(done),
                               tokens[main].begin() + std::ptrdiff_t(end)}});
      if (Status status = step(plan, true); !status)
        return status;
      done = end;
    }
    return {};
  }

  Status decode(int64_t number) {
    StepPlan plan{"decode " + std::to_string(number + 1), LLMC_STEP_DECODE, LLMC_OUTPUTS_LAST, {}};
    for (size_t s = 0; s < tokens.size(); ++s) {
      tokens[s].push_back(pending[s]);
      plan.entries.push_back({s, {pending[s]}});
    }
    return step(plan, true);
  }

  /// The last tokens again, as if drafted.
  Status verify() {
    const llmc_artifact &artifact = state.sides.artifact();
    bool hasVerify = false;
    for (uint32_t g = 0; g < artifact.n_graphs; ++g)
      hasVerify |= artifact.graphs[g].kind == LLMC_GRAPH_VERIFY;
    if (!hasVerify)
      return {};
    StepPlan plan{"verify of the last tokens", LLMC_STEP_VERIFY, LLMC_OUTPUTS_ALL, {}};
    for (size_t s = 0; s < tokens.size(); ++s) {
      size_t drafted = std::min(tokens[s].size(), kVerifyTokens), kept = tokens[s].size() - drafted;
      tool::CallError error;
      if (llmc_sequence_truncate(state.sequences[s], uint32_t(kept), error.raw()))
        return error.take();
      state.caches.truncate(s, int64_t(kept));
      if (state.drift)
        state.drift->truncate(s, int64_t(kept));
      plan.entries.push_back({s, {tokens[s].begin() + std::ptrdiff_t(kept), tokens[s].end()}});
    }
    return step(plan, false);
  }

  CompareState &state;
  int64_t newTokens;
  std::vector<std::vector<int32_t>> tokens; ///< of each sequence; the prompt's is the last
  std::vector<int32_t> pending;             ///< the next token of each
};

Status checkLength(const CompareRequest &request, size_t prompt, uint32_t most) {
  if (prompt + uint64_t(request.newTokens) <= most)
    return {};
  return errorAt("--new-tokens", "",
                 "found " + std::to_string(prompt) + " prompt tokens and " +
                     std::to_string(request.newTokens) + " new ones, expected at most " +
                     std::to_string(most) +
                     " in all; ask for fewer, or compile with a larger --max-seq");
}

Result<tool::SessionOwner> sessionFor(const Sides &sides, size_t length, uint32_t sequences,
                                      bool allOutputs) {
  llmc_session_options options = {};
  options.max_tokens = uint32_t(length * sequences);
  options.max_sequences = sequences;
  options.max_rows = uint32_t(std::min(length * sequences, kStepRows));
  options.max_outputs =
      allOutputs ? options.max_rows
                 : std::min<uint32_t>(options.max_rows, kVerifyTokens * sequences);
  options.page_chunks = 1; // so that a page table has something to say
  return tool::makeSession(sides.loaded, options);
}

} // namespace

Result<CompareReport> compareModels(const CompareRequest &request) {
  Result<Sides> sides = openSides(request);
  if (!sides)
    return sides.takeError();
  const llmc_limits &limits = sides->artifact().limits;
  Result<std::vector<int32_t>> prompt = tool::readPrompt(request.prompt, limits.vocabulary);
  if (!prompt)
    return prompt.takeError();
  if (Status fits = checkLength(request, prompt->size(), limits.max_positions); !fits)
    return fits.takeError();
  uint32_t sequences = std::min<uint32_t>(limits.max_sequences, 2);
  Result<tool::SessionOwner> session =
      sessionFor(*sides, prompt->size() + size_t(request.newTokens), sequences, request.endToEnd);
  if (!session)
    return session.takeError();
  CompareState state{*sides, session->get(), {}, {*sides->module, *sides->opened.weights},
                     {},     request.bound,  {}, {}};
  if (request.endToEnd)
    state.drift.emplace(state.interpreter);
  for (uint32_t s = 0; s < sequences; ++s) {
    tool::CallError error;
    llmc_sequence *sequence = nullptr;
    if (llmc_sequence_create(session->get(), &sequence, error.raw()))
      return error.take();
    state.sequences.push_back(sequence);
  }
  if (Status status = Comparison(state, std::move(*prompt), request.newTokens).run(); !status)
    return status.takeError();
  if (state.drift)
    state.report.divergence = state.drift->divergence;
  return std::move(state.report);
}

} // namespace llmc::compare
