// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/Sampling.h"

namespace llmc::tool {
namespace {

llmc_sampler_preset presetOf(const SamplingOptions &options) {
  llmc_sampler_preset preset = {};
  preset.struct_size = sizeof preset;
  preset.order = options.llamaCppOrder ? LLMC_ORDER_LLAMA_CPP : LLMC_ORDER_HUGGING_FACE;
  preset.temperature = options.temperature;
  preset.top_k = options.topK;
  preset.top_p = options.topP;
  preset.min_p = options.minP;
  preset.repetition_penalty = options.repetitionPenalty;
  preset.frequency_penalty = options.frequencyPenalty;
  preset.presence_penalty = options.presencePenalty;
  preset.penalty_window = options.penaltyWindow;
  return preset;
}

} // namespace

uint32_t outputsFor(const SamplingOptions &options) { return options.draftTokens + 1; }

Result<Writer> makeWriter(llmc_session *session, const SamplingOptions &options, bool ignoreEos) {
  CallError error;
  const llmc_sampler_preset preset = presetOf(options);
  llmc_transform chain[LLMC_MOST_TRANSFORMS];
  llmc_sampler_options sampler = {};
  sampler.struct_size = sizeof sampler;
  sampler.transforms = chain;
  sampler.seed = options.seed;
  if (llmc_sampler_chain(&preset, chain, &sampler.n_transforms, error.raw()))
    return error.take();
  llmc_generator_options given = {};
  given.struct_size = sizeof given;
  given.draft_tokens = options.draftTokens;
  given.sampler = &sampler;
  given.ignore_stop_ids = ignoreEos;
  Writer writer;
  writer.session = session;
  llmc_generator *generator = nullptr;
  if (llmc_sequence_create(session, &writer.sequence, error.raw()) ||
      llmc_generator_create(session, writer.sequence, &given, &generator, error.raw()))
    return error.take();
  writer.generator.reset(generator);
  return writer;
}

Status Writer::append(const std::vector<int32_t> &tokens) {
  CallError error;
  if (llmc_generator_prompt(generator.get(), tokens.data(), static_cast<uint32_t>(tokens.size()),
                            error.raw()))
    return error.take();
  return {};
}

Result<llmc_generated> Writer::next(uint32_t most, bool *cancelled) {
  CallError error;
  llmc_generated generated = {};
  generated.struct_size = sizeof generated;
  const llmc_status status = llmc_generator_next(generator.get(), most, &generated, error.raw());
  if (cancelled)
    *cancelled = status == LLMC_CANCELLED;
  if (status)
    return error.take();
  return generated;
}

Status Writer::truncate(uint32_t length) {
  CallError error;
  if (llmc_generator_truncate(generator.get(), length, error.raw()))
    return error.take();
  return {};
}

std::vector<int32_t> Writer::tokens() const {
  uint32_t n = 0;
  const int32_t *first = llmc_generator_tokens(generator.get(), &n);
  return {first, first + n};
}

} // namespace llmc::tool
