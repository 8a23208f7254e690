// SPDX-License-Identifier: Apache-2.0
// Chains: what each transform takes, and the two orders that people know.
#include "runtime/engine/Error.h"
#include "runtime/engine/Sampler.h"
#include <cfloat>

namespace llmc {
namespace {

constexpr float kLargestPenalty = 1e6f; // keeps any chain of penalties far from overflow

struct Kind {
  const char *name;
  float least, most;   // of `value`, both allowed
  bool leastIsAllowed; // else larger than `least`
  uint32_t flags;      // that it takes
  const char *range;   // in words
};

constexpr Kind kKinds[] = {
    {"", 0, 0, false, 0, ""},
    {"repetition penalty", 0, kLargestPenalty, false, LLMC_NEW_TOKENS_ONLY, "more than 0, at most 1e6"},
    {"frequency penalty", -kLargestPenalty, kLargestPenalty, true, LLMC_NEW_TOKENS_ONLY, "-1e6 to 1e6"},
    {"presence penalty", -kLargestPenalty, kLargestPenalty, true, LLMC_NEW_TOKENS_ONLY, "-1e6 to 1e6"},
    {"temperature", 0, FLT_MAX, true, 0, "0 or more"},
    {"top-k", -FLT_MAX, FLT_MAX, true, LLMC_KEEP_TIES, "a number"},
    {"top-p", 0, 1, false, 0, "more than 0, at most 1"},
    {"min-p", 0, 1, true, 0, "0 to 1"},
};
constexpr uint32_t kLastKind = LLMC_MIN_P;

bool isInside(const Kind &kind, float value) {
  return (kind.leastIsAllowed ? value >= kind.least : value > kind.least) && value <= kind.most;
}

llmc_status checkTransform(const llmc_transform &transform, uint32_t index, llmc_error *error) {
  if (!transform.kind || transform.kind > kLastKind)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "sampler: transform %u: error: found kind %u, expected 1 to %u", index,
                transform.kind, kLastKind);
  const Kind &kind = kKinds[transform.kind];
  if (transform.kind == LLMC_TOP_K && !transform.count)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "sampler: transform %u: error: found top-k with count 0, expected at least 1",
                index);
  if (!isInside(kind, transform.value))
    return fail(error, LLMC_INVALID_ARGUMENT,
                "sampler: transform %u: error: found %s %g, expected %s", index, kind.name,
                static_cast<double>(transform.value), kind.range);
  if (transform.flags & ~kind.flags)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "sampler: transform %u: error: found flags %#x for %s, expected at most %#x", index,
                transform.flags, kind.name, kind.flags);
  return LLMC_OK;
}

// Builds a chain out of what is on.
class Builder {
public:
  explicit Builder(llmc_transform *chain) : chain(chain) {}
  void add(bool isOn, uint32_t kind, uint32_t count, float value, uint32_t flags = 0) {
    if (isOn)
      chain[n++] = {kind, count, value, flags};
  }
  uint32_t size() const { return n; }

private:
  llmc_transform *chain;
  uint32_t n = 0;
};

bool isOn(float value) { return value != 0 && value != 1; }

} // namespace

bool Chain::isGreedy() const {
  return n == 1 && transforms[0].kind == LLMC_TEMPERATURE && transforms[0].value == 0;
}

bool Chain::dropsCandidates() const {
  for (uint32_t i = 0; i < n; ++i)
    if (transforms[i].kind >= LLMC_TOP_K)
      return true;
  return false;
}

bool Chain::looksBack() const {
  for (uint32_t i = 0; i < n; ++i)
    if (transforms[i].kind <= LLMC_PRESENCE_PENALTY)
      return true;
  return false;
}

llmc_status readChain(const llmc_transform *transforms, uint32_t n, Chain *chain,
                      llmc_error *error) {
  if (n > LLMC_MOST_TRANSFORMS || (n && !transforms))
    return fail(error, LLMC_INVALID_ARGUMENT,
                "sampler: error: found %u transforms%s, expected 0 to %u", n,
                transforms ? "" : " at no address", LLMC_MOST_TRANSFORMS);
  for (uint32_t i = 0; i < n; ++i) {
    if (llmc_status status = checkTransform(transforms[i], i, error))
      return status;
    chain->transforms[i] = transforms[i];
  }
  chain->n = n;
  return LLMC_OK;
}

} // namespace llmc

using namespace llmc;

extern "C" llmc_status llmc_sampler_chain(const llmc_sampler_preset *preset,
                                          llmc_transform transforms[LLMC_MOST_TRANSFORMS],
                                          uint32_t *n_transforms, llmc_error *error) {
  if (!preset || !transforms || !n_transforms || preset->struct_size < sizeof *preset ||
      preset->order > LLMC_ORDER_LLAMA_CPP)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "sampler preset: error: found a missing argument, struct_size %u or order %u, "
                "expected all three, at least %zu, and order 0 or 1",
                preset ? preset->struct_size : 0, preset ? preset->order : 0, sizeof *preset);
  const llmc_sampler_preset &p = *preset;
  const bool temperatureFirst = p.order == LLMC_ORDER_HUGGING_FACE;
  const bool greedy = p.temperature == 0;
  Builder chain(transforms);
  chain.add(isOn(p.repetition_penalty), LLMC_REPETITION_PENALTY, p.penalty_window,
            p.repetition_penalty);
  chain.add(p.frequency_penalty != 0, LLMC_FREQUENCY_PENALTY, p.penalty_window,
            p.frequency_penalty);
  chain.add(p.presence_penalty != 0, LLMC_PRESENCE_PENALTY, p.penalty_window, p.presence_penalty);
  // What keeps the largest logit changes nothing before the greedy pick.
  chain.add(!greedy && temperatureFirst && p.temperature != 1, LLMC_TEMPERATURE, 0, p.temperature);
  chain.add(!greedy && p.top_k, LLMC_TOP_K, p.top_k, 0, temperatureFirst ? LLMC_KEEP_TIES : 0);
  chain.add(!greedy && isOn(p.top_p), LLMC_TOP_P, 0, p.top_p);
  chain.add(!greedy && p.min_p != 0, LLMC_MIN_P, 0, p.min_p);
  chain.add(greedy || (!temperatureFirst && p.temperature != 1), LLMC_TEMPERATURE, 0,
            p.temperature);
  Chain checked;
  if (llmc_status status = readChain(transforms, chain.size(), &checked, error))
    return status;
  *n_transforms = chain.size();
  return LLMC_OK;
}
