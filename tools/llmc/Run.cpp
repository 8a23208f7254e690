// SPDX-License-Identifier: Apache-2.0
// `llmc run`: reads a prompt, appends tokens greedily, prints their ids. Everything that can be
// wrong with the request is found before the first step.
#include "tools/llmc/Clock.h"
#include "tools/llmc/Format.h"
#include "tools/llmc/JunkMemory.h"
#include "tools/llmc/LoadedModel.h"
#include "tools/llmc/Npy.h"
#include "tools/llmc/TokenIds.h"
#include <algorithm>

namespace llmc::tool {
namespace {

constexpr uint32_t kPrefillTokens = 256;
constexpr uint64_t kLogitsBytes = uint64_t(64) << 20; // held at a time for --logits-out

// The prompt, and what to call its source in errors.
struct Prompt {
  std::string where;
  std::vector<int64_t> ids;
};

Result<Prompt> readPrompt(const RunOptions &options) {
  Prompt prompt = {"--prompt-ids", {}};
  std::string text = options.promptIds;
  if (!options.promptIdsFile.empty()) {
    prompt.where = options.promptIdsFile;
    Result<std::string> read = readIdsFile(options.promptIdsFile);
    if (!read)
      return read.takeError();
    text = std::move(*read);
  }
  ParsedIds parsed = parseIds(text);
  if (!parsed.badPlace.empty())
    return errorAt(prompt.where, parsed.badPlace, parsed.badText);
  if (parsed.ids.empty())
    return errorAt(prompt.where, "", "found no ids, expected at least one, as in 1,2,3");
  prompt.ids = std::move(parsed.ids);
  return prompt;
}

// The tokens of a prompt that the model can take.
Result<std::vector<int32_t>> checkPrompt(const Prompt &prompt, uint32_t maxNewTokens,
                                         const llmc_model_info &info) {
  std::vector<int32_t> tokens;
  for (const int64_t id : prompt.ids) {
    if (id < 0 || id >= info.vocabulary)
      return errorAt(prompt.where, formatted("id %zu", tokens.size() + 1),
                     formatted("found %lld, expected 0 to %u (the model's vocabulary has %u ids)",
                               static_cast<long long>(id), info.vocabulary - 1, info.vocabulary));
    tokens.push_back(static_cast<int32_t>(id));
  }
  if (tokens.size() + uint64_t(maxNewTokens) > info.max_positions)
    return errorAt(prompt.where, "",
                   formatted("found %zu prompt tokens and %u new ones, expected at most %u in all; "
                             "lower --max-new-tokens or compile with a larger --max-seq",
                             tokens.size(), maxNewTokens, info.max_positions));
  return tokens;
}

llmc_session_options sessionFor(const RunOptions &options, size_t promptTokens,
                                const llmc_model_info &info) {
  llmc_session_options session = {};
  session.max_tokens = static_cast<uint32_t>(promptTokens + options.maxNewTokens);
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

// One sequence of one session, and the token that its last logits pick.
class Generator {
public:
  Generator(const LoadedModel &loaded, llmc_session *session) : loaded(loaded), session(session) {}

  Status start() {
    CallError error;
    if (llmc_sequence_create(session, &sequence, error.raw()))
      return error.take();
    return {};
  }

  // Appends tokens; `result` has the logits asked for.
  Status append(const int32_t *tokens, uint32_t count, llmc_outputs outputs) {
    const llmc_rows rows = {sizeof rows, count,  sequence, tokens, static_cast<uint32_t>(outputs),
                            0,           nullptr};
    CallError error;
    result = {};
    result.struct_size = sizeof result;
    if (llmc_session_step(session, &rows, 1, nullptr, &result, error.raw()))
      return error.take();
    return {};
  }

  // The greedy pick after the last token.
  Result<int32_t> pick() const { return pickToken(loaded, result, result.n_outputs - 1); }

  llmc_step_result result{};

private:
  const LoadedModel &loaded;
  llmc_session *session;
  llmc_sequence *sequence = nullptr;
};

Status prefill(Generator &generator, const std::vector<int32_t> &prompt, uint32_t chunk,
               NpyWriter *logits) {
  for (size_t done = 0; done < prompt.size();) {
    const size_t count = std::min<size_t>(chunk, prompt.size() - done);
    const bool isLast = done + count == prompt.size();
    const llmc_outputs outputs = logits   ? LLMC_OUTPUTS_ALL
                                 : isLast ? LLMC_OUTPUTS_LAST
                                          : LLMC_OUTPUTS_NONE;
    if (Status status = generator.append(&prompt[done], static_cast<uint32_t>(count), outputs);
        !status)
      return status;
    if (logits)
      if (Status status = logits->writeRows(generator.result.logits, count); !status)
        return status;
    done += count;
  }
  return logits ? logits->commit() : Status();
}

// New tokens until the limit, or until one that ends a text; that one is the last of them.
Result<std::vector<int32_t>> generate(Generator &generator, const RunOptions &options,
                                      const llmc_model_info &info) {
  std::vector<int32_t> tokens;
  while (tokens.size() < options.maxNewTokens) {
    Result<int32_t> token = generator.pick();
    if (!token)
      return token.takeError();
    tokens.push_back(*token);
    const bool ends = std::find(info.eos, info.eos + info.n_eos, *token) != info.eos + info.n_eos;
    if ((ends && !options.ignoreEos) || tokens.size() == options.maxNewTokens)
      break;
    if (Status status = generator.append(&tokens.back(), 1, LLMC_OUTPUTS_LAST); !status)
      return status.takeError();
  }
  return tokens;
}

void printTimes(size_t promptTokens, double promptSeconds, size_t newTokens, double newSeconds) {
  fprintf(stderr, "prompt: %zu tokens in %s, %.1f tok/s\n", promptTokens,
          timeInWords(promptSeconds).c_str(), static_cast<double>(promptTokens) / promptSeconds);
  // The first new token comes out of the prompt's logits.
  if (newTokens > 1)
    fprintf(stderr, "new: %zu tokens, %zu after the first in %s, %.1f tok/s\n", newTokens,
            newTokens - 1, timeInWords(newSeconds).c_str(),
            static_cast<double>(newTokens - 1) / newSeconds);
  else
    fprintf(stderr, "new: %zu tokens\n", newTokens);
}

} // namespace

Status runModel(const RunOptions &options) {
  JunkMemory junk(options.kvJunk.value_or(0));
  const llmc_allocator allocator = junk.allocator();
  Result<Prompt> given = readPrompt(options);
  if (!given)
    return given.takeError();
  Result<LoadedModel> loaded = loadModel(options.model, options.kvJunk ? &allocator : nullptr);
  if (!loaded)
    return loaded.takeError();
  const llmc_model_info &info = loaded->info;
  Result<std::vector<int32_t>> prompt = checkPrompt(*given, options.maxNewTokens, info);
  if (!prompt)
    return prompt.takeError();
  const llmc_session_options sizes = sessionFor(options, prompt->size(), info);
  Result<SessionOwner> session = makeSession(*loaded, sizes);
  if (!session)
    return session.takeError();
  NpyWriter logits(options.logitsOut, prompt->size(), info.vocabulary);
  const bool wantsLogits = !options.logitsOut.empty();
  if (wantsLogits)
    if (Status status = logits.open(); !status)
      return status;
  Generator generator(*loaded, session->get());
  if (Status status = generator.start(); !status)
    return status;

  const double begin = secondsNow();
  if (Status status = prefill(generator, *prompt, sizes.max_rows, wantsLogits ? &logits : nullptr);
      !status)
    return status;
  const double middle = secondsNow();
  Result<std::vector<int32_t>> tokens = generate(generator, options, info);
  if (!tokens)
    return tokens.takeError();
  printTimes(prompt->size(), middle - begin, tokens->size(), secondsNow() - middle);
  print(joinIds(*tokens) + "\n");
  return finishOutput();
}

} // namespace llmc::tool
