// SPDX-License-Identifier: Apache-2.0
// A generator: the tokens of a text of which all but the last few are in the sequence already, a
// sampler, and a drafter. One step runs what is missing and the draft, then tokens are picked row
// by row for as long as the draft is right.
#include "llmc/generate.h"
#include "runtime/engine/Error.h"
#include "runtime/engine/NgramDrafter.h"
#include "runtime/engine/Sampler.h"
#include "runtime/engine/Session.h"
#include <algorithm>
#include <cstring>

using namespace llmc;

struct llmc_generator {
  llmc_generator(llmc_session &session, llmc_sequence &sequence)
      : session(session), sequence(sequence), context(session.model.context) {
    context.retain();
  }

  llmc_session &session;
  llmc_sequence &sequence;
  llmc_context &context;
  llmc_sampler *sampler = nullptr;
  uint64_t sequenceId = 0;
  Buffer<int32_t> stopIds;
  Buffer<int32_t> tokens; // room for a draft behind the longest text
  uint32_t capacity = 0;  // longest text
  uint32_t n_tokens = 0;
  uint32_t n_prompt = 0; // where the latest prompt ends
  uint32_t mostDrafts = 0;
  uint32_t draftLimit = 0; // of the next step: falls where drafts are wrong
  NgramDrafter drafter;
};

namespace llmc {
namespace {

llmc_status checkOptions(const llmc_session &session, const llmc_sequence &sequence,
                         const llmc_generator_options &options, llmc_error *error) {
  if (options.struct_size < sizeof options || options.ignore_stop_ids > 1 ||
      (options.n_stop_ids && !options.stop_ids))
    return fail(
        error, LLMC_INVALID_ARGUMENT,
        "generator options: error: found struct_size %u, ignore_stop_ids %u, %u stop ids %s, "
        "expected at least %zu, 0 or 1, ids where there are any",
        options.struct_size, options.ignore_stop_ids, options.n_stop_ids,
        options.stop_ids ? "at an address" : "at none", sizeof options);
  if (sequence.session != &session || !sequence.used || sequence.length)
    return fail(
        error, LLMC_INVALID_ARGUMENT,
        "generator: error: found no sequence of this session, or one of %u tokens, expected "
        "an empty one",
        sequence.session == &session ? sequence.length : 0);
  const SessionShape &shape = session.shape;
  if (options.draft_tokens > LLMC_MOST_DRAFT_TOKENS ||
      options.draft_tokens >= std::min(shape.maxRows, shape.maxOutputs))
    if (options.draft_tokens)
      return fail(
          error, LLMC_INVALID_ARGUMENT,
          "generator options: error: found draft_tokens %u with max_rows %u and max_outputs "
          "%u, expected at most %u and fewer than both; make the session with larger ones",
          options.draft_tokens, shape.maxRows, shape.maxOutputs, LLMC_MOST_DRAFT_TOKENS);
  return LLMC_OK;
}

bool allocate(llmc_generator &generator, const llmc_generator_options &options) {
  const Allocator &allocator = generator.context.allocator;
  const llmc_limits &limits = generator.session.model.artifact->limits;
  const int32_t *stopIds = options.stop_ids ? options.stop_ids : limits.eos;
  uint32_t n_stopIds = options.stop_ids ? options.n_stop_ids : limits.n_eos;
  if (options.ignore_stop_ids)
    n_stopIds = 0;
  // A last token that is picked but never run may follow what the sequence holds.
  generator.capacity = std::min(limits.max_positions, generator.session.shape.maxTokens) + 1;
  generator.mostDrafts = generator.draftLimit = options.draft_tokens;
  if (!generator.stopIds.allocate(allocator, n_stopIds) ||
      !generator.tokens.allocate(allocator, static_cast<size_t>(generator.capacity) +
                                                LLMC_MOST_DRAFT_TOKENS + 1) ||
      (options.draft_tokens && !generator.drafter.allocate(allocator, generator.capacity)))
    return false;
  if (n_stopIds)
    memcpy(generator.stopIds.data(), stopIds, n_stopIds * sizeof(int32_t));
  return true;
}

void append(llmc_generator &generator, int32_t token) {
  generator.tokens[generator.n_tokens] = token;
  if (generator.mostDrafts)
    generator.drafter.append(generator.tokens.data(), generator.n_tokens);
  ++generator.n_tokens;
}

void cut(llmc_generator &generator, uint32_t n_tokens) {
  while (generator.mostDrafts && generator.drafter.length() > n_tokens)
    generator.drafter.removeLast(generator.tokens.data());
  generator.n_tokens = n_tokens;
  generator.n_prompt = std::min(generator.n_prompt, n_tokens);
}

bool isStopId(const llmc_generator &generator, int32_t token) {
  const Buffer<int32_t> &ids = generator.stopIds;
  return std::find(ids.data(), ids.data() + ids.size(), token) != ids.data() + ids.size();
}

// Writes drafts behind the text; how many.
uint32_t draftAhead(llmc_generator &generator, uint32_t most) {
  const llmc_session &session = generator.session;
  const uint32_t length = generator.sequence.length;
  const uint32_t room = std::min(session.model.artifact->limits.max_positions - length,
                                 session.shape.maxTokens - session.heldTokens);
  uint32_t count = generator.draftLimit;
  count = std::min(count, room ? room - 1 : 0);
  count = std::min(count, most ? most - 1 : count);
  if (!count)
    return 0;
  int32_t *tokens = generator.tokens.data();
  return generator.drafter.draft(tokens, count, tokens + generator.n_tokens);
}

// A wrong draft costs a step some rows, so fewer are tried after one, and more after a right one.
void learn(llmc_generator &generator, uint32_t drafted, uint32_t accepted) {
  if (!drafted)
    return;
  if (accepted == drafted)
    generator.draftLimit = std::min(generator.mostDrafts, generator.draftLimit * 2);
  else
    generator.draftLimit = std::max(1u, std::min(generator.draftLimit, accepted * 2));
}

llmc_status pick(const llmc_generator &generator, const float *logits, uint32_t ahead,
                 int32_t *token, llmc_error *error) {
  const uint32_t n_tokens = generator.n_tokens + ahead;
  const llmc_sample_input input = {
      sizeof input,         n_tokens, logits, generator.tokens.data(), generator.n_prompt, 0,
      generator.sequenceId, n_tokens, nullptr};
  llmc_sample_result result = {};
  result.struct_size = sizeof result;
  const llmc_status status = llmc_sample(generator.sampler, &input, &result, error);
  *token = result.token;
  return status;
}

// The token that follows each row, for as long as the row before it was drafted rightly; how many
// are right, the token after the draft included. `picked` has room for drafted + 1.
llmc_status pickAll(const llmc_generator &generator, const llmc_step_result &step, uint32_t drafted,
                    int32_t *picked, uint32_t *n_picked, llmc_error *error) {
  const int32_t *drafts = generator.tokens.data() + generator.n_tokens;
  const bool isGreedy = generator.sampler->chain.isGreedy() && !generator.sampler->mask;
  if (drafted && isGreedy && step.accepted && step.accepted[1] >= 0) {
    const auto accepted = static_cast<uint32_t>(step.accepted[0]);
    memcpy(picked, drafts, accepted * sizeof(int32_t));
    picked[accepted] = step.accepted[1];
    *n_picked = accepted + 1;
    return LLMC_OK;
  }
  *n_picked = 0;
  do {
    const float *logits = step.logits + static_cast<size_t>(*n_picked) * step.vocabulary;
    if (llmc_status status = pick(generator, logits, *n_picked, picked + *n_picked, error))
      return status;
    ++*n_picked;
  } while (*n_picked <= drafted && picked[*n_picked - 1] == drafts[*n_picked - 1]);
  return LLMC_OK;
}

// Runs the tokens that the sequence does not have yet, with `drafted` more behind them.
llmc_status runMissing(llmc_generator &generator, uint32_t drafted, llmc_step_result *step,
                       llmc_error *error) {
  const uint32_t length = generator.sequence.length;
  const uint32_t missing = generator.n_tokens - length;
  const int32_t *tokens = generator.tokens.data() + length;
  if (missing > 1)
    return llmc_prefill(&generator.session, &generator.sequence, tokens, missing, step, error);
  const llmc_rows rows = {sizeof rows, 1 + drafted, &generator.sequence, tokens, LLMC_OUTPUTS_ALL,
                          0,           nullptr};
  return llmc_session_step(&generator.session, &rows, 1, nullptr, step, error);
}

} // namespace
} // namespace llmc

extern "C" llmc_status llmc_generator_create(llmc_session *session, llmc_sequence *sequence,
                                             const llmc_generator_options *given,
                                             llmc_generator **generator, llmc_error *error) {
  if (generator)
    *generator = nullptr;
  if (!session || !sequence || !generator)
    return fail(
        error, LLMC_INVALID_ARGUMENT,
        "generator: error: found a missing session, sequence or result, expected all three");
  const llmc_generator_options defaults = {sizeof defaults, 0, nullptr, 0, nullptr, 0, 0};
  const llmc_generator_options &options = given ? *given : defaults;
  if (llmc_status status = checkOptions(*session, *sequence, options, error))
    return status;
  llmc_context &context = session->model.context;
  llmc_sampler *sampler = nullptr;
  if (llmc_status status = llmc_sampler_create(&context, session->model.artifact->limits.vocabulary,
                                               options.sampler, &sampler, error))
    return status;
  llmc_generator *made = context.allocator.create<llmc_generator>(*session, *sequence);
  if (!made)
    llmc_sampler_destroy(sampler);
  else
    made->sampler = sampler;
  if (!made || !allocate(*made, options)) {
    llmc_generator_destroy(made);
    return fail(error, LLMC_OUT_OF_MEMORY, "generator: error: no memory for %u tokens",
                session->shape.maxTokens);
  }
  made->sequenceId = options.sequence_id;
  *generator = made;
  return LLMC_OK;
}

extern "C" void llmc_generator_destroy(llmc_generator *generator) {
  if (!generator)
    return;
  llmc_context &context = generator->context;
  llmc_sampler_destroy(generator->sampler);
  context.allocator.destroy(generator);
  context.release();
}

extern "C" llmc_status llmc_generator_prompt(llmc_generator *generator, const int32_t *tokens,
                                             uint32_t n_tokens, llmc_error *error) {
  if (!generator || (n_tokens && !tokens))
    return fail(error, LLMC_INVALID_ARGUMENT,
                "generator prompt: error: found a missing generator or tokens, expected both");
  const uint32_t most = generator->capacity - 1;
  if (n_tokens > most - std::min(most, generator->n_tokens))
    return fail(
        error, LLMC_SESSION_FULL,
        "generator prompt: error: found %u tokens after %u, expected at most %u in all; make "
        "the session with a larger max_tokens",
        n_tokens, generator->n_tokens, most);
  const uint32_t vocabulary = generator->session.model.artifact->limits.vocabulary;
  for (uint32_t i = 0; i < n_tokens; ++i)
    if (static_cast<uint32_t>(tokens[i]) >= vocabulary)
      return fail(error, LLMC_INVALID_ARGUMENT,
                  "generator prompt: token %u: error: found id %d, expected 0 to %u", i, tokens[i],
                  vocabulary - 1);
  for (uint32_t i = 0; i < n_tokens; ++i)
    append(*generator, tokens[i]);
  generator->n_prompt = generator->n_tokens;
  return LLMC_OK;
}

extern "C" llmc_status llmc_generator_next(llmc_generator *generator, uint32_t most,
                                           llmc_generated *generated, llmc_error *error) {
  if (!generator || !generated || generated->struct_size < sizeof *generated ||
      !generator->n_tokens)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "generator: error: found a missing generator or result, struct_size %u, or a text "
                "without a token, expected both, at least %zu, and a prompt",
                generated ? generated->struct_size : 0, sizeof *generated);
  llmc_generator &self = *generator;
  // After truncation the last token is run again, for its logits.
  if (self.sequence.length == self.n_tokens)
    if (llmc_status status = llmc_sequence_truncate(&self.sequence, self.n_tokens - 1, error))
      return status;
  const uint32_t length = self.sequence.length;
  const uint32_t drafted = self.n_tokens - length == 1 ? draftAhead(self, most) : 0;
  llmc_step_result step = {};
  step.struct_size = sizeof step;
  if (llmc_status status = runMissing(self, drafted, &step, error))
    return status;
  int32_t picked[LLMC_MOST_DRAFT_TOKENS + 1];
  uint32_t n_picked = 0;
  if (llmc_status status = pickAll(self, step, drafted, picked, &n_picked, error)) {
    llmc_sequence_truncate(&self.sequence, length, nullptr);
    return status;
  }
  learn(self, drafted, n_picked - 1);
  const uint32_t before = self.n_tokens;
  bool stopped = false;
  for (uint32_t i = 0; i < n_picked && !stopped; ++i) {
    append(self, picked[i]);
    stopped = isStopId(self, picked[i]);
  }
  const uint32_t added = self.n_tokens - before;
  *generated = {generated->struct_size,        added, self.tokens.data() + before, stopped, drafted,
                std::min(added, n_picked - 1), 0};
  return llmc_sequence_truncate(&self.sequence, self.n_tokens - 1, error);
}

extern "C" const int32_t *llmc_generator_tokens(const llmc_generator *generator,
                                                uint32_t *n_tokens) {
  if (n_tokens)
    *n_tokens = generator ? generator->n_tokens : 0;
  return generator ? generator->tokens.data() : nullptr;
}

extern "C" llmc_status llmc_generator_truncate(llmc_generator *generator, uint32_t n_tokens,
                                               llmc_error *error) {
  if (!generator || n_tokens > generator->n_tokens)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "generator truncate: error: found %u tokens, expected at most the text's %u",
                n_tokens, generator ? generator->n_tokens : 0);
  if (n_tokens < generator->sequence.length)
    if (llmc_status status = llmc_sequence_truncate(&generator->sequence, n_tokens, error))
      return status;
  cut(*generator, n_tokens);
  return LLMC_OK;
}
