// SPDX-License-Identifier: Apache-2.0
// Making samplers, and one pick: mask, chain, draw.
#include "runtime/engine/Sampler.h"
#include "runtime/engine/Error.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace llmc {
namespace {

// The greedy pick.
constexpr llmc_transform kGreedy = {LLMC_TEMPERATURE, 0, 0, 0};

uint32_t maskWords(uint32_t vocabulary) { return vocabulary / 32 + (vocabulary % 32 ? 1 : 0); }

bool allocate(llmc_sampler &sampler) {
  const Allocator &allocator = sampler.context.allocator;
  if (sampler.mask && !sampler.allowed.allocate(allocator, maskWords(sampler.vocabulary)))
    return false;
  return sampler.chain.isGreedy() ||
         sampler.candidates.allocate(allocator, sampler.vocabulary, sampler.chain.dropsCandidates(),
                                     sampler.chain.looksBack());
}

llmc_status checkInput(const llmc_sampler &sampler, const llmc_sample_input &input,
                       llmc_error *error) {
  if (input.struct_size < sizeof input || !input.logits || (input.n_tokens && !input.tokens) ||
      input.n_prompt > input.n_tokens)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "sample: error: found struct_size %u, %s logits, %u tokens %s, %u of them prompt, "
                "expected at least %zu, logits, tokens where there are any",
                input.struct_size, input.logits ? "some" : "no", input.n_tokens,
                input.tokens ? "at an address" : "at none", input.n_prompt, sizeof input);
  if (!sampler.chain.looksBack())
    return LLMC_OK;
  for (uint32_t i = 0; i < input.n_tokens; ++i)
    if (static_cast<uint32_t>(input.tokens[i]) >= sampler.vocabulary)
      return fail(error, LLMC_INVALID_ARGUMENT,
                  "sample: token %u: error: found id %d, expected 0 to %u", i, input.tokens[i],
                  sampler.vocabulary - 1);
  return LLMC_OK;
}

History historyOf(const llmc_sample_input &input, const llmc_transform &transform) {
  const uint32_t skipped = transform.flags & LLMC_NEW_TOKENS_ONLY ? input.n_prompt : 0;
  const uint32_t most = input.n_tokens - skipped;
  const uint32_t count = transform.count ? std::min(transform.count, most) : most;
  return {count ? input.tokens + (input.n_tokens - count) : nullptr, count};
}

void apply(const llmc_transform &transform, const llmc_sample_input &input,
           Candidates &candidates) {
  const double share = static_cast<double>(transform.value);
  switch (transform.kind) {
  case LLMC_REPETITION_PENALTY:
    return candidates.penaliseRepetition(historyOf(input, transform), transform.value);
  case LLMC_FREQUENCY_PENALTY:
    return candidates.penaliseFrequency(historyOf(input, transform), transform.value);
  case LLMC_PRESENCE_PENALTY:
    return candidates.penalisePresence(historyOf(input, transform), transform.value);
  case LLMC_TEMPERATURE:
    return transform.value == 0 ? candidates.keepLargest() : candidates.scale(transform.value);
  case LLMC_TOP_K:
    return candidates.keepTopK(transform.count, transform.flags & LLMC_KEEP_TIES);
  case LLMC_TOP_P:
    return candidates.keepTopP(share, transform.count);
  default:
    return candidates.keepMinP(share, transform.count);
  }
}

// The words that the chain starts from; NULL: all ids.
llmc_status askMask(llmc_sampler &sampler, const llmc_sample_input &input,
                    const uint32_t **allowed, llmc_error *error) {
  *allowed = input.allowed;
  if (!sampler.mask)
    return LLMC_OK;
  const size_t bytes = maskWords(sampler.vocabulary) * sizeof(uint32_t);
  if (input.allowed)
    memcpy(sampler.allowed.data(), input.allowed, bytes);
  else
    memset(sampler.allowed.data(), 0xff, bytes);
  if (llmc_status status = sampler.mask(sampler.user, &input, sampler.allowed.data()))
    return fail(error, status, "sample: error: the host's mask gave status %d, expected 0",
                static_cast<int>(status));
  *allowed = sampler.allowed.data();
  return LLMC_OK;
}

llmc_status failNone(const llmc_sampler &sampler, bool masked, llmc_error *error) {
  return fail(error, LLMC_INVALID_ARGUMENT,
              "sample: error: found no number among %u logits%s, expected at least one%s",
              sampler.vocabulary, masked ? " that the mask allows" : "",
              masked ? "" : "; the weights may be damaged, 'llmc inspect --verify' tells");
}

// As llmc_argmax, among the allowed ids; -1 where none has a number above -infinity.
int32_t largestAllowed(const float *logits, uint32_t vocabulary, const uint32_t *allowed) {
  int32_t best = -1;
  float most = -INFINITY;
  for (uint32_t id = 0; id < vocabulary; ++id)
    if (logits[id] > most && isAllowed(allowed, id)) {
      most = logits[id];
      best = static_cast<int32_t>(id);
    }
  return best;
}

llmc_status pickLargest(llmc_sampler &sampler, const float *logits, const uint32_t *allowed,
                        llmc_sample_result *result, llmc_error *error) {
  const int32_t token = largestAllowed(logits, sampler.vocabulary, allowed);
  if (token < 0)
    return failNone(sampler, allowed, error);
  sampler.greedyId = token;
  *result = {result->struct_size, token, 1, 0, &sampler.greedyId, &sampler.certainty};
  return LLMC_OK;
}

} // namespace
} // namespace llmc

using namespace llmc;

extern "C" llmc_status llmc_sampler_create(llmc_context *context, uint32_t vocabulary,
                                           const llmc_sampler_options *given,
                                           llmc_sampler **sampler, llmc_error *error) {
  if (sampler)
    *sampler = nullptr;
  const llmc_sampler_options greedy = {sizeof greedy, 1, &kGreedy, 0, nullptr, nullptr};
  const llmc_sampler_options &options = given ? *given : greedy;
  if (!context || !sampler || !vocabulary || vocabulary > INT32_MAX ||
      options.struct_size < sizeof options)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "sampler: error: found %s context, %s result, vocabulary %u, struct_size %u, "
                "expected both, 1 to %d, at least %zu",
                context ? "a" : "no", sampler ? "a" : "no", vocabulary, options.struct_size,
                INT32_MAX, sizeof options);
  Chain chain;
  if (llmc_status status = readChain(options.transforms, options.n_transforms, &chain, error))
    return status;
  llmc_sampler *made = context->allocator.create<llmc_sampler>(*context, vocabulary);
  if (made) {
    made->chain = chain;
    made->seed = options.seed;
    made->mask = options.mask;
    made->user = options.user;
  }
  if (!made || !allocate(*made)) {
    llmc_sampler_destroy(made);
    return fail(error, LLMC_OUT_OF_MEMORY, "sampler: error: no memory for %u candidates",
                vocabulary);
  }
  *sampler = made;
  return LLMC_OK;
}

extern "C" void llmc_sampler_destroy(llmc_sampler *sampler) {
  if (!sampler)
    return;
  llmc_context &context = sampler->context;
  context.allocator.destroy(sampler);
  context.release();
}

extern "C" llmc_status llmc_sample(llmc_sampler *sampler, const llmc_sample_input *input,
                                   llmc_sample_result *result, llmc_error *error) {
  if (!sampler || !input || !result || result->struct_size < sizeof *result)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "sample: error: found a missing sampler, input or result, or struct_size %u, "
                "expected all three and at least %zu",
                result ? result->struct_size : 0, sizeof *result);
  if (llmc_status status = checkInput(*sampler, *input, error))
    return status;
  const uint32_t *allowed = nullptr;
  if (llmc_status status = askMask(*sampler, *input, &allowed, error))
    return status;
  if (sampler->chain.isGreedy())
    return pickLargest(*sampler, input->logits, allowed, result, error);
  Candidates &candidates = sampler->candidates;
  candidates.load(input->logits, allowed);
  if (!candidates.size())
    return failNone(*sampler, allowed, error);
  for (uint32_t i = 0; i < sampler->chain.n; ++i)
    apply(sampler->chain.transforms[i], *input, candidates);
  candidates.normalise();
  const uint32_t picked =
      candidates.draw(llmc_uniform(sampler->seed, input->sequence, input->position));
  *result = {result->struct_size, candidates.ids()[picked], candidates.size(), 0,
             candidates.ids(),    candidates.values()};
  return LLMC_OK;
}
