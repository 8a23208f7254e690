// SPDX-License-Identifier: Apache-2.0
// `llmc run`: reads a prompt, appends tokens, prints their text as it comes or their ids at the
// end. Everything that can be wrong with the request is found before the first step.
#include "tools/llmc/AnswerText.h"
#include "tools/llmc/Clock.h"
#include "tools/llmc/Conversation.h"
#include "tools/llmc/Format.h"
#include "tools/llmc/JunkMemory.h"
#include "tools/llmc/Npy.h"
#include "tools/llmc/RunPrompt.h"
#include "tools/llmc/RunTimes.h"
#include "tools/llmc/Sampling.h"
#include "tools/llmc/TokenIds.h"
#include <algorithm>

namespace llmc::tool {
namespace {

constexpr uint32_t kPrefillTokens = 256;
constexpr uint64_t kLogitsBytes = uint64_t(64) << 20; // held at a time for --logits-out

// What is run, once all of it has been checked.
struct Plan {
  std::vector<int32_t> prompt;
  uint32_t newTokens = 0;
  SamplingOptions sampling;
  llmc_session_options sizes = {};
};

llmc_session_options sessionFor(const RunOptions &options, const Plan &plan,
                                const llmc_model_info &info) {
  llmc_session_options session = {};
  session.max_tokens = static_cast<uint32_t>(plan.prompt.size() + plan.newTokens);
  session.max_rows = options.prefillChunk ? options.prefillChunk : kPrefillTokens;
  session.max_outputs = 1;
  if (!options.logitsOut.empty()) {
    const uint64_t most = kLogitsBytes / (uint64_t(info.vocabulary) * sizeof(float));
    if (!options.prefillChunk)
      session.max_rows = static_cast<uint32_t>(std::clamp<uint64_t>(most, 1, session.max_rows));
    session.max_outputs = session.max_rows;
  }
  session.max_rows = std::min(session.max_rows, session.max_tokens);
  session.max_outputs = std::min(session.max_outputs, session.max_rows);
  return session;
}

Result<Plan> makePlan(const GivenPrompt &given, const RunOptions &options,
                      const LoadedModel &loaded) {
  Plan plan;
  Result<std::vector<int32_t>> prompt = promptTokens(given, options, loaded);
  if (!prompt)
    return prompt.takeError();
  plan.prompt = std::move(*prompt);
  Result<uint32_t> newTokens = newTokensFor(given, plan.prompt.size(), options, loaded.info);
  if (!newTokens)
    return newTokens.takeError();
  plan.newTokens = *newTokens;
  plan.sizes = sessionFor(options, plan, loaded.info);
  // Fewer drafts give the same tokens.
  plan.sampling = options.sampling;
  plan.sampling.draftTokens = std::min(plan.sampling.draftTokens, plan.sizes.max_rows - 1);
  plan.sizes.max_outputs = std::max(plan.sizes.max_outputs, outputsFor(plan.sampling));
  return plan;
}

// The prompt alone, in steps of at most max_rows. Without `logits` none are computed.
Status runPrompt(const Writer &writer, const Plan &plan, NpyWriter *logits) {
  for (size_t done = 0; done < plan.prompt.size();) {
    const auto count =
        static_cast<uint32_t>(std::min<size_t>(plan.sizes.max_rows, plan.prompt.size() - done));
    const llmc_rows rows = {sizeof rows,
                            count,
                            writer.sequence,
                            &plan.prompt[done],
                            static_cast<uint32_t>(logits ? LLMC_OUTPUTS_ALL : LLMC_OUTPUTS_NONE),
                            0,
                            nullptr};
    CallError error;
    llmc_step_result result = {};
    result.struct_size = sizeof result;
    if (llmc_session_step(writer.session, &rows, 1, nullptr, &result, error.raw()))
      return error.take();
    if (logits)
      if (Status status = logits->writeRows(result.logits, count); !status)
        return status;
    done += count;
  }
  return logits ? logits->commit() : Status();
}

// Logits of the whole prompt, before anything is generated; the sequence is empty again afterwards.
Status writeLogits(const RunOptions &options, const Plan &plan, const llmc_model_info &info,
                   const Writer &writer) {
  NpyWriter logits(options.logitsOut, plan.prompt.size(), info.vocabulary);
  if (Status status = logits.open(); !status)
    return status;
  if (Status status = runPrompt(writer, plan, &logits); !status)
    return status;
  CallError error;
  if (llmc_sequence_truncate(writer.sequence, 0, error.raw()))
    return error.take();
  return {};
}

// New tokens until the limit, an id that ends a text (the last of them then), or a stop string.
// `text` may be NULL.
Result<std::vector<int32_t>> generate(Writer &writer, const Plan &plan, AnswerText *text,
                                      RunTimes &times) {
  if (Status status = writer.append(plan.prompt); !status)
    return status.takeError();
  std::vector<int32_t> tokens;
  for (bool ended = false; !ended && tokens.size() < plan.newTokens;) {
    const double begin = secondsNow();
    Result<llmc_generated> step =
        writer.next(plan.newTokens - static_cast<uint32_t>(tokens.size()));
    if (!step)
      return step.takeError();
    (tokens.empty() ? times.promptSeconds : times.newSeconds) += secondsNow() - begin;
    times.drafted += step->n_drafted;
    times.accepted += step->n_accepted;
    ended = step->stopped;
    for (uint32_t i = 0; i < step->n_tokens && !(text && text->isStopped()); ++i) {
      tokens.push_back(step->tokens[i]);
      if (text)
        if (Status status = text->add(step->tokens[i]); !status)
          return status.takeError();
    }
    ended = ended || (text && text->isStopped());
  }
  times.newTokens = tokens.size();
  times.firstTokens = tokens.empty() ? 0 : 1;
  return tokens;
}

Status runOnce(const GivenPrompt &given, const RunOptions &options, const LoadedModel &loaded) {
  Result<Plan> plan = makePlan(given, options, loaded);
  if (!plan)
    return plan.takeError();
  Result<SessionOwner> session = makeSession(loaded, plan->sizes);
  if (!session)
    return session.takeError();
  Result<Writer> writer = makeWriter(session->get(), plan->sampling, options.ignoreEos);
  if (!writer)
    return writer.takeError();
  AnswerText text;
  const bool needsText = options.givesText() || !options.stop.empty();
  if (needsText)
    if (Status status = text.start(loaded, options.stop, options.givesText()); !status)
      return status;
  RunTimes times;
  times.promptTokens = plan->prompt.size();
  const double begin = secondsNow();
  if (!options.logitsOut.empty())
    if (Status status = writeLogits(options, *plan, loaded.info, *writer); !status)
      return status;
  if (!plan->newTokens) {
    if (options.logitsOut.empty())
      if (Status status = runPrompt(*writer, *plan, nullptr); !status)
        return status;
    times.promptSeconds = secondsNow() - begin;
  }
  Result<std::vector<int32_t>> tokens =
      generate(*writer, *plan, needsText ? &text : nullptr, times);
  if (!tokens)
    return tokens.takeError();
  if (needsText)
    if (Status status = text.finish(); !status)
      return status;
  print(options.givesText() ? "\n" : joinIds(*tokens) + "\n");
  fflush(stdout); // before what goes to stderr
  printTimes(times);
  return finishOutput();
}

} // namespace

Status runModel(const RunOptions &options) {
  JunkMemory junk(options.kvJunk.value_or(0));
  const llmc_allocator allocator = junk.allocator();
  const bool converses = options.source == PromptSource::Conversation;
  Result<GivenPrompt> given = converses ? GivenPrompt() : readPrompt(options);
  if (!given)
    return given.takeError();
  Result<LoadedModel> loaded = loadModel(options.model, options.kvJunk ? &allocator : nullptr);
  if (!loaded)
    return loaded.takeError();
  return converses ? converse(options, *loaded) : runOnce(*given, options, *loaded);
}

} // namespace llmc::tool
